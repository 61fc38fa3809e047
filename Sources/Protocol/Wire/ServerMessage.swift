/// A message from the relay to a client.
public enum ServerMessage: Equatable, Sendable {
  case welcome(Welcome)
  /// `auth` has renewed the token. `expiresInMilliseconds`: until the new one expires; `nil` = never.
  case renewed(expiresInMilliseconds: Int64?)
  /// A request that has no other answer has taken effect.
  case ok
  case joined(Joined)
  /// The subscription has ended. The departure says why, unless the client has asked for it.
  case left(room: String, Departure? = nil)
  case message(Entry)
  case ack(Ack)
  case history(HistoryPage)
  case receipt(room: String, Marks)
  case typing(room: String, user: String, on: Bool)
  /// The number of users who are subscribed to a room; 51 stands for more than 50. Sent if the join
  /// requested it.
  case subscribers(room: String, count: Int64)
  /// `next`: the cursor of the next page; absent at the end.
  case rooms([RoomSummary], next: String?)
  case activity(Activity)
  case people(PeoplePage)
  case presence(UserPresence)
  /// `t` is the JSON of the ping; `time` is in milliseconds since 1970.
  case pong(t: [UInt8]?, time: Int64)
  case error(WireError)
  case closing(reason: String, reconnectAfterMilliseconds: Int64)
  /// The users that the user has blocked, in the order of their names.
  case blocks([String])
  /// The latest reports about a room's entries, the newest first.
  case reports([Report])

  /// The first message of every connection.
  public struct Welcome: Equatable, Sendable {
    /// The limits up to which a client is neither refused nor slowed; 0 = no limit.
    public struct Limits: Equatable, Sendable {
      public var frameBytes = 0
      public var textBytes = 0
      public var rooms = 0
      public var sendsPerSecond = 0
      public var burst = 0
      public var requestsPerSecond = 0
      public var bytesPerSecond = 0
      /// Of one file; `nil` if the relay keeps no files.
      public var fileBytes: Int?
      public init() {}
    }
    public var user: String
    public var session: String
    /// The name and version of the relay.
    public var server: String
    /// Milliseconds since 1970.
    public var time: Int64
    public var heartbeatSeconds: Int64
    public var limits: Limits
    /// Until the token expires; `nil` = never.
    public var expiresInMilliseconds: Int64?

    public init(
      user: String, session: String, server: String, time: Int64, heartbeatSeconds: Int64,
      limits: Limits, expiresInMilliseconds: Int64? = nil
    ) {
      self.user = user
      self.session = session
      self.server = server
      self.time = time
      self.heartbeatSeconds = heartbeatSeconds
      self.limits = limits
      self.expiresInMilliseconds = expiresInMilliseconds
    }
  }

  /// How a client's position relates to the log.
  public enum Resume: String, Sendable, CaseIterable {
    /// The entries after `after` follow.
    case ok
    /// Entries after the client's position were deleted in the meantime.
    case truncated
    /// The client has entries that this log has lost: drop those after `after`.
    case diverged
    /// Another log: drop everything.
    case reset
  }

  /// The entry that ended a subscription: nothing after it is sent.
  public struct Departure: Equatable, Sendable {
    public var seq: Int64
    /// Who sent it.
    public var by: String
    /// What the user is from there on; `nil` if the entry made the room private.
    public var role: Role?
    public var reason: String?

    public init(seq: Int64, by: String, role: Role? = nil, reason: String? = nil) {
      self.seq = seq
      self.by = by
      self.role = role
      self.reason = reason
    }
  }

  /// What a room with settings and members of its own is to a user.
  public struct RoomDescription: Equatable, Sendable {
    public var title: String?
    public var topic: String?
    public var access: RoomSettings.Access
    /// `nil` for a user that no entry has named.
    public var role: Role?

    public init(
      title: String? = nil, topic: String? = nil, access: RoomSettings.Access, role: Role? = nil
    ) {
      self.title = title
      self.topic = topic
      self.access = access
      self.role = role
    }
  }

  /// The positions up to which a user has read and received entries of a room.
  public struct Marks: Equatable, Sendable {
    public var user: String
    public var read: Int64
    public var received: Int64
    /// In a room with members of its own, unless no entry has named the user.
    public var role: Role?

    public init(user: String, read: Int64, received: Int64) {
      self.user = user
      self.read = read
      self.received = received
    }
  }

  /// The subscription has begun; the entries after `after` follow.
  public struct Joined: Equatable, Sendable {
    public var room: String
    public var epoch: String
    public var head: Int64
    public var first: Int64
    public var after: Int64
    public var resume: Resume
    public var read: Int64
    public var received: Int64
    /// The members of the room; `nil` if there are more than 50.
    public var members: [Marks]?
    /// The epochs of the room's entries, the newest first, and the current one.
    public var lineage: [EpochStart]
    /// As in `subscribers`; `nil` if the join did not request it.
    public var subscribers: Int64?
    /// `nil` for a room without settings and members of its own.
    public var about: RoomDescription?

    public init(
      room: String, epoch: String, head: Int64, first: Int64, after: Int64, resume: Resume,
      read: Int64, received: Int64, members: [Marks]?, lineage: [EpochStart] = [],
      subscribers: Int64? = nil
    ) {
      self.room = room
      self.epoch = epoch
      self.head = head
      self.first = first
      self.after = after
      self.resume = resume
      self.read = read
      self.received = received
      self.members = members
      self.lineage = lineage
      self.subscribers = subscribers
    }
  }

