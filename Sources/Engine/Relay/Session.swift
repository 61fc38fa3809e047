/// One connection from the opening handshake to its end. While it is idle, it owns no memory
/// beyond itself.
public struct Session {
  // The fields of one size are side by side, so that no space is left between them.

  /// Empty until the client is authenticated.
  var user = ""
  /// Replies, catch-up pages, and the rest of a frame: bytes that must be sent as they are.
  var outbox: [UInt8] = []
  /// The number of bytes of `outbox` that were written.
  var outboxTaken = 0
  /// The lagging subscriptions, in turn.
  var lagging: [Slot<Subscription>] = []
  /// What outstanding answers of the log may add to the queue, in bytes.
  var owedBytes = 0
  /// What the user may still request, and the session's rank there; `nil` if nothing is counted.
  var budget: UserBudget?
  var rank: UInt64 = 0
  /// The state that only some sessions have.
  var extras: SessionExtras?
  /// What the client's token allows, if the relay takes tokens.
  var grant: Shard.Grant?

  /// The owner's name for the connection.
  let connection: Int32
  /// Another session of the same user.
  var nextOfUser = OptionalSlot<Session>.none
  /// The latest delivery of this turn, which links to those before it.
  var delivery = OptionalSlot<Delivery>.none
  /// The room whose acks are all that is queued.
  var ackedRoom = OptionalSlot<Room>.none
  /// The room of the last send, if this loop knows it.
  var sendRoom = OptionalSlot<Room>.none
  var firstSubscription = OptionalSlot<Subscription>.none
  var subscriptionCount: Int32 = 0

  /// Whether it takes compressed messages.
  var compresses = false
  /// Whether it is one of the relay's own.
  var isInternal = false
  /// Whether it makes its user online; a request over HTTP does not.
  var isPresence = false
  /// Whether the client says that its user is away.
  var isAway = false
  /// Whether its subscriptions begin at the head, whatever the client has.
  var skipsEntries = false
  /// Whether the socket takes no bytes until `unblock`.
  var isBlocked = false
  /// Whether it is in the list of sessions that the end of the turn flushes.
  var isDirty = false
  /// Whether a page is being read from storage.
  var isReading = false
  /// Whether input waits for an answer from storage.
  var awaitsReply = false
  /// Why the owner was told to stop reading, until it is told to continue.
  var pause = Pause.none
  var isClosing = false
  /// Whether it has input that waits for the budget.
  var isSlowed = false

  init(connection: Int32) { self.connection = connection }

  enum Pause {
    case none
    /// What is queued for it leaves no room for another reply.
    case fullQueue
    /// An answer or a join that it awaits, a full log, or its user's budget.
    case other
  }

  /// Whether its user is an operator of the relay.
  var isOperator: Bool { grant?.isOperator ?? false }

  var isPaused: Bool { pause != .none }

  /// The bytes that the socket has not taken.
  var queuedBytes: Int { outbox.count - outboxTaken }
  /// The bytes of ephemeral messages that wait until the client reads.
  var waitingBytes: Int { extras?.ephemera.waiting.reduce(0) { $0 + $1.count } ?? 0 }
}

/// A run of bytes in the turn's buffer for one subscription.
struct Delivery {
  var slice: Slot<Turn.Slice>
  var subscription: Slot<Subscription>
  /// The start of the run in the turn's buffer.
  var lower: Int32
  /// Another delivery to the same session.
  var next: OptionalSlot<Delivery>
}
