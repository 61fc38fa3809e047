internal import Client
internal import Wire

/// A client of the plan, and what a run knows of it besides its session.
struct Member {
  let peer: Peer
  /// When it was to connect, or first tried to come back; `nil` once it is welcome, or has all its
  /// rooms again.
  var awaitedSince: UInt64?
  var wasWelcome = false
  /// Rooms that are not joined since the connection began.
  var roomsToJoin: Int
  /// What was intended before is what it catches up on, not what it is delivered.
  var onlineSince: UInt64?
  /// Whether it ever had all its rooms.
  var wasOnline = false
  let isSlow: Bool
}

/// A fresh client that reads rooms from their beginning, after the run.
struct Reader {
  let peer: Peer
  /// By room: the last entry that the relay says there is; `nil` before it has said so.
  var heads: [Int: Int64?]
  var positions: [Int: Int64] = [:]

  /// The rooms whose end has been reached.
  var finished: [(room: Int, head: Int64)] {
    heads.compactMap { room, head in
      guard let head, positions[room, default: 0] >= head else { return nil }
      return (room, head)
    }
  }
}
