/// One connection as the relay sees it, from the opening handshake to its end. Where it is idle it
/// owns no memory beyond itself.
struct Session {
  /// Of the shard and not of the slot, which may be another session's later.
  let generation: UInt32
  /// It takes compressed messages.
  var compresses = false
  /// What the owner of the shard calls this connection.
  let connection: Int32
  /// The relay's own.
  var isInternal = false
  /// Empty until it is known who it is.
  var user = ""
  /// Another session of the same user.
  var nextOfUser = Link<Session>.none
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
  /// The latest delivery of this turn; those before it are chained.
  var delivery = Link<Delivery>.none
  /// The room whose acks are all that is queued.
  var ackedRoom = Link<Room>.none
  /// The room of the last send, if it is known here.
  var sendRoom = Link<Room>.none

  var firstSubscription = Link<Subscription>.none
  var subscriptionCount: Int32 = 0
  /// Subscriptions that lag, in turn.
  var lagging: [Slot<Subscription>] = []
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

  init(generation: UInt32, connection: Int32) {
    self.generation = generation
    self.connection = connection
  }

  var queuedBytes: Int { outbox.count - outboxTaken }
}

/// A run of bytes in the turn's buffer for one subscription.
struct Delivery {
  var slice: Slot<Turn.Slice>
  var subscription: Slot<Subscription>
  /// Where in the turn's buffer it begins.
  var lower: Int32
  /// Another delivery to the same session.
  var next: Link<Delivery>
}
