public import Wire

/// The storage of the rooms' entries: assigns each entry its `seq`, makes it durable, and publishes
/// it to all event loops.
///
/// The contract, which one test suite checks for every conformer:
/// - **Order.** Commits reach every loop in commit order, through `publish`, which the log calls
///   for one loop at a time and never concurrently for the same loop. Answers to requests are
///   delivered in the same sequence, after everything that was committed before them: a loop that
///   has received the answer to `subscribe` has missed no entry and will receive every later one.
/// - **Durability.** Nothing is published or acknowledged before it is as durable as the log is
///   configured to make it.
/// - **No duplicates.** An entry is identified by room, sender and id for as long as it is kept. A
///   second one is answered with the `seq` of the first, and not before the first is durable: it is
///   acknowledged if the content is the same or the first is redacted, and otherwise refused with
///   `idConflict`.
/// - **Refusal.** If the log cannot write, every append of the batch is refused and nothing of it
///   is stored. For `Refusal.retryAfterMilliseconds` the log also refuses later sends of the same
///   session to the same room, which keeps the order of one sender. Reading continues as far as
///   possible. Writing resumes with the first batch that succeeds.
/// - **One at a time.** A loop has at most one `submit` under way: it collects the next batch until
///   the delivery with `completesSubmit` arrives.
///
/// All methods except `start` may be called from any thread.
public protocol Log: AnyObject, Sendable {
  /// The name of the epoch of this run.
  var epoch: String { get }

  /// The blocks between users when it starts.
  var blocks: BlockTable { get }

  /// The users who are banned when it starts.
  var bans: [BanChange] { get }

  /// Starts to process requests.
  /// - Parameters:
  ///   - loops: the number of event loops; a commit is published to each.
  ///   - publish: called on a thread of the log; must not block.
  /// - Throws: if a resource of the system is missing; `stop` has to be called nevertheless.
  func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (_ loop: Int, LogDelivery) -> Void
  ) throws(StoreFailure)

  /// Submits the requests of one turn of a loop. Each call is answered by one delivery with
  /// `completesSubmit`, even if it has no other content.
  func submit(_ requests: [LogRequest], from loop: Int)

  /// Requests entries from storage; answered in any order relative to commits.
  func read(_ request: ReadRequest, from loop: Int)

  /// Replaces the rules of retention, which a log applies by itself.
  func apply(_ retention: Retention)

  /// Does what would make `stop`, and the next start, take long, while requests are still processed. Waits for
  /// some seconds at most, on the calling thread.
  func prepareToStop()

  /// Commits and publishes what was submitted, and closes. Returns when that is done.
  func stop()

  /// Returns the counters since the start.
  func statistics() -> LogStatistics
}

extension Log {
  /// Returns none, for a log that begins empty.
  public var blocks: BlockTable { BlockTable() }

  /// Returns none.
  public var bans: [BanChange] { [] }

  /// Does nothing, for a log that keeps everything.
  public func apply(_ retention: Retention) {}

  /// Does nothing, for a log that stops at once.
  public func prepareToStop() {}

  /// Returns zeros, for a log that does not count.
  public func statistics() -> LogStatistics { LogStatistics() }
}

/// Identifies a session on its loop, for the log and for the owner of its connection.
public typealias SessionID = Handle<Session>

/// The positions up to which a user has read and received entries of a room.
public typealias Marks = ServerMessage.Marks
