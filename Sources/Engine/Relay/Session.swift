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
  var lagging: [Int32] = []
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
