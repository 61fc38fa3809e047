package import Cluster
internal import Glibc
internal import Platform
internal import Postgres
package import Relay
internal import Wire

/// The store of one node in PostgreSQL: rooms and entries in the tables that all nodes share. See
/// `NodeStore`.
package final class PostgresStore: NodeStore {
  private let connector: Connector
  private let name: String
  private var connection: PostgresConnection? {
    didSet { meter.record { [isConnected] in $0.canWrite = isConnected } }
  }
  private let meter: NodeMeter
  /// The key of the commit lock of the connected store.
  private var lockKey: Int64
  /// When the next attempt to connect is made, in nanoseconds of the monotonic clock.
  private var connectsAt: UInt64 = 0
  private static let reconnectNanoseconds: UInt64 = 250_000_000
  private var settings: ServerSettings

  package var state: NodeState
  package let identityKey: EntryIdentity.Key
  private(set) var lastRoom: Int64
  /// Not valid after the end of a transaction.
  var lookedUp = LookedUp()

  package private(set) var sync: Range<Int64> = 0..<0
  /// Whether the log is to end, so that nothing is waited for any longer.
  private let isEnding: @Sendable () -> Bool
  /// Called if this process cannot go on, with the reason.
  private let end: @Sendable (String) -> Void

  init(
    _ connector: Connector, _ registration: Registration, _ options: PostgresLog.Options,
    meter: NodeMeter, isEnding: @escaping @Sendable () -> Bool,
    end: @escaping @Sendable (String) -> Void
  ) {
    self.connector = connector
    self.meter = meter
    name = options.name
    settings = ServerSettings(options)
    connection = registration.connection
    lockKey = registration.lockKey
    state = registration.state
    identityKey = registration.identityKey
    lastRoom = registration.lastRoom
    self.isEnding = isEnding
    self.end = end
  }

  package var roomCount: Int { Int(lastRoom) }

  // MARK: - The connection

  package var isConnected: Bool { connection != nil }

  package func connect() throws(DatabaseFailure) {
    let now = Instant.now().nanoseconds
    guard now >= connectsAt else {
      throw DatabaseFailure("there is no connection", isConnectionLost: true)
    }
    connectsAt = now + Self.reconnectNanoseconds
    do throws(PostgresError) {
      let connection = try connector.connect("write")
      lockKey = try connector.lockKey(on: connection)
      self.connection = connection
    } catch {
      // Whatever failed: there is no connection to go on with.
      throw DatabaseFailure("\(error)", isConnectionLost: true)
    }
  }

  /// Throws if a setting of the server is wrong, so that nothing may be committed.
  private func checkSettings() throws(DatabaseFailure) {
    defer { meter.record { [settings] in $0.settingsAreRight = settings.failure == nil } }
    try attempt { connection throws(PostgresError) in try settings.check(connection) }
  }

  private static let retryMicroseconds: UInt32 = 50_000

  package func awaitRetry() -> Bool {
    if !isEnding() { usleep(Self.retryMicroseconds) }
    return !isEnding()
  }

  /// Runs statements.
  func run(_ calls: [PostgresCall]) throws(DatabaseFailure) -> [PostgresRows] {
    try attempt { connection throws(PostgresError) in try connection.run(calls) }
  }

  /// Uses the connection. One that is lost is given up.
  private func attempt<Result>(
    _ body: (PostgresConnection) throws(PostgresError) -> Result
  ) throws(DatabaseFailure) -> Result {
    guard let connection else {
      throw DatabaseFailure("there is no connection", isConnectionLost: true)
    }
    do throws(PostgresError) { return try body(connection) } catch {
      if error.isConnectionLost { self.connection = nil }
      throw DatabaseFailure("\(error)", isConnectionLost: error.isConnectionLost)
    }
  }

  package func disconnect() { connection = nil }

  package func examine(
    _ node: Int64, _ positions: ClosedRange<Int64>
  ) throws(DatabaseFailure) -> NodeFindings {
    let key = lockKey
    return try attempt { connection throws(PostgresError) in
      let rows = try connection.run(
        Statements.begin(), Statements.takeLock(.int(key)),
        Statements.selectMarks(.int(positions.lowerBound), .int(positions.upperBound)),
        Statements.selectOldest(), Statements.selectNode(.int(node)))
      let marks = (0..<rows[2].count).map { (rows[2].int($0, 0), rows[2].int($0, 1)) }
      return NodeFindings(
        marks: Dictionary(marks, uniquingKeysWith: { $1 }),
        oldest: rows[3].isEmpty ? nil : rows[3].int(0, 0), knowsNode: !rows[4].isEmpty)
    }
  }

  package func ensureEpoch(lost: Int64?) throws(DatabaseFailure) -> Lineage {
    try attempt { connection throws(PostgresError) in
      let lineage = try Epochs.current(on: connection, lost: lost)
      try connection.run(Statements.commit())
      return lineage
    }
  }

  package func register(lost: Int64?) throws(DatabaseFailure) -> NodeState {
    let (key, name, former) = (lockKey, name, state.node)
    let registered = try attempt { connection throws(PostgresError) in
      try Registration.register(connection, lockKey: key, name: name, former: former, lost: lost)
    }
    lastRoom = registered.lastRoom
    return registered.state
  }

  // MARK: - Transactions

  package func begin(
    _ purpose: NodeState.Purpose, after position: Int64, lookingUp identities: [EntryIdentity],
    checksNodes: Bool
  ) throws(DatabaseFailure) -> NodeBeginning {
    lookedUp = LookedUp()
    do throws(DatabaseFailure) { try checkSettings() } catch {
      if purpose == .commit || error.isConnectionLost { throw error }
    }
    var calls =
      purpose == .commit
      ? [Statements.begin(), Statements.takeLock(.int(lockKey))]
      : [Statements.beginSnapshot()]
    let time = calls.count
    calls.append(Statements.selectTime())
    calls.append(Statements.selectFeed(.int(position)))
    if !identities.isEmpty {
      calls.append(Statements.selectIdentities(.ints(identities.map(\.hash))))
    }
    if checksNodes {
      calls.append(Statements.selectGone(.int(Int64(FeedListener.lifeSeconds))))
    }
    let began = Instant.now().nanoseconds
    let rows = try run(calls)
    let gone =
      checksNodes ? rows.last.map { last in (0..<last.count).map { last.int($0, 0) } } : nil
    if !identities.isEmpty { remember(identities, rows[time + 2]) }
    let beginning = NodeBeginning(
      now: rows[time].int(0, 0), epoch: rows[time].int(0, 1), batches: try batches(rows[time + 1]),
      gone: gone ?? [])
    meter.record { node in
      if purpose == .commit {
        node.lockSeconds.add(Double(Instant.now().nanoseconds - began) / 1e9)
      }
      node.position = beginning.batches.last?.position ?? position
      node.head = max(node.head, node.position)
      for batch in beginning.batches {
        guard let at = batch.sequenced.changes.entries.last?.entry.at else { continue }
        node.followSeconds.add(Double(max(0, beginning.now - at)) / 1000)
      }
    }
    return beginning
  }

  private func batches(_ feed: PostgresRows) throws(DatabaseFailure) -> [FeedBatch] {
    var batches: [FeedBatch] = []
    for row in 0..<feed.count {
      do throws(FeedContent.Malformed) {
        let (sequenced, news) = try FeedContent.decode(feed.byteString(row, 3))
        for room in sequenced.changes.newRooms { lastRoom = max(lastRoom, room.number) }
        batches.append(
          FeedBatch(
            position: feed.int(row, 0), mark: feed.int(row, 2), node: feed.int(row, 1),
            sequenced: sequenced, news: news))
      } catch {
        let message =
          "Batch \(feed.int(row, 0)) of the log was written by another version of the relay"
        end("\(message).")
        throw DatabaseFailure(message)
      }
    }
    return batches
  }

  package func rollBack() throws(DatabaseFailure) { _ = try run([Statements.rollback()]) }

  package func store(_ batch: FeedBatch, number: Int64) throws(DatabaseFailure) -> Bool {
    let changes = batch.sequenced.changes
    var calls = CommitCalls(changes, epoch: state.lineage.current.number).calls
    calls += FileCalls(changes).calls
    calls.append(
      Statements.insertFeed(
        .int(batch.position), .int(batch.node), .int(batch.mark),
        .bytes(FeedContent.encode(batch))))
    // The batch before it stays in the feed until this one is known to be stored.
    calls.append(
      Statements.updateNode(.int(batch.node), .int(batch.position - 1), .int(number)))
    calls.append(Statements.notify(.text(connector.channel)))
    calls.append(Statements.commit())
    let began = Int64(Instant.now().nanoseconds)
    let newRoom = changes.newRooms.map(\.number).max() ?? 0
    do throws(DatabaseFailure) { _ = try run(calls) } catch {
      // It may have been stored.
      if error.isConnectionLost { lastRoom = max(lastRoom, newRoom) }
      throw error
    }
    sync = began..<max(began, Int64(Instant.now().nanoseconds))
    lastRoom = max(lastRoom, newRoom)
    meter.record { node in
      node.position = batch.position
      node.head = max(node.head, batch.position)
    }
    // From here on it is read without the commit lock; what a batch may still ask for does not change.
    lookedUp = LookedUp()
    return connection?.lastCallWarned == false
  }

  package func commitBarrier(
    _ node: Int64, position: Int64, takesLock: Bool
  ) throws(DatabaseFailure) -> (number: Int64?, isCertain: Bool) {
    // What was committed with such a setting is not certain, nor does this make it so.
    try checkSettings()
    var calls = [Statements.begin()]
    if takesLock { calls.append(Statements.takeLock(.int(lockKey))) }
    calls.append(Statements.confirmNode(.int(node), .int(position)))
    calls.append(Statements.commit())
    let rows = try run(calls)[calls.count - 2]
    return (rows.isEmpty ? nil : rows.int(0, 0), connection?.lastCallWarned == false)
  }
}
