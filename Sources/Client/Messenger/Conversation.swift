public import Wire

/// Somebody to write to, or a room to write in: a row of the list. Also people to whom nothing was
/// written yet.
public struct Conversation: Equatable, Sendable {
  /// A user who is typing, until the relay says otherwise, or this time has come.
  public struct Typing: Equatable, Sendable {
    public var user: String
    /// Milliseconds since 1970.
    public var until: Int64
  }

  /// What was said last, for the list.
  public struct Preview: Equatable, Sendable {
    /// Its place; 0 while it waits.
    public var seq: Int64
    public var from: String
    /// One line; empty where it was deleted.
    public var text: String
    /// Milliseconds since 1970.
    public var at: Int64
    /// Of one's own; `nil` for those of others.
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
  /// As a person would call it: a name, or a room's title.
  public var title: String
  /// The other user of a direct room.
  public var peer: String?
  public var isBot = false
  public var presence: Presence?
  /// Milliseconds since 1970.
  public var lastSeen: Int64?

  /// The newest `seq` that is known of, and the newest that is here.
  public var head: Int64 = 0
  public var latest: Int64 = 0
  /// This user's own marks.
  public var read: Int64 = 0
  /// At most `unreadLimit`: what a relay says of many rooms can be added up.
  public var unread: Int64 = 0 {
    didSet { unread = min(max(0, unread), Self.unreadLimit) }
  }
  static let unreadLimit: Int64 = 1_000_000
  /// Entries up to here are counted in `unread`, or were read.
  var countedTo: Int64 = 0
  /// Entries up to here were there when we came: nobody is told of them.
  var knownTo: Int64 = 0
  /// When the user was last told of it, in milliseconds since 1970.
  var notifiedAt: Int64 = 0
  /// Whether it has been joined since the start.
  var wasJoined = false
  /// The relay would not have us there: it is not asked again unless the user goes there.
  var isJoinRefused = false
  /// Where it stands in the directory, behind what is newer; or among the listed rooms.
  var order = Int.max
  public var last: Preview?
  public var typing: [Typing] = []
  /// How far others have come, by user; empty in a large room.
  public var marks: [String: Marks] = [:]
  public var isMuted = false
  public var draft = ""
  /// Whether its entries come by themselves.
  public var isJoined = false
  /// Whether the user belongs to it, so that its entries are worth keeping.
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

  /// The log has lost what was behind this entry, or another one has taken its place.
  mutating func forget(after seq: Int64) {
    read = min(read, seq)
    countedTo = min(countedTo, seq)
    // What it has now was there when we came.
    wasJoined = false
    knownTo = 0
    unread = 0
    if let place = last?.seq, place > seq { last = nil }
  }

  /// Entries that the relay has and we have not.
  public var behind: Int64 { isJoined ? max(0, head - latest) : 0 }
}

/// How far something of one's own has come.
public enum SendState: Equatable, Sendable {
  /// Not acknowledged: dim, with `…`.
  case waiting
  /// Durable: `✓`.
  case sent
  /// All others have it: `✓✓`.
  case delivered
  /// All others have read it: `✓✓` in colour.
  case read
  /// Refused, and why; it can be retried or discarded.
  case failed(String)
}
