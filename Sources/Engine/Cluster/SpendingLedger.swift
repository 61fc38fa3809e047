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

/// The budgets of users who may be connected to several nodes. Collects what a node has to report to the
/// others: the users who have spent more than a little. Users who rest cost nothing. Thread-safe.
package final class SpendingLedger: Sendable {
  /// The minimum time between two reports.
  package static let intervalMilliseconds: Int64 = 1000
  /// The maximum number of users in a report; the others are in later ones.
  static let usersLimit = 1024
  /// The interval at which the connections of users who have many are told again.
  private static let connectionsMilliseconds: Int64 = 10_000

  private struct State {
    var nextReport = Int64.min
    var nextConnections = Int64.min
    /// Whose connections are told again.
    var connected: [SharedAccount] = []
  }

  /// The budgets of this node.
  package let budgets: Budgets<String>
  private let listed: ListedAccounts
  private let state = Mutex(State())

  package init(_ limits: UserBudget.Limits) {
    let listed = ListedAccounts()
    self.listed = listed
    budgets = Budgets(limits) { SharedAccount(user: $0, limits, listed) }
  }

  /// Returns what the others have to be told now: nothing more often than once per interval.
  /// - Parameter now: milliseconds of the monotonic clock.
  package func take(now: Int64) -> [Spending] {
    state.withLock { state in
      guard now >= state.nextReport else { return [] }
      state.nextReport = now + Self.intervalMilliseconds
      if now >= state.nextConnections {
        state.nextConnections = now + Self.connectionsMilliseconds
        for account in state.connected { account.tellAgain() }
        state.connected = []
      }
      return listed.take(Self.usersLimit).map { account in
        let (spending, isConnected) = account.take()
        if isConnected { state.connected.append(account) }
        return spending
      }
    }
  }

  /// Charges for what users have spent on another node.
  package func apply(_ told: NodeSpending, now: Int64) {
    for spending in told.spending {
      let account = budgets.observer(of: spending.user, now: now) as? SharedAccount
      account?.apply(spending, of: told.node, now: now)
    }
  }
}

/// The accounts of which the next reports tell.
final class ListedAccounts: Sendable {
  private let accounts = Mutex<[SharedAccount]>([])

  func append(_ account: SharedAccount) { accounts.withLock { $0.append(account) } }

  /// Removes the first ones.
  func take(_ limit: Int) -> ArraySlice<SharedAccount> {
    accounts.withLock { accounts in
      let taken = accounts.prefix(limit)
      accounts = Array(accounts.dropFirst(limit))
      return taken
    }
  }
}
