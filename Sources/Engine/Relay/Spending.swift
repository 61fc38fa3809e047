/// What a user has spent on one node since that node last told it, and the connections there: for the
/// budgets on the other nodes.
public struct Spending: Equatable, Sendable {
  public var user: String
  public var sends = 0
  public var requests = 0
  /// Bytes of input, after decompression.
  public var bytes = 0
  /// How many connections the user has on the node now; 0 if they are few.
  public var connections = 0

  public init(user: String) { self.user = user }
}

/// What a node has told.
public struct NodeSpending: Equatable, Sendable {
  public var node: Int64
  public var spending: [Spending]
}
