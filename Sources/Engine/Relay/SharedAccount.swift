/// The part of a user's budget that concerns the other nodes of a shared log: what they have to be
/// told, and what they have told. Guarded by the lock of its `UserBudget`.
///
/// Each node tells the others, once a second, what its users have spent there. The others charge for
/// it as their own buckets refill: while the user owes something there, a node where others have told
/// of `n - 1` nodes credits one part in `n` of the limit, and the rest pays. So a user gets the limit
/// once over all nodes in the long run, and a script on one node does not silence a phone on another.
/// After a rest, each node allows its own burst before it hears of the others.
final class SharedAccount {
  private struct Other {
    var node: Int64
    /// Milliseconds of the monotonic clock.
    var toldAt: Int64
    var connections: Int
  }

  /// How long a node counts as one where the user spends, after it has told so.
  static let sharingMilliseconds: Int64 = 3000
  /// How long the connections on a node count, unless it tells them again.
  static let connectionsMilliseconds: Int64 = 30_000
  /// The most that can be owed, as the time in which the limit allows it.
  private static let owedSeconds = 60
  /// The maximum number of nodes that are told apart.
  private static let nodesLimit = 64

  /// The tokens that are owed.
  struct Debt {
    var sends = 0.0
    var requests = 0.0
    var bytes = 0.0
    var isNone: Bool { sends == 0 && requests == 0 && bytes == 0 }
  }

  let report: SpendingReport
  private var untold: Spending
  private var toldConnections = 0
  private var isListed = false
  /// Whether the report tells the connections again later.
  private var isConnected = false
  private(set) var debt = Debt()
  private var others: [Other] = []

  init(user: String, report: SpendingReport) {
    self.report = report
    untold = Spending(user: user)
  }

  // MARK: - To tell

  /// Records what the user has spent here.
  /// - Returns: whether the budget has to be listed in the report.
  func record(sends: Int, requests: Int, bytes: Int) -> Bool {
    untold.sends += sends
    untold.requests += requests
    untold.bytes += bytes
    guard report.isMuch(untold) else { return false }
    return list()
  }

  /// Takes back a send that is charged as something else.
  func refundSend() { untold.sends = max(0, untold.sends - 1) }

  /// Records the number of connections here.
  /// - Returns: whether the budget has to be listed in the report.
  func record(connections: Int) -> Bool {
    let connections = report.areMany(connections) ? connections : 0
    guard connections != toldConnections else { return false }
    return list()
  }

  private func list() -> Bool {
    defer { isListed = true }
    return !isListed
  }

  /// Returns what the others have to be told, which counts as told then, and whether the report has to
  /// tell the connections again later.
  func take(connections: Int) -> (Spending, isConnected: Bool) {
    toldConnections = report.areMany(connections) ? connections : 0
    untold.connections = toldConnections
    defer {
      untold = Spending(user: untold.user)
      isListed = false
      isConnected = isConnected || toldConnections > 0
    }
    return (untold, toldConnections > 0 && !isConnected)
  }

  /// Requests another report of the connections.
  /// - Returns: whether the budget has to be listed in the report.
  func tellAgain() -> Bool {
    isConnected = false
    return list()
  }

  // MARK: - Told by others

  func apply(_ spending: Spending, of node: Int64, limits: UserBudget.Limits, now: Int64) {
    others.removeAll { $0.node == node || isOver($0, now) }
    if others.count < Self.nodesLimit {
      others.append(Other(node: node, toldAt: now, connections: max(0, spending.connections)))
    }
    func owe(_ count: Int, _ debt: inout Double, _ perSecond: Int) {
      if perSecond > 0 {
        debt = min(debt + Double(max(0, count)), Double(perSecond * Self.owedSeconds))
      }
    }
    owe(spending.sends, &debt.sends, limits.sendsPerSecond)
    owe(spending.requests, &debt.requests, limits.requestsPerSecond)
    owe(spending.bytes, &debt.bytes, limits.bytesPerSecond)
  }

  private func isOver(_ other: Other, _ now: Int64) -> Bool {
    now - other.toldAt > Self.connectionsMilliseconds
  }

  /// The number of connections on other nodes, as far as they are many.
  func connectionsElsewhere(_ now: Int64) -> Int {
    others.lazy.filter { !self.isOver($0, now) }.reduce(0) { $0 + $1.connections }
  }

  /// Whether nothing is owed or told, so that the account need not be kept.
  func isFull(_ now: Int64) -> Bool {
    debt.isNone && !isListed && !isConnected && connectionsElsewhere(now) == 0
  }

  /// The number of nodes where the user spends, including this one; at least 2.
  func nodes(_ now: Int64) -> Int {
    max(2, 1 + others.count { now - $0.toldAt < Self.sharingMilliseconds })
  }

  /// Refills the buckets, and pays for what was spent elsewhere.
  func refill(
    _ sends: inout TokenBucket, _ requests: inout TokenBucket, _ bytes: inout TokenBucket,
    _ milliseconds: Int64, at terms: UserBudget.Terms, _ now: Int64
  ) {
    let nodes = nodes(now)
    sends.refill(milliseconds, at: terms.sends, paying: &debt.sends, nodes: nodes)
    requests.refill(milliseconds, at: terms.requests, paying: &debt.requests, nodes: nodes)
    bytes.refill(milliseconds, at: terms.bytes, paying: &debt.bytes, nodes: nodes)
  }
}
