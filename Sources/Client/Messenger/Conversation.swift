public import Archive
public import Client
public import Wire

/// A user or a room to write to: a row of the list. Includes users without
/// messages yet.
public struct Conversation: Equatable, Sendable {
  /// A user who is typing, until the relay says otherwise or this time has come.
  public struct Typing: Equatable, Sendable {
    public var user: String
    /// Milliseconds since 1970.
    public var until: Int64
  }

  /// The last message, for the list.
  public struct Preview: Equatable, Sendable {
    /// Its `seq`; 0 while it waits.
    public var seq: Int64
    public var from: String
    /// One line; empty if it was deleted.
    public var text: String
    /// Milliseconds since 1970.
    public var at: Int64
    /// The state of the user's own message; `nil` for those of others.
    public var state: SendState?

    public init(seq: Int64, from: String, text: String, at: Int64, state: SendState? = nil) {
      self.seq = seq
      self.from = from
      self.text = text
      self.at = at
      self.state = state
    }
  }

  public var room: String
  /// The display name: a user's name or a room's title.
  public var title: String
  /// The other user of a direct room.
  public var peer: String?
  public var isBot = false
  /// Whether the directory has a picture of the other user.
  public var hasPicture = false
  public var presence: Presence?
  /// Milliseconds since 1970.
  public var lastSeen: Int64?

  /// The highest known `seq`, and the highest that was received.
  public var head: Int64 = 0
  public var latest: Int64 = 0
  /// This user's own read mark.
  public var read: Int64 = 0
  /// At most `unreadLimit`, so that the counts of many rooms can be added up.
  public var unread: Int64 = 0 {
    didSet { unread = min(max(0, unread), Self.unreadLimit) }
  }
  static let unreadLimit: Int64 = 1_000_000
  /// Entries up to here are counted in `unread` or were read.
  var countedTo: Int64 = 0
  /// Entries up to here existed at the first join: they cause no notification.
  var knownTo: Int64 = 0
  /// The time of the last notification, in milliseconds since 1970.
  var notifiedAt: Int64 = 0
  /// Whether it has been joined since the start.
  var wasJoined = false
  /// The relay has refused a join: it is repeated only when the user opens the room.
  var isJoinRefused = false
  /// Its position in the directory, which ranks it after conversations with messages.
  var order = Int.max
  /// Whether the relay offers the room to every user.
  var isOffered = false
  /// Whether a user who is not known has begun it, until the user accepts or answers it.
  public var isRequest = false
  public var last: Preview?
  public var typing: [Typing] = []
  /// The marks of other users; empty in a large room.
  public var marks: [String: Marks] = [:]
  /// The settings and members of a room.
  public var membership = Membership()
  public var notifications = Notifications.all
  /// The places of messages that mention the user, read ones as well until the next arrives.
  public var mentions: [Int64] = []
  /// Whether it stays at the top of the list.
  public var isPinned = false
  /// Whether the user wants to come back to it; until it is opened again.
  public var isMarkedUnread = false
  /// What is written in the composer, or was when another conversation was opened.
  public var draft = ""
  /// The stored version of the draft; `nil` if none is stored.
  public var draftVersion: Archive.Draft.Version?
  /// Drafts that were written at the same time by other instances of wschat.
  public var otherDrafts: [Archive.Draft] = []
  /// The highest number of a draft's version that is known here.
  var draftSeen: Int64 = 0
  /// Whether the relay sends its entries.
  public var isJoined = false
  /// Whether the user is a member, so that its entries are worth keeping.
  public var isMember = false

  public struct Marks: Equatable, Sendable {
    public var received: Int64
    public var read: Int64

    public init(received: Int64, read: Int64) {
      self.received = received
      self.read = read
    }
  }

  public init(room: String, title: String, peer: String? = nil) {
    self.room = room
    self.title = title
    self.peer = peer
  }

  /// Handles the loss of the log's entries after `seq`, or their replacement by others.
  mutating func forget(after seq: Int64) {
    read = min(read, seq)
    countedTo = min(countedTo, seq)
    // The entries that replace them are treated as existing before the join.
    wasJoined = false
    knownTo = 0
    unread = 0
    mentions.removeAll { $0 > seq }
    if let place = last?.seq, place > seq { last = nil }
  }

  /// The number of entries that the relay has and the client does not.
  public var behind: Int64 { isJoined ? max(0, head - latest) : 0 }
}

/// The state of one of the user's own messages.
public enum SendState: Equatable, Sendable {
  /// Not acknowledged: dim, with `…`.
  case waiting
  /// Durable: `✓`.
  case sent
  /// Received by all others: `✓✓`.
  case delivered
  /// Read by all others: `✓✓` in colour.
  case read
  /// Refused, with the reason; it can be retried or discarded.
  case failed(String)
}
