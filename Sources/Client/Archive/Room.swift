public import Wire

extension Archive {
  /// A conversation as the last run left it.
  public struct Room: Equatable, Sendable {
    public var room: String
    /// As a person would call it.
    public var title: String
    /// The other user of a direct room.
    public var peer: String?
    public var isBot = false
    public var isMember = false
    /// The log that the entries are of; `nil` where nothing was ever begun.
    public internal(set) var epoch: String?
    /// The oldest entry that is kept here; `head` + 1 if none is.
    public internal(set) var first: Int64 = 1
    /// The newest entry that is kept here; 0 if none is.
    public internal(set) var latest: Int64 = 0
    /// The newest `seq` that is known of.
    public var head: Int64 = 0
    /// This user's own mark.
    public var read: Int64 = 0
    public var unread: Int64 = 0
    public var isMuted = false
    public var draft = ""
    /// How far others have come.
    public var marks: [Marks] = []
    /// The newest entry that says something of its own, folded.
    public internal(set) var last: Entry?

    public init(room: String, title: String, peer: String? = nil) {
      self.room = room
      self.title = title
      self.peer = peer
    }
  }

  /// How far another user has come in a room.
  public struct Marks: Equatable, Sendable {
    public var user: String
    public var received: Int64
    public var read: Int64

    public init(user: String, received: Int64, read: Int64) {
      self.user = user
      self.received = received
      self.read = read
    }

    /// As the file has it: no valid user's name has a blank.
    var line: String { "\(user) \(received) \(read)" }

    init?(line: some StringProtocol) {
      let words = line.split(separator: " ")
      guard words.count == 3, let received = Int64(words[1]), let read = Int64(words[2]) else {
        return nil
      }
      self.init(user: String(words[0]), received: received, read: read)
    }
  }

  /// Something to be sent, until the relay acknowledges it.
  public struct Outgoing: Equatable, Sendable {
    public var send: ClientMessage.Send
    /// Milliseconds since 1970, by this machine's clock.
    public var at: Int64
    /// What the relay said against it; it is not sent again unless it is retried.
    public var refusal: String?
  }
}
