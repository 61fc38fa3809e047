/// One message as it is shown: a text of the log with what became of it, or one that is on its way
/// there.
public struct Message: Equatable, Sendable {
  /// What tells messages apart: the sender's id, and who that is. It stays when a message that was
  /// waiting gets its place in the log.
  public struct Key: Hashable, Sendable {
    public var from: String
    public var id: String

    public init(from: String, id: String) {
      self.from = from
      self.id = id
    }
  }

  /// Another message that this one answers.
  public struct Quote: Equatable, Sendable {
    public var seq: Int64
    /// Who wrote it, and what; `nil` where it is not loaded.
    public var from: String?
    public var text: String?

    public init(seq: Int64, from: String? = nil, text: String? = nil) {
      self.seq = seq
      self.from = from
      self.text = text
    }
  }

  public struct Reaction: Equatable, Sendable {
    public var emoji: String
    public var users: [String]
    /// How many there are besides: the relay names the first of very many.
    public var more: Int

    public var count: Int { users.count + more }

    public init(emoji: String, users: [String], more: Int = 0) {
      self.emoji = emoji
      self.users = users
      self.more = more
    }
  }

  public var key: Key
  /// Its place; `nil` while it waits.
  public var seq: Int64?
  /// Milliseconds since 1970: the relay's clock, or ours while it waits.
  public var at: Int64
  /// As it was sent, not sanitised; may have several lines.
  public var text: String
  public var isOwn: Bool
  public var isDeleted = false
  public var isEdited = false
  public var quote: Quote?
  /// Who had sent it first, where it was forwarded.
  public var forwardedFrom: String?
  public var reactions: [Reaction] = []
  /// Of one's own; `nil` for those of others.
  public var state: SendState?

  public init(key: Key, seq: Int64?, at: Int64, text: String, isOwn: Bool) {
    self.key = key
    self.seq = seq
    self.at = at
    self.text = text
    self.isOwn = isOwn
  }

  public var from: String { key.from }
}

/// The part of the open conversation that is loaded, in order, what waits at the end.
public struct Timeline: Equatable, Sendable {
  /// Which line of which message stands at the lower edge.
  public enum Scroll: Equatable, Sendable {
    /// The newest, also when more comes.
    case newest
    /// This line of this message, wherever others come and go: from 0, where what depends on the
    /// message before it (a date, a name) stands above, at negative ones.
    case at(Message.Key, line: Int)
  }

  public var room: String
  public var messages: [Message] = []
  public var scroll = Scroll.newest
  /// Where the message of `scroll` was last.
  var hint = Hint()
  /// The message that actions are about.
  public var selected: Message.Key?
  /// The line "new" stands above the first message after this `seq`; `nil` for no line.
  public var unreadAfter: Int64?
  /// So many have come below since it was scrolled up.
  public var newBelow = 0
  /// Whether older ones are being asked for.
  public var isLoading = false
  /// Whether there is nothing before the first.
  public var isComplete = false
  /// Newer ones have come that are not loaded: it was scrolled up for too long.
  var isDetached = false
  /// How far the user had read when the connection came.
  var readBefore: Int64 = 0
  /// Nothing was loaded yet.
  var isFresh = true
  /// The messages found by a search, and which of them is looked at.
  public var found: Set<Message.Key> = []

  public init(room: String) { self.room = room }

  /// Spares a search, and says nothing about the timeline.
  struct Hint: Equatable, Sendable {
    var index = 0

    static func == (_: Hint, _: Hint) -> Bool { true }
  }
}
