/// A text that was not sent yet. A conversation has more than one only if its draft was changed in
/// two instances of wschat at the same time.
public struct Draft: Equatable, Sendable {
  /// What distinguishes it from earlier texts of the same draft, and from other drafts.
  public struct Version: Hashable, Sendable {
    /// Stays the same while a draft is changed.
    public var branch: Int64
    /// Grows with each change of any draft.
    public var number: Int64

    public init(branch: Int64, number: Int64) {
      self.branch = branch
      self.number = number
    }
  }

  public var version: Version
  public var text: String

  public init(version: Version, text: String) {
    self.version = version
    self.text = text
  }
}

/// The part of a conversation's state that is this machine's own, and that another instance of
/// wschat may change.
public struct SharedState: Equatable, Sendable {
  public var room: String
  public var read: Int64
  public var notifications: Conversation.Notifications
  public var isPinned: Bool
  public var isMarkedUnread: Bool

  public init(
    room: String, read: Int64, notifications: Conversation.Notifications, isPinned: Bool,
    isMarkedUnread: Bool
  ) {
    self.room = room
    self.read = read
    self.notifications = notifications
    self.isPinned = isPinned
    self.isMarkedUnread = isMarkedUnread
  }
}
