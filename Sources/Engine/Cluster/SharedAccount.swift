import Relay
import Synchronization

/// What concerns the other nodes of a user's budget: what they have to be told, and what they have
/// told.
///
/// Each node tells the others, once a second, what its users have spent there. The others charge for
/// it as their own buckets refill: while the user owes something there, a node where others have told
/// of `n - 1` nodes credits one part in `n` of the limit, and the rest pays, as does what would
/// overflow. So a user gets the limit once over all nodes in the long run, and a script on one node
/// does not silence a phone on another. After a rest, each node allows its own burst before it hears
/// of the others.
final class SharedAccount: BudgetObserver {
  private struct Other {
    var node: Int64
    /// Milliseconds of the monotonic clock.
    var toldAt: Int64
    var connections: Int

    func isOver(_ now: Int64) -> Bool { now - toldAt > SharedAccount.connectionsMilliseconds }
  }

  /// How long a node counts as one where the user spends, after it has told so.
  private static let sharingMilliseconds: Int64 = 3000
  /// How long the connections on a node count, unless it tells them again.
  private static let connectionsMilliseconds: Int64 = 30_000
  /// The part of a limit up to which what was spent remains untold.
  private static let untoldPart = 10
  /// The most that can be owed, as the time in which the limit allows it.
  private static let owedSeconds = 60
  /// The maximum number of nodes that are told apart.
  private static let nodesLimit = 64

  /// The tokens that are owed.
  private struct Debt {
    var sends = 0.0
    var requests = 0.0
    var bytes = 0.0
    var isNone: Bool { sends == 0 && requests == 0 && bytes == 0 }
  }

  private struct State {
    var untold: Spending
    var connections = 0
    /// As the others were told; 0 if they are few.
    var toldConnections = 0
    var isListed = false
    /// Whether the connections are told again later.
    var isConnected = false
    var debt = Debt()
    var others: [Other] = []

    /// The number of nodes where the user spends, including this one; at least 2.
    func nodes(_ now: Int64) -> Int {
      max(2, 1 + others.count { now - $0.toldAt < SharedAccount.sharingMilliseconds })
    }

    /// The number of connections on other nodes, as far as they are many.
    func connectionsElsewhere(_ now: Int64) -> Int {
      others.lazy.filter { !$0.isOver(now) }.reduce(0) { $0 + $1.connections }
    }
  }

  private let limits: UserBudget.Limits
  private let ledger: SpendingLedger
  private let state: Mutex<State>

  /// - Parameter ledger: where the account is listed when there is something to tell.
  init(user: String, _ limits: UserBudget.Limits, _ ledger: SpendingLedger) {
    self.limits = limits
    self.ledger = ledger
    state = Mutex(State(untold: Spending(user: user)))
  }

  // MARK: - To tell

  /// Makes a change.
  /// - Parameter body: returns whether the others have to be told.
  private func change(_ body: (inout State) -> Bool) {
    let isNew = state.withLock { state in
      guard body(&state), !state.isListed else { return false }
      state.isListed = true
      return true
    }
    if isNew { ledger.list(self) }
  }

  func record(sends: Int, requests: Int, bytes: Int) {
    change { state in
      state.untold.sends = max(0, state.untold.sends + sends)
      state.untold.requests += requests
      state.untold.bytes += bytes
      func isMuch(_ count: Int, _ perSecond: Int) -> Bool {
        perSecond > 0 && count > perSecond / Self.untoldPart
      }
      return isMuch(state.untold.sends, limits.sendsPerSecond)
        || isMuch(state.untold.requests, limits.requestsPerSecond)
        || isMuch(state.untold.bytes, limits.bytesPerSecond)
    }
  }

  func record(connections: Int) {
    change { state in
      state.connections = connections
      return toTell(connections) != state.toldConnections
    }
  }

  /// A few connections count as none.
  private func toTell(_ connections: Int) -> Int {
    limits.connections > 0 && connections > limits.connections / Self.untoldPart ? connections : 0
  }

  /// Returns what the others have to be told, which counts as told then, and whether `tellAgain` is to
  /// be called later.
  func take() -> (Spending, isConnected: Bool) {
    state.withLock { state in
      var spending = state.untold
      state.untold = Spending(user: spending.user)
      state.isListed = false
      spending.connections = toTell(state.connections)
      state.toldConnections = spending.connections
      let isConnected = spending.connections > 0 && !state.isConnected
      if isConnected { state.isConnected = true }
      return (spending, isConnected)
    }
  }

  /// Tells the connections once more.
  func tellAgain() {
    change { state in
      state.isConnected = false
      return true
    }
  }

  // MARK: - Told by others

  func apply(_ spending: Spending, of node: Int64, now: Int64) {
    state.withLock { state in
      state.others.removeAll { $0.node == node || $0.isOver(now) }
      if state.others.count < Self.nodesLimit {
        state.others.append(
          Other(node: node, toldAt: now, connections: max(0, spending.connections)))
      }
      func owe(_ count: Int, _ debt: inout Double, _ perSecond: Int) {
        if perSecond > 0 {
          debt = min(debt + Double(max(0, count)), Double(perSecond * Self.owedSeconds))
        }
      }
      owe(spending.sends, &state.debt.sends, limits.sendsPerSecond)
      owe(spending.requests, &state.debt.requests, limits.requestsPerSecond)
      owe(spending.bytes, &state.debt.bytes, limits.bytesPerSecond)
    }
  }

  func connectionsElsewhere(_ now: Int64) -> Int {
    state.withLock { $0.connectionsElsewhere(now) }
  }

  func isFull(_ now: Int64) -> Bool {
    state.withLock { state in
      state.debt.isNone && !state.isListed && !state.isConnected
        && state.connectionsElsewhere(now) == 0
    }
  }

  /// Pays for what was spent elsewhere.
  func willRefill(
    _ buckets: inout UserBudget.Buckets, _ milliseconds: Int64, at terms: UserBudget.Terms,
    _ now: Int64
  ) {
    state.withLock { state in
      if state.debt.isNone { return }
      let nodes = state.nodes(now)
      func pay(_ debt: inout Double, _ bucket: inout TokenBucket, _ rate: TokenBucket.Rate) {
        debt -= bucket.pay(
          debt, from: milliseconds, part: Double(nodes - 1) / Double(nodes), at: rate)
        assert(debt >= 0, "no more is paid than is owed")
      }
      pay(&state.debt.sends, &buckets.sends, terms.sends)
      pay(&state.debt.requests, &buckets.requests, terms.requests)
      pay(&state.debt.bytes, &buckets.bytes, terms.bytes)
    }
  }

  func prolong(_ milliseconds: Int64, for bucket: UserBudget.Bucket, _ now: Int64) -> Int64 {
    state.withLock { state in
      let owed =
        switch bucket {
        case .sends: state.debt.sends
        case .requests: state.debt.requests
        case .bytes: state.debt.bytes
        }
      return owed > 0 ? milliseconds * Int64(state.nodes(now)) : milliseconds
    }
  }
}
