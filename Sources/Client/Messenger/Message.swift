public import Wire

/// A displayed message: a content entry of the log with its changes applied, or one that is not
/// acknowledged yet.
public struct Message: Equatable, Sendable {
  /// The identity of a message: the sender and the sender's id for it. It does not change when a
  /// waiting message is given its `seq`.
  public struct Key: Hashable, Sendable {
    public var from: String
    public var id: String

    public init(from: String, id: String) {
      self.from = from
      self.id = id
    }
  }

  /// The message to which this one replies.
  public struct Quote: Equatable, Sendable {
    public var seq: Int64
    /// The sender and the text; `nil` if the message is not loaded.
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
    /// The number of further users: the relay names only the first ones.
    public var more: Int

    public var count: Int { users.count + more }

    public init(emoji: String, users: [String], more: Int = 0) {
      self.emoji = emoji
      self.users = users
      self.more = more
    }
  }

  /// A run of hidden entries; the first is `seq`.
  public struct Hidden: Equatable, Sendable {
    public var count = 1
    public var last: Int64
  }

  public var key: Key
  /// Its `seq`; `nil` while it waits.
  public var seq: Int64?
  /// Milliseconds since 1970: the relay's clock, or the local one while it waits.
  public var at: Int64
  /// The original text, not sanitised; may have several lines.
  public var text: String
  public var isOwn: Bool
  /// The file, whose name and size are the first line of the text then; `nil` for other messages.
  public var file: FileContent?
  public var isDeleted = false
  /// Who has deleted it, unless that is its sender.
  public var deletedBy: String?
  /// Whether it is a quiet line about the room, and not a message.
  public var isNotice = false
  /// The entries of blocked users for which it stands, if it does: it is a notice then.
  public var hidden: Hidden?
  public var isEdited = false
  public var quote: Quote?
  /// The original sender, if it was forwarded.
  public var forwardedFrom: String?
  public var reactions: [Reaction] = []
  /// The state of the user's own message; `nil` for those of others.
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
