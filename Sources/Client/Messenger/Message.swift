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
