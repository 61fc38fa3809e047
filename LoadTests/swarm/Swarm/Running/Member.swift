internal import Client
internal import Wire

/// A client of the plan, with its state apart from the session.
struct Member {
  let peer: Peer
  /// When it was to connect, or first tried to reconnect; `nil` after `welcome`, or after it has
  /// joined all of its rooms again.
  var awaitedSince: UInt64?
  var wasWelcome = false
  /// Rooms that are not joined yet on this connection.
  var roomsToJoin: Int
  /// Since when it has all its rooms; earlier messages count as catching up, not as deliveries.
  var onlineSince: UInt64?
  /// Since when it has all its rooms on the present connection.
  var connectedSince: UInt64?
  /// Whether it ever had all its rooms.
  var wasOnline = false
  let isSlow: Bool
}

/// A fresh client that reads rooms from their beginning, after the run.
struct Reader {
  let peer: Peer
  /// By room: the relay's last entry; `nil` before the relay has reported it.
  var heads: [Int: Int64?]
  var positions: [Int: Int64] = [:]

  /// The rooms that have been read to the end.
  var finished: [(room: Int, head: Int64)] {
    heads.compactMap { room, head in
      guard let head, positions[room, default: 0] >= head else { return nil }
      return (room, head)
    }
  }
}
