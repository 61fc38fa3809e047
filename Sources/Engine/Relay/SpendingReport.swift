import Synchronization

/// Collects the users that a node has to report to the others: those that have spent more than a little.
/// Users who rest cost nothing.
final class SpendingReport: Sendable {
  /// The minimum time between two reports.
  static let intervalMilliseconds: Int64 = 1000
  /// The maximum number of users in a report; the others are in later ones.
  static let usersLimit = 1024
  /// The interval at which the connections of users who have many are told again.
  private static let connectionsMilliseconds: Int64 = 10_000
  /// The part of a limit up to which what was spent remains untold.
  private static let untoldPart = 10

  private struct State {
    var listed: [UserBudget] = []
    /// Whose connections are told again.
    var connected: [UserBudget] = []
    var nextReport = Int64.min
    var nextConnections = Int64.min
  }

  private let limits: UserBudget.Limits
  private let state = Mutex(State())

  init(_ limits: UserBudget.Limits) { self.limits = limits }

  func isMuch(_ spending: Spending) -> Bool {
    func isMuch(_ count: Int, _ perSecond: Int) -> Bool {
      perSecond > 0 && count > perSecond / Self.untoldPart
    }
    return isMuch(spending.sends, limits.sendsPerSecond)
      || isMuch(spending.requests, limits.requestsPerSecond)
      || isMuch(spending.bytes, limits.bytesPerSecond)
  }

  func areMany(_ connections: Int) -> Bool {
    limits.connections > 0 && connections > limits.connections / Self.untoldPart
  }

  func list(_ budget: UserBudget) { state.withLock { $0.listed.append(budget) } }

  /// Returns what the others have to be told now: nothing more often than once per interval.
  func take(now: Int64) -> [Spending] {
    state.withLock { state in
      guard now >= state.nextReport else { return [] }
      state.nextReport = now + Self.intervalMilliseconds
      if now >= state.nextConnections {
        state.nextConnections = now + Self.connectionsMilliseconds
        for budget in state.connected where budget.tellAgain() { state.listed.append(budget) }
        state.connected = []
      }
      let budgets = state.listed.prefix(Self.usersLimit)
      state.listed = Array(state.listed.dropFirst(Self.usersLimit))
      return budgets.compactMap { budget in
        guard let (spending, isConnected) = budget.takeSpending() else { return nil }
        if isConnected { state.connected.append(budget) }
        return spending
      }
    }
  }
}
