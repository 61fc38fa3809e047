public import Wire

/// What is read from storage on behalf of one session.
public enum ReadRequest: Sendable {
  /// Entries after `after` up to `through`, as frames of at most `limitBytes` in all, but at least
  /// one. Answered by `.entries`.
  case entries(SessionID, room: String, after: Int64, through: Int64, limitBytes: Int)
  /// Answered by `.reply` with a `history` of at most `limitBytes`, but at least one entry; or
  /// with an `error` where reading failed or, if the room may not be created by asking, where
  /// there is no such room.
  case history(
    SessionID, ClientMessage.HistoryRequest, mayCreate: Bool, limitBytes: Int)
  /// The last entry of each of these rooms that says something, at this `seq` or before it, in its
  /// current state, as `message` JSON. Answered by `.lastEntries`.
  case lastEntries(SessionID, [(room: String, seq: Int64)])
  /// When these users were last there. Answered by `.lastSeen`.
  case lastSeen(SessionID, [String], for: SeenPurpose)

  /// What of a session waits for it.
  public enum SeenPurpose: Sendable { case people, rooms, peer }

  public var session: SessionID {
    switch self {
    case .entries(let session, _, _, _, _), .history(let session, _, _, _),
      .lastEntries(let session, _),
      .lastSeen(let session, _, _):
      session
    }
  }
}
