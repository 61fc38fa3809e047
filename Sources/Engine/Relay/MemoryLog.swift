import Synchronization

/// A log that keeps everything in memory only: for tests, and for relays that need no durability.
/// Requests are answered before `submit` returns.
public final class MemoryLog: Log {
  private struct State {
    var sequencer: Sequencer
    var store: MemoryStore
    var loops: Int
    var framing: Framing
    var publish: @Sendable (Int, LogDelivery) -> Void
    var statistics = LogStatistics()
  }

  /// The name of the epoch of this run.
  public let epoch: String
  private let lineage: Lineage
  private let keepEntriesPerRoom: Int64
  private let roomsPerUser: Int
  private let limits: EntryLimits
  private let identityKey: EntryIdentity.Key
  private let clock: @Sendable () -> Int64
  private let microseconds: (@Sendable () -> Int64)?
  private let state = Mutex<State?>(nil)

  /// - Parameters:
  ///   - epoch: at least 64 random bits.
  ///   - keepEntriesPerRoom: 0 = all.
  ///   - roomsPerUser: 0 = no limit.
  ///   - identityKey: as in `MemoryStore`.
  ///   - clock: milliseconds since 1970.
  ///   - microseconds: of the monotonic clock; without it there are no traces.
  public init(
    epoch: String, keepEntriesPerRoom: Int64, roomsPerUser: Int = 0,
    limits: EntryLimits = EntryLimits(), identityKey: EntryIdentity.Key = .none,
    clock: @escaping @Sendable () -> Int64, microseconds: (@Sendable () -> Int64)? = nil
  ) {
    self.identityKey = identityKey
    self.epoch = epoch
    self.roomsPerUser = roomsPerUser
    self.lineage = Lineage([Lineage.Epoch(number: 1, name: epoch)])
    self.keepEntriesPerRoom = keepEntriesPerRoom
    self.limits = limits
    self.clock = clock
    self.microseconds = microseconds
  }

  /// Starts to process requests.
  public func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (Int, LogDelivery) -> Void
  ) {
    state.withLock {
      $0 = State(
        sequencer: Sequencer(
          lineage: lineage, keepEntriesPerRoom: keepEntriesPerRoom, roomsPerUser: roomsPerUser,
          limits: limits, loops: loops),
        store: MemoryStore(identityKey: identityKey), loops: loops, framing: framing,
        publish: publish)
    }
  }

  /// Commits and publishes one turn's requests under one lock, so that all loops receive commits in
  /// the same order.
  public func submit(_ requests: [LogRequest], from loop: Int) {
    state.withLock {
      guard var state = $0.take() else { return }
      let began = microseconds?()
      let outcome = state.sequencer.process(
        [(loop, requests)], store: &state.store, now: clock(), framing: state.framing)
      state.statistics.count(outcome)
      for index in 0..<state.loops where outcome.commit != nil || index == loop {
        state.publish(
          index,
          LogDelivery(
            commit: outcome.commit, answers: outcome.answers[index],
            completesSubmit: index == loop))
      }
      if let began {
        state.sequencer.record(
          CommitStages(batched: began, committed: began, synced: began), of: outcome)
      }
      for (loop, answer) in state.sequencer.takeTraces(&state.store) {
        state.publish(
          loop, LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
      }
      $0 = state
    }
  }

  /// Reads at once.
  public func read(_ request: ReadRequest, from loop: Int) {
    state.withLock {
      guard var state = $0.take() else { return }
      let answer = request.answer(from: &state.store, lineage, state.framing)
      state.publish(
        loop, LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
      $0 = state
    }
  }

  public func statistics() -> LogStatistics {
    state.withLock { $0?.statistics } ?? LogStatistics()
  }

  /// Discards everything; later submissions are not answered.
  public func stop() {
    state.withLock { $0 = nil }
  }
}
