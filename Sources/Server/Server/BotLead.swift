internal import PostgresLog
internal import Relay
internal import RelayConfiguration
internal import Synchronization

/// Whether this relay is the one that runs the bots, of several that share a log. Thread-safe.
final class BotLead: Sendable {
  private struct State {
    var leads = false
    var observer: (@Sendable (Bool) -> Void)?
  }
  private let state = Mutex(State())

  /// Records a change, and tells the observer.
  func set(_ leads: Bool) {
    let observer = state.withLock { state in
      state.leads = leads
      return state.observer
    }
    observer?(leads)
  }

  /// Sets the observer, and tells it if this relay leads already.
  func observe(_ observer: @escaping @Sendable (Bool) -> Void) {
    let leads = state.withLock { state in
      state.observer = observer
      return state.leads
    }
    if leads { observer(true) }
  }
}

extension PostgresLog.Options {
  init(_ configuration: Configuration) {
    self.init()
    name = configuration.listen
    retention = configuration.retained
    roomsPerUser = configuration.limits.roomsPerUser
    limits = configuration.limits.entry
    budget = configuration.shard.limits.budget
    requiresSync = configuration.log.durability == .fsync
    requiresReplication = configuration.log.require == .replicated
    if !configuration.log.readURL.isEmpty { readURL = configuration.log.readURL }
  }
}
