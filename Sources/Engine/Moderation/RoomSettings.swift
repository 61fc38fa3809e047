/// The settings of a room, as the `settings` entries up to some entry of its log have them.
public struct RoomSettings: Equatable, Sendable {
  public enum Access: String, Sendable {
    /// For everyone who is not banned.
    case open
    /// For members; for all others the room does not exist.
    case `private`
  }

  public enum History: String, Sendable {
    case all
    /// Members read what was sent since they were let in.
    case joined
  }

  public enum Posting: String, Sendable {
    case everyone
    /// Members may read, edit and delete their own, and react.
    case moderators
  }

  public var title: String?
  public var topic: String?
  public var access = Access.open
  public var history = History.all
  public var posting = Posting.everyone
  /// Between two texts of a member, in seconds.
  public var slowSeconds: Int64 = 0

  public init() {}

  /// What a `settings` entry changes; `nil` = it stays.
  public struct Change: Equatable, Sendable {
    public var title: String?
    public var topic: String?
    public var access: Access?
    public var history: History?
    public var posting: Posting?
    public var slowSeconds: Int64?

    public init() {}
  }

  mutating func apply(_ change: Change) {
    title = change.title ?? title
    topic = change.topic ?? topic
    access = change.access ?? access
    history = change.history ?? history
    posting = change.posting ?? posting
    slowSeconds = change.slowSeconds ?? slowSeconds
  }
}
