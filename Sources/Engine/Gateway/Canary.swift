import Synchronization

/// Checks that the relay works from end to end: a canary sends an entry to a reserved room, through
/// the log, and waits for it in the room. One loop runs it on demand for all, and the result is
/// kept for a while, so that frequent requests cost nothing. Shared by the loops.
package final class Canary: Sendable {
  package enum Outcome: Equatable, Sendable {
    case ready
    /// The reason, as a sentence.
    case failed(String)
  }

  /// The next step for a request.
  enum Advice {
    case take(Outcome)
    /// Run a canary, and wait with the others.
    case send
    case wait
  }

  static let room = "sys:canary"
  /// A valid name, as stores require. A client that claims this name still cannot join reserved
  /// rooms.
  static let user = "sys.canary"
  /// How long a result is kept.
  static let keptMilliseconds: Int64 = 5000
  /// How long a canary may take.
  static let timeoutMilliseconds: Int64 = 3000

  private struct State {
    var last: (outcome: Outcome, at: Int64)?
    var sentAt: Int64?
    var waiters: [ExchangeID] = []
  }
  private let state = Mutex(State())

  package init() {}

  /// - Parameter now: milliseconds of the monotonic clock.
  func ask(_ waiter: ExchangeID, now: Int64) -> Advice {
    state.withLock { state in
      if let last = state.last, now - last.at < Self.keptMilliseconds { return .take(last.outcome) }
      state.waiters.append(waiter)
      // The loop that runs the canary may itself be stuck.
      if let sentAt = state.sentAt, now - sentAt < Self.timeoutMilliseconds * 2 { return .wait }
      state.sentAt = now
      return .send
    }
  }

  /// - Returns: the requests to answer.
  func finish(_ outcome: Outcome, now: Int64) -> [ExchangeID] {
    state.withLock { state in
      state.last = (outcome, now)
      state.sentAt = nil
      defer { state.waiters = [] }
      return state.waiters
    }
  }
}
