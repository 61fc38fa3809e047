public import Wire

/// An answer to a request of one session.
public enum LogAnswer: Sendable {
  case ack(SessionID, ServerMessage.Ack)
  /// An append that was not stored, or an `enter` that failed; `re`, `room` and `id` are set.
  case refused(SessionID, WireError)
  case subscribed(SessionID, Subscribed)
  /// What a `LogRequest.memberships` asked for; `next` is where the next slice begins, `nil` at the end.
  /// Where `isComplete` is false, reading failed.
  case memberships(
    ticket: UInt32, user: String, [Membership], next: MembershipsCursor?, isComplete: Bool)
  case entries(SessionID, EntriesPage)
  /// A message ready to be sent: what a `ReadRequest.history` asked for.
  case reply(SessionID, json: [UInt8])
  /// The last entries that a `ReadRequest.lastEntries` asked for, in its order, folded; `nil` where a room
  /// has none that says something of its own. Fewer where these are more than a reply holds.
  case lastEntries(SessionID, [[UInt8]?])
  /// What a `ReadRequest.lastSeen` asked for.
  case lastSeen(SessionID, Seen)

  /// A room as it is at this point of the order of commits.
  public struct Subscribed: Sendable {
    /// Ready to be sent.
    public var joined: ServerMessage.Joined
    public var user: String

    public init(joined: ServerMessage.Joined, user: String) {
      self.joined = joined
      self.user = user
    }
  }

  /// When users were last there.
  public struct Seen: Sendable {
    public var purpose: ReadRequest.SeenPurpose
    public var users: [String]
    /// In milliseconds since 1970, of those of whom it is known.
    public var at: [String: Int64]

    public init(purpose: ReadRequest.SeenPurpose, users: [String], at: [String: Int64]) {
      self.purpose = purpose
      self.users = users
      self.at = at
    }
  }

  /// A room that a user belongs to, or may want to know of.
  public struct Membership: Sendable, Equatable {
    public var room: String
    public var belongs: Bool
    public var head: Int64
    public var read: Int64
    /// Entries of others after the read mark that say something. A send moves the sender's own mark,
    /// so that behind the mark none of the user's own can be.
    public var unread: Int64
    /// The oldest `seq` that is kept.
    public var first: Int64
    /// When the last entry was made, in milliseconds since 1970; 0 where there is none.
    public var lastAt: Int64

    public init(
      room: String, belongs: Bool, head: Int64, read: Int64, unread: Int64, first: Int64 = 1,
      lastAt: Int64 = 0
    ) {
      self.room = room
      self.belongs = belongs
      self.head = head
      self.read = read
      self.unread = unread
      self.first = first
      self.lastAt = lastAt
    }
  }
}
