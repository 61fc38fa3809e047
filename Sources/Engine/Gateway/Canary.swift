import Synchronization

/// Whether entries go the whole way: one is sent to a reserved room, through the log, and awaited in
/// the room. Done when somebody asks, by one loop for all, and the answer holds for a while: so that
/// asking often costs nothing. Shared by the loops.
package final class Canary: Sendable {
  package enum Outcome: Equatable, Sendable {
    case ready
    /// A sentence.
    case failed(String)
  }

  /// A request that waits, by its place and serial number on its loop.
  package struct Waiter: Sendable {
    var loop: Int
    var connection: Int
    var exchange: UInt64
  }

  /// What somebody who asks is to do.
  enum Advice {
    case take(Outcome)
    /// Send one, and wait with the others.
    case send
    case wait
  }

  static let room = "sys:canary"
  /// A valid name, which a store must hold; who claims it belongs to no reserved room all the same.
  static let user = "sys.canary"
  /// How long an answer holds.
  static let keptMilliseconds: Int64 = 5000
  /// How long an entry may take.
  static let timeoutMilliseconds: Int64 = 3000

  private struct State {
    var last: (outcome: Outcome, at: Int64)?
    var sentAt: Int64?
    var waiters: [Waiter] = []
  }
  private let state = Mutex(State())

  package init() {}

  /// - Parameter now: milliseconds of the monotonic clock.
  func ask(_ waiter: Waiter, now: Int64) -> Advice {
    state.withLock { state in
      if let last = state.last, now - last.at < Self.keptMilliseconds { return .take(last.outcome) }
      state.waiters.append(waiter)
      // The loop that has sent one may itself be what does not go on.
      if let sentAt = state.sentAt, now - sentAt < Self.timeoutMilliseconds * 2 { return .wait }
      state.sentAt = now
      return .send
    }
  }

  /// - Returns: who is to be told.
  func finish(_ outcome: Outcome, now: Int64) -> [Waiter] {
    state.withLock { state in
      state.last = (outcome, now)
      state.sentAt = nil
      defer { state.waiters = [] }
      return state.waiters
    }
  }
}