  /// The entry is durable, with this `seq`.
  public struct Ack: Equatable, Sendable {
    public var room: String
    public var id: String
    public var seq: Int64
    /// Milliseconds since 1970.
    public var at: Int64
    public var duplicate: Bool
    /// The `ref` of the send.
    public var ref: String?

    public init(
      room: String, id: String, seq: Int64, at: Int64, duplicate: Bool, ref: String? = nil
    ) {
      self.room = room
      self.id = id
      self.seq = seq
      self.at = at
      self.duplicate = duplicate
      self.ref = ref
    }
  }

  /// A page of a room's log, in ascending `seq`.
  public struct HistoryPage: Equatable, Sendable {
    public var room: String
    public var entries: [Entry]
    public var first: Int64
    public var head: Int64
    public var more: Bool
    /// The current epoch.
    public var epoch: String
    /// Where the request named an epoch: as in `Joined`.
    public var resume: Resume?
    public var after: Int64?

    public init(
      room: String, entries: [Entry], first: Int64, head: Int64, more: Bool, epoch: String,
      resume: Resume? = nil, after: Int64? = nil
    ) {
      self.room = room
      self.entries = entries
      self.first = first
      self.head = head
      self.more = more
      self.epoch = epoch
      self.resume = resume
      self.after = after
    }
  }

  /// One row of `rooms`.
  public struct RoomSummary: Equatable, Sendable {
    public var room: String
    public var title: String
    public var head: Int64
    public var read: Int64
    public var unread: Int64
    /// Whether `unread` is a lower bound.
    public var unreadMore: Bool
    public var listed: Bool
    /// The other user of a direct room.
    public var peer: String?
    /// The peer's picture, presence, and when the peer was last online; only if there is a peer.
    public var avatar: String?
    public var presence: Presence?
    public var lastSeen: Int64?
    public var last: Entry?
    /// `nil` for a room without settings and members of its own. Its title counts first.
    public var about: RoomDescription?
    /// Whether it is a direct room of a user who is not known to this one, who has not accepted it.
    public var isRequest = false

    public init(
      room: String, title: String, head: Int64, read: Int64, unread: Int64,
      unreadMore: Bool = false, listed: Bool, peer: String?, last: Entry?
    ) {
      self.room = room
      self.title = title
      self.head = head
      self.read = read
      self.unread = unread
      self.unreadMore = unreadMore
      self.listed = listed
      self.peer = peer
      self.last = last
    }
  }

  /// Something happened in a room that the user belongs to and this connection has not joined.
  public struct Activity: Equatable, Sendable {
    public var room: String
    public var head: Int64
    public var unread: Int64
    /// Whether `unread` is a lower bound.
    public var unreadMore: Bool
    public var last: Entry?
    /// As in `RoomSummary`.
    public var isRequest = false

    public init(
      room: String, head: Int64, unread: Int64, unreadMore: Bool = false, last: Entry?
    ) {
      self.room = room
      self.head = head
      self.unread = unread
      self.unreadMore = unreadMore
      self.last = last
    }
  }

  /// A page of the list of people, in the directory's order.
  public struct PeoplePage: Equatable, Sendable {
    public var people: [PersonRow]
    /// The cursor of the next page; absent at the end.
    public var next: String?
    /// The directory that the people come from.
    public var source: String
    /// The time of the list, in milliseconds since 1970.
    public var asOf: Int64

    public init(people: [PersonRow], next: String?, source: String, asOf: Int64) {
      self.people = people
      self.next = next
      self.source = source
      self.asOf = asOf
    }
  }

  /// A person to talk to.
  public struct PersonRow: Equatable, Sendable {
    public var user: String
    public var name: String
    public var avatar: String?
    public var presence: Presence
    /// When the user was last online, in milliseconds since 1970; absent if unknown.
    public var lastSeen: Int64?
    public var isBot: Bool
    /// The direct room with the person; absent for the requesting user.
    public var room: String?

    public init(
      user: String, name: String, avatar: String?, presence: Presence, lastSeen: Int64?,
      isBot: Bool, room: String?
    ) {
      self.user = user
      self.name = name
      self.avatar = avatar
      self.presence = presence
      self.lastSeen = lastSeen
      self.isBot = isBot
      self.room = room
    }
  }

  /// What a user has reported about an entry.
  public struct Report: Equatable, Sendable {
    public var room: String
    public var seq: Int64
    /// The user who has reported it.
    public var by: String
    public var reason: String
    /// When, in milliseconds since 1970; `nil` in the report's own entry, which has it.
    public var at: Int64?
    /// The entry as it was then; `nil` if it has been deleted since, or after 30 days.
    public var copy: Entry?

    public init(
      room: String, seq: Int64, by: String, reason: String, at: Int64?, copy: Entry? = nil
    ) {
      self.room = room
      self.seq = seq
      self.by = by
      self.reason = reason
      self.at = at
      self.copy = copy
    }
  }

  /// The presence of a user.
  public struct UserPresence: Equatable, Sendable {
    public var user: String
    public var presence: Presence
    /// As in `PersonRow`.
    public var lastSeen: Int64?

    public init(user: String, presence: Presence, lastSeen: Int64?) {
      self.user = user
      self.presence = presence
      self.lastSeen = lastSeen
    }
  }
}

/// The presence of a user; the raw value is the name on the wire.
public enum Presence: String, Sendable, CaseIterable {
  /// At least one connection exists that is not away.
  case online
  /// All connections are away.
  case away
  case offline
}
