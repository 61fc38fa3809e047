import DequeModule
import Wire

/// One connection as the relay sees it, from the opening handshake to its end. Where it is idle it
/// owns no memory beyond itself.
struct Session {
  var generation: UInt32 = 0
  var isOpen = false
  /// It takes compressed messages.
  var compresses = false
  /// What the owner of the shard calls this connection.
  var connection: Int32 = -1
  /// The relay's own.
  var isInternal = false
  /// Empty until it is known who it is.
  var user = ""
  /// Another session of the same user; -1 = none.
  var nextOfUser: Int32 = -1
  /// Whether it makes its user one who is there, as a request over HTTP does not.
  var isPresence = false
  /// The client says that nobody looks.
  var isAway = false

  /// Replies, catch-up pages and what remained of a frame: bytes that have to go out as they are.
  var outbox: [UInt8] = []
  /// How many bytes of `outbox` are out.
  var outboxTaken = 0
  /// The socket takes no more until it says so.
  var isBlocked = false
  /// In the list of those that are flushed at the end of the turn.
  var isDirty = false
  /// The first delivery of this turn, and where further ones are chained.
  var delivery = Delivery.none
  var moreDeliveries: Int32 = -1
  /// All that is queued is acks of this room; -1 if not.
  var ackedRoom: Int32 = -1
  /// The room of the last send, if it is known here.
  var sendRoom: Int32 = -1

  var firstSubscription: Int32 = -1
  var subscriptionCount: Int32 = 0
  /// Subscriptions that are behind, in turn.
  var behind: [Int32] = []
  /// What the log's answers to come may take in the queue.
  var owedBytes = 0
  /// A page from storage is on its way.
  var isReading = false

  /// Input stops until an answer from storage is there.
  var awaitsReply = false
  /// The owner was told to stop reading and waits to be told to go on.
  var isPaused = false
  var isClosing = false

  /// What its user may still ask for, and its rank there; `nil` where nothing is counted.
  var budget: UserBudget?
  var rank: UInt64 = 0
  /// It has input that waits for the budget.
  var isSlowed = false
  /// What few sessions need.
  var extras: SessionExtras?
  /// Where tokens are taken, what the client's has given it.
  var grant: Shard.Grant?

  var queuedBytes: Int { outbox.count - outboxTaken }
}

/// A run of bytes in the turn's buffer for one subscription.
struct Delivery {
  var slice: Int32
  var subscription: Int32
  /// Where in the turn's buffer it begins.
  var lower: Int32
  var next: Int32

  static let none = Delivery(slice: -1, subscription: -1, lower: 0, next: -1)
}

/// What only some sessions have.
final class SessionExtras {
  var holds = Holds()
  /// The latest of everything that does not wait in a log, while the client does not read; empty where
  /// it is made when it can be told.
  var ephemera: [EphemeralKey: [UInt8]] = [:]
  /// Whether it has asked for `rooms`, and is told of activity since.
  var watchesRooms = false
  /// The `rooms` that waits for the user's list.
  var roomsRequest: ClientMessage.RoomsRequest?
  /// Names the question to the log behind whose answer the page is made; 0 while the list is loaded.
  var roomsTicket: UInt32 = 0
  var paging: RoomsPaging?
  /// The answer to `rooms` while the last entries are being read.
  var summaries: [ServerMessage.RoomSummary] = []
  /// Whether it has asked for people.
  var asksForPeople = false
  /// The answer to `people` while it is looked up when those were there who are not.
  var people: PeopleAnswer?
  /// Whose presence it is told, the latest last.
  var watchedUsers = Deque<Int32>()
  var watchedUserSet: Set<Int32> = []
}

/// What of several ephemeral messages only the latest matters.
struct EphemeralKey: Hashable, Comparable {
  enum Kind: UInt8 { case receipt, typing, subscribers, activity, presence }
  var kind: Kind
  /// -1 for what is of no room.
  var room: Int32
  /// The room's, since its place may be another room's later.
  var generation: UInt32
  var user: String

  static func < (a: Self, b: Self) -> Bool {
    (a.room, a.kind.rawValue, a.user) < (b.room, b.kind.rawValue, b.user)
  }
}

/// A cursor: one room's log, as far as one connection has it.
struct Subscription {
  enum State: UInt8 {
    case free
    /// The log has been asked for the room.
    case entering
    /// As `entering`, but the client has left meanwhile: nothing more is told of it.
    case abandoned
    /// As `entering`, but the client has joined again meanwhile: it is answered, and then over.
    case replaced
    /// At the head: gets entries as they come.
    case live
    /// Gets pages as the socket drains.
    case behind
  }
  var state: State
  var wantsSubscribers: Bool
  /// The client was told `joined`, also while the room is entered anew.
  var isJoined = false
  var session: Int32
  var room: Int32
  /// The last `seq` that was handed to the connection.
  var cursor: Int64
  /// Whether the client wants it, or has another by now or none.
  var isWanted: Bool { state != .abandoned && state != .replaced }
  /// Whether the log has yet to answer.
  var isUnanswered: Bool { state == .entering || !isWanted }
  /// The next one of the same session.
  var next: Int32
  /// Where it stands in its room's list.
  var place: Int32
}

/// A room as one loop knows it.
struct Room {
  /// Empty where the place is free.
  var name = ""
  var generation: UInt32 = 0
  /// The last `seq`, as far as commits and the log's answers have told.
  var head: Int64 = 0
  var firstKept: Int64 = 1
  /// Live and behind.
  var subscribers: [Int32] = []
  /// Subscriptions in whatever state.
  var uses = 0
  /// In which users' lists it is: places in the shard's table.
  var watchers: [Int32] = []
  /// The last entries, oldest first, without a gap up to the head.
  var tail = Deque<TailSpan>()
  /// The JSON of the last entry where the tail has lost it and somebody is to be told of it yet.
  var last: [UInt8] = []
  /// This turn's new entries: a chain in the turn.
  var firstStaged: Int32 = -1
  var lastStaged: Int32 = -1
  /// How many entries that is.
  var stagedCount: Int32 = 0
  var pace = Pace()

  /// Part of a commit that is kept in memory.
  struct TailSpan {
    var commit: Commit
    var span: Int32
    var firstSeq: Int64
    var lastSeq: Int64
  }

  var isUnused: Bool { uses == 0 && watchers.isEmpty && tail.isEmpty && firstStaged < 0 }
}
