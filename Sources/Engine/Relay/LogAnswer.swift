public import Wire

/// An answer to a request of one session.
public enum LogAnswer: Sendable {
  case ack(SessionID, ServerMessage.Ack)
  /// The answer to an `Origin`.
  case answer(LogRequest.Origin, ServerMessage)
  /// A refused append, or a failed `subscribe`; `re`, `room` and `id` are set.
  case refused(SessionID, WireError)
  case subscribed(SessionID, Subscribed)
  /// Answers `LogRequest.memberships`; `next` is where the next slice begins, `nil` at the end. If
  /// `isComplete` is false, reading failed.
  case memberships(
    ticket: UInt32, user: String, [Membership], next: MembershipsCursor?, isComplete: Bool)
  case entries(SessionID, EntriesPage)
  /// Answers `ReadRequest.history`, with a message that is ready to be sent.
  case reply(SessionID, json: [UInt8])
  /// Answers `ReadRequest.reports`.
  case read(SessionID, ServerMessage)
  /// Answers `ReadRequest.glimpses` in its order. There are fewer if not all fit into a reply.
  case glimpses(SessionID, [Glimpse])
  /// Answers `LogRequest.trace`.
  case traced(LogRequest.Ticket, TraceResult)
  /// Answers `LogRequest.file` and `ReadRequest.file`.
  case file(FileAsker, FileAnswer)
  /// Answers `ReadRequest.lastSeen`.
  case lastSeen(SessionID, Seen)
  /// Answers `ReadRequest.users`.
  case users(Users)

  /// What a list shows of a room.
  public struct Glimpse: Equatable, Sendable {
    /// The last entry, folded, as `message` JSON; `nil` for a room that has no content.
    public var last: [UInt8]?
    /// `nil` for a room without settings and members of its own.
    public var about: ServerMessage.RoomDescription?
    /// Whether the room does not exist for the user; `nil` if that could not be read.
    public var isHidden: Bool? = false
    /// Whether it is a direct room that the user has not accepted yet.
    public var isRequest = false
    /// Whether it would be one if the two users had not signed in by the same service.
    public var isAccepted = false

    public init() {}
  }

  /// The state of a room at this position in the order of commits.
  public struct Subscribed: Sendable {
    /// The message to send.
    public var joined: ServerMessage.Joined
    public var user: String
    /// The oldest `seq` of the room that is kept: `joined.first` is the oldest that this user may read.
    public var firstKept: Int64

    public init(joined: ServerMessage.Joined, user: String, firstKept: Int64) {
      self.joined = joined
      self.user = user
      self.firstKept = firstKept
    }
  }

  /// The times at which users were last online.
  public struct Seen: Sendable {
    public var purpose: ReadRequest.SeenPurpose
    public var users: [String]
    /// In milliseconds since 1970; users whose time is unknown are missing.
    public var at: [String: Int64]

    public init(purpose: ReadRequest.SeenPurpose, users: [String], at: [String: Int64]) {
      self.purpose = purpose
      self.users = users
      self.at = at
    }
  }

  /// A page of the users that the store knows.
  public enum Users: Sendable, Equatable {
    /// There are more if it is as long as the request allows.
    case page([String])
    case failed
  }

  /// A room that a user belongs to, or one that is listed for all users.
  public struct Membership: Sendable, Equatable {
    public var room: String
    public var belongs: Bool
    public var head: Int64
    public var read: Int64
    /// The entries with content, of other users, after the read mark.
    public var unread: Unread
    /// The oldest `seq` that is kept.
    public var first: Int64
    /// The time of the last entry, in milliseconds since 1970; 0 if there is none.
    public var lastAt: Int64

    public init(
      room: String, belongs: Bool, head: Int64, read: Int64, unread: Unread, first: Int64 = 1,
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
