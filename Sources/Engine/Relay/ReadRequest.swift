public import Wire

/// A request to read from storage, for one session or for the loop.
public enum ReadRequest: Sendable {
  /// The entries after `after` up to `through`, as frames of at most `limitBytes` in total, but at
  /// least one. Answered by `.entries`.
  case entries(SessionID, room: String, after: Int64, through: Int64, limitBytes: Int)
  /// A page of history of at most `limitBytes`, but at least one entry. Answered by `.reply` with a
  /// `history`; or with an `error` if reading failed, or if the room does not exist and the user
  /// may not create it.
  case history(
    SessionID, ClientMessage.HistoryRequest, ref: String? = nil, mayCreate: Bool, limitBytes: Int)
  /// The last entry with content of each of these rooms at or before this `seq`, in its current
  /// state, as `message` JSON. Answered by `.lastEntries`.
  case lastEntries(SessionID, [(room: String, seq: Int64)])
  /// The times at which these users were last online. Answered by `.lastSeen`.
  case lastSeen(SessionID, [String], for: SeenPurpose)
  /// The first `limit` users after `after`, in the store's order of names, whose `lastSeen` is known;
  /// `""` is before all. Answered by `.users`.
  case users(after: String, limit: Int)

  /// The pending operation of the session that needs the times.
  public enum SeenPurpose: Sendable { case people, rooms, peer }

  /// `nil` for a request of the loop itself.
  public var session: SessionID? {
    switch self {
    case .entries(let session, _, _, _, _), .history(let session, _, _, _, _),
      .lastEntries(let session, _),
      .lastSeen(let session, _, _):
      session
    case .users: nil
    }
  }
}
