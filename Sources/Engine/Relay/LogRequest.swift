public import Wire

/// What a loop asks of the log, in the order of arrival.
public enum LogRequest: Sendable {
  case append(Append)
  case subscribe(Subscribe)
  /// A subscription has ended; one for each `enter` that was answered with `subscribed`.
  case unsubscribe(room: String, user: String)
  /// A user has received or read up to a `seq`; cut to the head, and never going back.
  case mark(room: String, Marks)
  /// A user no longer wants to belong to the room.
  case forget(room: String, user: String)
  /// A user types, or stopped: passed on to every loop, kept nowhere.
  case typing(room: String, user: String, on: Bool)
  /// How a user stands to the sessions of this loop is another: `offline` = there are none.
  case presence(user: String, from: Presence, to: Presence)
  /// A slice of the rooms that a user belongs to, at most `limit` of them. `listed` ones that the user
  /// does not belong to are told beside them. Answered under the same ticket.
  case memberships(
    ticket: UInt32, user: String, listed: [String], after: MembershipsCursor, limit: Int)

  /// An entry that wants to be one.
  public struct Append: Sendable {
    public var session: SessionID
    public var room: String
    public var user: String
    public var id: String
    public var kind: EntryKind
    public var body: [UInt8]
    /// As in `ClientMessage.Send`: the log looks whether it may be so.
    public var reference: ClientMessage.Reference?
    /// Whether this send may bring the room into existence.
    public var mayCreate: Bool

    public init(
      session: SessionID, room: String, user: String, id: String, kind: EntryKind, body: [UInt8],
      reference: ClientMessage.Reference? = nil, mayCreate: Bool
    ) {
      self.session = session
      self.room = room
      self.user = user
      self.id = id
      self.kind = kind
      self.body = body
      self.reference = reference
      self.mayCreate = mayCreate
    }
  }

  /// A join: the user belongs to the room from now on, and is subscribed until `exit`.
  public struct Subscribe: Sendable {
    public var session: SessionID
    public var room: String
    public var user: String
    /// The client's position, as in `ClientMessage.Join`.
    public var after: Int64?
    public var epoch: String?
    public var mayCreate: Bool

    public init(
      session: SessionID, room: String, user: String, after: Int64?, epoch: String?,
      mayCreate: Bool
    ) {
      self.session = session
      self.room = room
      self.user = user
      self.after = after
      self.epoch = epoch
      self.mayCreate = mayCreate
    }
  }
}
