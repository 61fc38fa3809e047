public import Wire

/// A request to read from storage, for one session or for the loop.
public enum ReadRequest: Sendable {
  /// The entries after `after` up to `through`, as `user` is shown them, as frames of at most `limitBytes` in total, but at
  /// least one. Answered by `.entries`.
  case entries(SessionID, room: String, user: String, after: Int64, through: Int64, limitBytes: Int)
  /// A page of history of at most `limitBytes`, but at least one entry. Answered by `.reply` with a
  /// `history`; or with an `error` if reading failed, or if the room does not exist and the user
  /// may not create it.
  case history(
    SessionID, ClientMessage.HistoryRequest, by: Asker, ref: String? = nil, mayCreate: Bool,
    limitBytes: Int)
  /// What each of these rooms is to the user, and its last entry with content at or before this `seq`.
  /// Answered by `.glimpses`.
  case glimpses(SessionID, [(room: String, seq: Int64)], by: Asker)
  /// The last reports about a room, for its moderators; `nil` = about all rooms, for an operator. Answered
  /// by `.reply`.
  case reports(SessionID, room: String?, by: Asker)
  /// The times at which these users were last online. Answered by `.lastSeen`.
  case lastSeen(SessionID, [String], for: SeenPurpose)
  /// The first `limit` users after `after`, in the store's order of names, whose `lastSeen` is known;
  /// `""` is before all. Answered by `.users`.
  case users(after: String, limit: Int)

  /// Answered by `.file`.
  case file(FileQuestion, FileAsker)

  /// The user who reads entries.
  public struct Asker: Sendable {
    public var user: String
    /// Whether the user is an operator of the relay.
    public var isOperator: Bool
    /// The service by which the user has signed in; `""` = none.
    public var issuer: String
    /// Milliseconds since 1970.
    public var now: Int64

    public init(user: String, isOperator: Bool = false, issuer: String = "", now: Int64) {
      self.user = user
      self.isOperator = isOperator
      self.issuer = issuer
      self.now = now
    }
  }

  /// The pending operation of the session that needs the times.
  public enum SeenPurpose: Sendable { case people, rooms, peer }

  /// `nil` for a request of the loop itself.
  public var session: SessionID? {
    switch self {
    case .entries(let session, _, _, _, _, _), .history(let session, _, _, _, _, _),
      .glimpses(let session, _, _), .reports(let session, _, _), .lastSeen(let session, _, _):
      session
    case .users, .file: nil
    }
  }
}
