public import Wire

extension Archive {
  /// The state in which the last run left a conversation.
  public struct Room: Equatable, Sendable {
    public var room: String
    /// The display name.
    public var title: String
    /// The other user of a direct room.
    public var peer: String?
    public var isBot = false
    public var isMember = false
    /// The epoch of the entries; `nil` if the room was never begun.
    public internal(set) var epoch: String?
    /// The oldest entry that is kept here; `head` + 1 if there is none.
    public internal(set) var first: Int64 = 1
    /// The newest entry that is kept here; 0 if there is none.
    public internal(set) var latest: Int64 = 0
    /// The highest known `seq`.
    public var head: Int64 = 0
    /// This user's own read mark.
    public var read: Int64 = 0
    public var unread: Int64 = 0
    /// The level of notifications: 0 for all messages, 1 for none, as earlier versions stored it, 2
    /// for mentions.
    public var notifications: Int64 = 0
    public var isPinned = false
    public var isMarkedUnread = false
    /// The marks of other users.
    public var marks: [Marks] = []
    /// The newest content entry, in its current state.
    public internal(set) var last: Entry?

    public init(room: String, title: String, peer: String? = nil) {
      self.room = room
      self.title = title
      self.peer = peer
    }
  }

  /// The marks of another user in a room.
  public struct Marks: Equatable, Sendable {
    public var user: String
    public var received: Int64
    public var read: Int64

    public init(user: String, received: Int64, read: Int64) {
      self.user = user
      self.received = received
      self.read = read
    }

    /// The form in which the file stores it; a valid user name contains no space.
    var line: String { "\(user) \(received) \(read)" }

    init?(line: some StringProtocol) {
      let words = line.split(separator: " ")
      guard words.count == 3, let received = Int64(words[1]), let read = Int64(words[2]) else {
        return nil
      }
      self.init(user: String(words[0]), received: received, read: read)
    }
  }

  /// A message to be sent, until the relay acknowledges it.
  public struct Outgoing: Equatable, Sendable {
    public var send: ClientMessage.Send
    /// Milliseconds since 1970, by this machine's clock.
    public var at: Int64
    /// The reason for which the relay refused it; a refused message is sent again only after
    /// `retry`.
    public var refusal: String?
  }
}
