package import Relay
internal import Synchronization

/// What a user has spent on one node since that node last told it, and the connections there: for the
/// budgets on the other nodes.
package struct Spending: Equatable, Sendable {
  package var user: String
  package var sends = 0
  package var requests = 0
  /// Bytes of input, after decompression.
  package var bytes = 0
  /// How many connections the user has on the node now; 0 if they are few.
  package var connections = 0

  package init(user: String) { self.user = user }
}

/// What a node has told.
package struct NodeSpending: Equatable, Sendable {
  package var node: Int64
  package var spending: [Spending]

  package init(node: Int64, spending: [Spending]) {
    self.node = node
    self.spending = spending
  }
}

/// What users spend on several nodes: collects what a node has to report to the others, of the users who
/// have spent more than a little, and charges what they report. Users who rest cost nothing.
/// Thread-safe.
package final class SpendingLedger: Sendable {
  /// The minimum time between two reports.
  package static let intervalMilliseconds: Int64 = 1000
  /// The maximum number of users in a report; the others are in later ones.
  static let usersLimit = 1024
  /// The interval at which the connections of users who have many are told again.
  private static let connectionsMilliseconds: Int64 = 10_000

  private struct State {
    var listed: [SharedAccount] = []
    /// Whose connections are told again.
    var connected: [SharedAccount] = []
    var nextReport = Int64.min
    var nextConnections = Int64.min
  }

  private let state = Mutex(State())

  package init() {}

  /// Returns budgets that observe what is spent on this node.
  package func budgets(_ limits: UserBudget.Limits) -> Budgets<String> {
    Budgets(limits) { SharedAccount(user: $0, limits, self) }
  }

  func list(_ account: SharedAccount) { state.withLock { $0.listed.append(account) } }

  /// Returns what the others have to be told now: nothing more often than once per interval.
  /// - Parameter now: milliseconds of the monotonic clock.
  package func take(now: Int64) -> [Spending] {
    // An account is called without the lock: it may list itself.
    let connected: [SharedAccount]? = state.withLock { state in
      guard now >= state.nextReport else { return nil }
      state.nextReport = now + Self.intervalMilliseconds
      guard now >= state.nextConnections else { return [] }
      state.nextConnections = now + Self.connectionsMilliseconds
      defer { state.connected = [] }
      return state.connected
    }
    guard let connected else { return [] }
    for account in connected { account.tellAgain() }
    let listed = state.withLock { state in
      defer { state.listed.removeFirst(min(Self.usersLimit, state.listed.count)) }
      return Array(state.listed.prefix(Self.usersLimit))
    }
    return listed.map { account in
      let (spending, isConnected) = account.take()
      if isConnected { state.withLock { $0.connected.append(account) } }
      return spending
    }
  }

  /// Charges for what users have spent on another node.
  package func apply(_ told: NodeSpending, to budgets: Budgets<String>, now: Int64) {
    for spending in told.spending {
      let account = budgets.observer(of: spending.user, now: now) as? SharedAccount
      account?.apply(spending, of: told.node, now: now)
    }
  }
}
