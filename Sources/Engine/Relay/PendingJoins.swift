import Wire

/// The rest of a `join` of several rooms. It waits while the answers so far fill the queue; until it is
/// done, its session reads nothing.
public struct PendingJoins {
  /// The number of rooms that count as one request.
  public static let roomsPerRequest = 16

  /// The next one last; an error stands for a room that cannot be joined.
  private var joins: [Result<ClientMessage.Join, WireError>]
  let ref: String?

  init(_ joins: [Result<ClientMessage.Join, WireError>], ref: String?) {
    self.joins = joins.reversed()
    self.ref = ref
  }

  var next: Result<ClientMessage.Join, WireError>? { joins.last }
  var isDone: Bool { joins.isEmpty }

  mutating func removeNext() { joins.removeLast() }
}
