public import Wire

/// Where the rooms' entries are kept: gives each its `seq`, makes it durable, and tells every
/// event loop.
///
/// The contract, which every conformer is held to by one test suite:
/// - **Order.** What is committed reaches every loop in commit order, through `publish`, which the
///   log calls for one loop at a time and never concurrently for the same loop. An answer to a
///   request comes through the same door behind everything that was committed before it: a loop
///   that has seen the answer to `enter` has missed no entry and will see every later one.
/// - **Durability.** Nothing is published or acknowledged before it is as durable as the log was
///   configured to make it.
/// - **No doubles.** An entry is known by room, sender and id for as long as it is kept. A second
///   one is answered with the first one's `seq`, whatever it says, and not before the first is
///   durable.
/// - **Refusal.** If the log cannot write, every append of that batch is refused, nothing of it is
///   stored, and so is whatever the same session sends to the same room for
///   `Refusal.retryAfterMilliseconds`, which keeps the order of one sender. Reading goes on as far
///   as it can. Writing resumes with the first batch that succeeds.
/// - **One at a time.** A loop has at most one `submit` under way: the next batch gathers in the
///   loop until the delivery arrives that has `completesSubmit`.
///
/// All methods but `start` may be called from any thread.
public protocol Log: AnyObject, Sendable {
  /// This run's line in the lineage.
  var epoch: String { get }

  /// Begins to take requests.
  /// - Parameters:
  ///   - loops: how many event loops there are; a commit is published to each.
  ///   - publish: called on a thread of the log's; must not block.
  /// - Throws: if the system does not give what it takes; `stop` is to be called all the same.
  func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (_ loop: Int, LogDelivery) -> Void
  ) throws(StoreFailure)

  /// Hands over one turn's requests of a loop. Each call is answered by one delivery that has
  /// `completesSubmit`, even when there is nothing to say.
  func submit(_ requests: [LogRequest], from loop: Int)

  /// Asks for entries from storage; answered in any order relative to commits.
  func read(_ request: ReadRequest, from loop: Int)

  /// Commits what was submitted, publishes it, and closes. Returns when that is done.
  func stop()

  /// What it has done since the start, for whoever watches it.
  func statistics() -> LogStatistics
}

extension Log {
  /// A log that does not count.
  public func statistics() -> LogStatistics { LogStatistics() }
}

/// A connection's session on its loop. The generation tells a successor in the same place apart.
public struct SessionID: Hashable, Sendable {
  public var index: Int32
  public var generation: UInt32

  public init(index: Int32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }

  var slot: Slot<Session> { Slot(index) }
}

/// How far a user has come in a room.
public typealias Marks = ServerMessage.Marks

/// How a log refuses to store.
public enum Refusal {
  /// How long a client waits before it sends again, in order.
  public static let retryAfterMilliseconds: Int64 = 1000
}
