internal import Cluster
internal import Glibc
internal import Platform
internal import Postgres
internal import Relay
internal import Synchronization

/// Hears of commits of the other nodes, shows them that this node is alive, and notices when they are
/// not. Has a thread and a connection of its own.
final class FeedListener: Sendable {
  /// How often a node shows that it is alive.
  static let beatMilliseconds: Int64 = 2_000
  /// After this time without a sign of life a node has ended, for the others: its users are no longer
  /// present.
  static let lifeSeconds = 8
  /// After this time without one the feed is no longer kept for it: it cannot follow any more, and ends.
  static let feedSeconds = 60
  /// After this time its row is deleted, and it cannot come back.
  private static let memorySeconds = 3_600

  private let connector: Connector
  private let node: Atomic<Int64>
  private let tasks: WorkQueue<NodeTask>
  /// Whether a task to follow is in the queue.
  private let isAwaited = Atomic(false)
  private let ending: EventDescriptor
  private let hasEnded = Atomic(false)
  private let spending: SpendingLedger
  private let meter: NodeMeter
  private let cleaner: LogCleaner
  private let lead: @Sendable (Bool) -> Void

  /// - Parameter lead: see `PostgresLog`.
  init(
    _ connector: Connector, node: Int64, tasks: WorkQueue<NodeTask>, spending: SpendingLedger,
    meter: NodeMeter, cleaner: consuming LogCleaner, lead: @escaping @Sendable (Bool) -> Void
  ) throws(SystemError) {
    self.connector = connector
    self.node = Atomic(node)
    self.tasks = tasks
    self.spending = spending
    self.meter = meter
    self.cleaner = cleaner
    self.lead = lead
    ending = try EventDescriptor()
  }

  /// The writer has taken its tasks, and follows with the next transaction.
  func recordTaken() { isAwaited.store(false, ordering: .releasing) }

  /// The writer has registered again.
  func identify(node: Int64) { self.node.store(node, ordering: .relaxed) }

  func stop() {
    hasEnded.store(true, ordering: .relaxed)
    ending.signal()
  }

  /// It need not last: it waits neither for the disk nor for a standby, which may be missing.
  private static let beat = PostgresStatement(
    "beat", "UPDATE nodes SET seen_at = clock_timestamp() WHERE number = $1::bigint")
  /// For the statistics: how many nodes are alive, and the last batch.
  private static let selectState = PostgresStatement(
    "select_state",
    """
    SELECT count(*), (SELECT coalesce(max(position), 0) FROM feed) FROM nodes
    WHERE seen_at >= clock_timestamp() - make_interval(secs => $1::bigint)
    """)
  /// What every node has applied is no longer needed.
  private static let trimFeed = PostgresStatement(
    "trim_feed",
    """
    DELETE FROM feed WHERE position < (
      SELECT min(position) FROM nodes
      WHERE seen_at >= clock_timestamp() - make_interval(secs => $1::bigint))
    """)
  private static let deleteNodes = PostgresStatement(
    "delete_nodes",
    """
    DELETE FROM nodes WHERE seen_at < clock_timestamp() - make_interval(secs => $1::bigint)
    """)
  /// The lock ends with the connection.
  private static let tryToLead = PostgresStatement(
    "try_to_lead", "SELECT pg_try_advisory_lock($1::bigint)")

  func run() {
    var connection: PostgresConnection?
    var lastBeat = Instant.now().nanoseconds
    var leads = false
    var leadKey: Int64 = 0
    while !hasEnded.load(ordering: .relaxed) {
      do throws(PostgresError) {
        if connection == nil {
          let made = try connector.connect("listen")
          try made.run(PostgresStatement(once: "LISTEN \(Schema.quoted(connector.channel))")())
          leadKey = try connector.leadKey(on: made)
          connection = made
          meter.record { $0.canListen = true }
          follow()
        }
        guard let connection else { continue }
        try beat(connection, &lastBeat, cleans: leads)
        if !leads, try connection.run(Self.tryToLead(.int(leadKey)))[0].bool(0, 0) {
          leads = true
          lead(true)
        }
        try wait(connection)
      } catch {
        connection = nil
        meter.record { $0.canListen = false }
        if leads { lead(false) }
        leads = false
        _ = ending.wait(timeoutMilliseconds: 500)
      }
    }
    if leads { lead(false) }
    _ = try? connection?.run(Statements.endNode(.int(node.load(ordering: .relaxed))))
  }

  /// - Parameter cleans: whether this node deletes what no node needs.
  private func beat(
    _ connection: PostgresConnection, _ last: inout UInt64, cleans: Bool
  ) throws(PostgresError) {
    let rows = try connection.run(
      Statements.begin(), Statements.commitsLater(),
      Self.beat(.int(node.load(ordering: .relaxed))),
      Self.selectState(.int(Int64(Self.lifeSeconds))), Statements.commit())[3]
    meter.record { node in
      node.nodes = Int(rows.int(0, 0))
      // After a fork the log may be shorter than this node was.
      node.head = rows.int(0, 1)
    }
    if cleans {
      try connection.run(
        Self.trimFeed(.int(Int64(Self.feedSeconds))),
        Self.deleteNodes(.int(Int64(Self.memorySeconds))))
      try cleaner.clean(connection)
    }
    let now = Instant.now().nanoseconds
    // Somewhat earlier than the others may have taken it for dead.
    let lateNanoseconds =
      UInt64(Self.lifeSeconds) * 1_000_000_000 - UInt64(Self.beatMilliseconds) * 1_000_000
    if now - last > lateNanoseconds { tasks.append(.introduce) }
    last = now
    tasks.append(.beat)
  }

  /// Hears of commits until the next beat is due, and tells the others what users spend.
  private func wait(_ connection: PostgresConnection) throws(PostgresError) {
    let end = Instant.now().nanoseconds + UInt64(Self.beatMilliseconds) * 1_000_000
    while !hasEnded.load(ordering: .relaxed) {
      let now = Instant.now().nanoseconds
      guard now < end else { return }
      let spent = spending.take(now: Int64(now / 1_000_000))
      if !spent.isEmpty { tasks.append(.tell(spent)) }
      var requests = [
        pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: ending.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      let waitMilliseconds = min(
        Int64((end - now) / 1_000_000), SpendingLedger.intervalMilliseconds)
      guard unsafe poll(&requests, 2, Int32(waitMilliseconds) + 1) > 0 else { continue }
      if requests[0].revents != 0, try connection.takeNotifications() { follow() }
    }
  }

  /// Requests that the writer follows the other nodes.
  func follow() {
    if !isAwaited.exchange(true, ordering: .acquiringAndReleasing) { tasks.append(.follow) }
  }
}
