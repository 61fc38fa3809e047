internal import Glibc
internal import Platform
internal import Postgres
package import Relay
package import Wire

/// The store of one node: rooms and entries in the tables that all nodes share. Used by one thread.
///
/// A batch is processed in a **turn**: a transaction that holds the lock of all commits. It begins by
/// reading the feed, so that this node knows everything that the others have committed, and ends with
/// the commit of its own batch, which is a row of the feed as well. So all nodes apply all batches in
/// the order of their commits. What only reads is done in a **snapshot**, which is as consistent with
/// the feed, and makes nobody wait.
package final class PostgresStore: EntryStore {
  /// What `begin` is for.
  enum Purpose { case turn, snapshot }

  /// What a transaction begins with.
  struct Beginning {
    /// The batches of the other nodes since the last call of `noteFollowed`.
    var followed: [Sequencer.Followed] = []
    /// The time of the server, in milliseconds since 1970: all nodes use it, however their own clocks
    /// are set.
    var now: Int64 = 0
    /// Set if the lineage has changed since the last call of `noteFollowed`.
    var lineage: Lineage?
  }

  private let connector: Connector
  private var connection: PostgresConnection?
  /// When the next attempt to connect is made, in nanoseconds of the monotonic clock.
  private var connectsAt: UInt64 = 0
  private static let reconnectNanoseconds: UInt64 = 250_000_000

  /// The number of this node.
  let node: Int64
  private(set) var lineage: Lineage
  private var newLineage: Lineage?
  package let identityKey: EntryIdentity.Key
  package var isShared: Bool { true }

  /// The last batch that this node has applied, and the random mark that it has in the feed.
  private(set) var position: Int64
  private var mark: Int64?
  /// Where `noteFollowed` moves to.
  private var pending: (position: Int64, mark: Int64?)
  /// The last batch that this node has committed.
  private var batch: Int64 = 0
  private var lastRoom: Int64
  private var transaction: Purpose?
  /// Why the current batch cannot be processed.
  private var failure: StoreFailure?

  /// What `begin` has looked up for the batch.
  private var rooms: [String: StoredRoom?] = [:]
  private var identities: [EntryIdentity: [(room: Int64, entry: Entry)]] = [:]
  private var runs: [Int64: [Int64: ContentRun]] = [:]

  /// The number of successful commits.
  private(set) var commits = 0
  /// When the last commit was sent and when it was answered, in nanoseconds of the monotonic clock.
  private(set) var sync: Range<Int64> = 0..<0
  /// Whether the log is to end, so that an unknown outcome is no longer waited for.
  private let isEnding: @Sendable () -> Bool
  /// Called if this process cannot go on: its log has become another one.
  private let end: @Sendable (String) -> Void

  init(
    _ connector: Connector, _ registration: Registration,
    isEnding: @escaping @Sendable () -> Bool, end: @escaping @Sendable (String) -> Void
  ) {
    self.connector = connector
    connection = registration.connection
    node = registration.node
    lineage = registration.lineage
    identityKey = registration.identityKey
    position = registration.position
    mark = registration.mark
    pending = (registration.position, registration.mark)
    lastRoom = registration.lastRoom
    self.isEnding = isEnding
    self.end = end
  }

  /// The number of rooms that have had an entry.
  var roomCount: Int { Int(lastRoom) }

  // MARK: - Transactions

  /// Begins a transaction, and reads what the other nodes have committed.
  /// - Parameter identities: what the batch is going to look up.
  func begin(
    _ purpose: Purpose, lookingUp identities: [EntryIdentity] = []
  ) throws(StoreFailure) -> Beginning {
    (rooms, self.identities, runs) = ([:], [:], [:])
    failure = nil
    do throws(PostgresError) {
      let connection = try connected()
      var calls =
        purpose == .turn
        ? [Statements.begin(), Statements.takeTurn(.int(connector.turnKey))]
        : [Statements.beginSnapshot()]
      let time = calls.count
      calls.append(Statements.selectTime())
      calls.append(Statements.selectFeed(.int(position)))
      if !identities.isEmpty {
        calls.append(Statements.selectIdentities(.ints(identities.map(\.hash))))
      }
      transaction = purpose
      let rows = try connection.run(calls)
      if !identities.isEmpty { note(identities, rows[time + 2]) }
      return Beginning(
        followed: try followed(rows[time + 1]), now: rows[time].int(0, 0), lineage: newLineage)
    } catch {
      throw fail(error, "take a turn")
    }
  }

  private func followed(_ feed: PostgresRows) throws(PostgresError) -> [Sequencer.Followed] {
    var followed: [Sequencer.Followed] = []
    pending = (position, mark)
    for row in 0..<feed.count {
      guard feed.int(row, 0) == pending.position + 1 else {
        let message =
          "This relay was stopped for so long that it has missed batches: it has applied batch "
          + "\(pending.position), and the next one is \(feed.int(row, 0))."
        end(message)
        throw PostgresError(message)
      }
      pending = (feed.int(row, 0), feed.int(row, 2))
      do throws(FeedContent.Malformed) {
        let changes = try FeedContent.decode(feed.byteString(row, 3))
        for room in changes.newRooms { lastRoom = max(lastRoom, room.number) }
        followed.append(Sequencer.Followed(node: feed.int(row, 1), changes: changes))
      } catch {
        let message = "Batch \(pending.position) was written by another version of the relay."
        end(message)
        throw PostgresError(message)
      }
    }
    return followed
  }

  /// Notes that the batches of `Beginning.followed` were applied.
  func noteFollowed() {
    (position, mark) = pending
    newLineage = nil
  }

  /// Ends a transaction that has changed nothing.
  func endTransaction() {
    guard transaction != nil else { return }
    transaction = nil
    do throws(PostgresError) { try connection?.run(Statements.rollback()) } catch { note(error) }
  }

  private func connected() throws(PostgresError) -> PostgresConnection {
    if let connection { return connection }
    let now = Instant.now().nanoseconds
    guard now >= connectsAt else {
      throw PostgresError("there is no connection", isConnectionLost: true)
    }
    connectsAt = now + Self.reconnectNanoseconds
    let connection = try connector.connect("write")
    try check(connection)
    self.connection = connection
    return connection
  }

  /// Finds out whether a server that was connected to anew still has the log that this node knows.
  private func check(_ connection: PostgresConnection) throws(PostgresError) {
    let rows = try connection.run(
      Statements.begin(), Statements.takeTurn(.int(connector.turnKey)),
      Statements.selectMark(.int(position)))[2]
    // A batch before the first that the feed still has: `followed` notices that.
    let hasLost = mark != nil && (rows.isEmpty || rows.int(0, 0) != mark)
    let lineage = try Epochs.current(on: connection, lost: hasLost ? lineage.current.number : nil)
    try connection.run(Statements.commit())
    if hasLost {
      let message =
        "The database no longer has batch \(position) of the log, which this relay has applied: it was "
        + "restored, or another server has taken over that did not have it."
      end(message)
      throw PostgresError(message)
    }
    if lineage.current != self.lineage.current {
      self.lineage = lineage
      newLineage = lineage
    }
  }

  private func note(_ error: PostgresError) {
    if error.isConnectionLost { connection = nil }
  }

  /// Notes that the current batch cannot be processed: everything fails until the next `begin`.
  private func fail(_ error: PostgresError, _ action: String) -> StoreFailure {
    note(error)
    if !error.isConnectionLost, transaction != nil {
      do throws(PostgresError) { try connection?.run(Statements.rollback()) } catch { note(error) }
    }
    transaction = nil
    let failure = StoreFailure("could not \(action) in PostgreSQL: \(error)")
    self.failure = failure
    return failure
  }

  /// Runs a statement that only reads.
  private func read(_ call: PostgresCall) throws(StoreFailure) -> PostgresRows {
    if let failure { throw failure }
    guard let connection else { throw StoreFailure("there is no connection to PostgreSQL") }
    do throws(PostgresError) { return try connection.run(call)[0] } catch {
      throw fail(error, "read")
    }
  }

  // MARK: - Looking up

  /// Reads rooms, and keeps them for `loadRoom`.
  func lookUp(rooms names: [String]) throws(StoreFailure) {
    guard !names.isEmpty else { return }
    if let failure { throw failure }
    guard let connection else { throw StoreFailure("there is no connection to PostgreSQL") }
    let found: [PostgresRows]
    do throws(PostgresError) {
      found = try connection.run(
        Statements.selectRooms(.texts(names)), Statements.selectMembers(.texts(names)))
    } catch {
      throw fail(error, "read")
    }
    for name in names { rooms.updateValue(nil, forKey: name) }
    var byNumber: [Int64: (name: String, room: StoredRoom)] = [:]
    for row in 0..<found[0].count {
      byNumber[found[0].int(row, 0)] = (found[0].text(row, 1), found[0].room(row))
    }
    for row in 0..<found[1].count {
      let number = found[1].int(row, 0)
      let user = found[1].text(row, 1)
      guard let room = byNumber[number]?.room else { continue }
      byNumber[number]?.room.members[user] = found[1].marks(row, from: 2, of: user, in: room)
    }
    for (name, room) in byNumber.values { rooms[name] = .some(room) }
  }

  private func note(_ identities: [EntryIdentity], _ rows: PostgresRows) {
    for identity in identities { self.identities[identity] = [] }
    for row in 0..<rows.count {
      self.identities[EntryIdentity(hash: rows.int(row, 0)), default: []].append(
        (rows.int(row, 1), rows.entry(row, in: "", from: 2)))
    }
  }

  package func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    // A room changes with the batch: what was looked up is good for one use.
    if let known = rooms.removeValue(forKey: name) { return known }
    try lookUp(rooms: [name])
    return rooms.removeValue(forKey: name) ?? nil
  }

  package func nextRoomNumber() throws(StoreFailure) -> Int64 { lastRoom + 1 }

  package func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    if identities[identity] == nil {
      note([identity], try read(Statements.selectIdentities(.ints([identity.hash]))))
    }
    let found = identities[identity]?.first {
      $0.room == room && $0.entry.from == sender && $0.entry.id == id
    }
    var entry = found?.entry
    entry?.room = name
    return entry
  }

  package func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    try read(Statements.selectRoomEpochs(.int(room))).lastEntry(throughEpoch: number)
  }

  package func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    let rows = try read(Statements.selectEntry(.int(number), .int(seq)))
    return rows.isEmpty ? nil : rows.entry(0, in: room)
  }

  package func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    let rows = try read(Statements.selectLastEdit(.int(number), .int(target)))
    return rows.isEmpty ? nil : rows.entry(0, in: room)
  }

  package func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    Int(
      try read(Statements.countEdits(.int(number), .int(target), .int(Int64(limit)))).int(0, 0))
  }

  package func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    let (room, target, limit) = (
      PostgresValue.int(number), PostgresValue.int(target), PostgresValue.int(Int64(limit))
    )
    let rows = try read(
      user.map { Statements.selectOwnEmoji(room, target, limit, .text($0)) }
        ?? Statements.selectEmoji(room, target, limit))
    return Set((0..<rows.count).map { rows.text($0, 0) })
  }

  package func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    // The total is that of all nodes: in a turn, the same as here.
    min(total, try read(Statements.countChanges(.int(number), .int(seq))).int(0, 0))
  }

  /// How many runs are read at once.
  private static let runsAtOnce: Int64 = 64

  package func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    if let known = runs[number]?[seq] { return known }
    let rows = try read(
      Statements.selectRuns(.int(number), .int(seq), .int(Self.runsAtOnce)))
    guard !rows.isEmpty else { return nil }
    for row in 0..<rows.count {
      let run = ContentRun(
        last: rows.int(row, 0), sender: rows.text(row, 1), others: rows.int(row, 2))
      runs[number, default: [:]][run.last] = run
    }
    return ContentRun(last: rows.int(0, 0), sender: rows.text(0, 1), others: rows.int(0, 2))
  }

  package func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    let rows = try read(
      Statements.selectMemberships(.text(user), .int(number), .int(Int64(limit))))
    return (0..<rows.count).map { rows.membership($0, of: user) }
  }

  package func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    let rows = try read(Statements.selectMembership(.text(user), .text(name)))
    return rows.isEmpty ? nil : rows.membership(0, of: user)
  }

  package func membershipCount(of user: String) throws(StoreFailure) -> Int {
    Int(try read(Statements.countMemberships(.text(user))).int(0, 0))
  }

  // MARK: - Committing

  package func commit(_ changes: StoreChanges) throws(StoreFailure) {
    if let failure { throw failure }
    guard transaction == .turn, let connection else {
      throw StoreFailure("the batch has no turn")
    }
    let newMark = Int64.random(in: .min ... .max)
    let (newPosition, newBatch) = (position + 1, batch + 1)
    var calls = CommitCalls(changes, epoch: lineage.current.number).calls
    calls.append(
      Statements.insertFeed(
        .int(newPosition), .int(node), .int(newMark), .bytes(FeedContent.encode(changes))))
    calls.append(Statements.updateNode(.int(node), .int(newPosition), .int(newBatch)))
    calls.append(Statements.notify(.text(connector.channel)))
    calls.append(Statements.commit())
    let began = Int64(Instant.now().nanoseconds)
    do throws(PostgresError) {
      try connection.run(calls)
    } catch {
      guard error.isConnectionLost else { throw fail(error, "write") }
      note(error)
      transaction = nil
      try awaitOutcome(of: newBatch, error)
    }
    transaction = nil
    (position, mark, batch) = (newPosition, newMark, newBatch)
    pending = (position, mark)
    for room in changes.newRooms { lastRoom = max(lastRoom, room.number) }
    sync = began..<max(began, Int64(Instant.now().nanoseconds))
    commits += 1
    // From here on it is read outside of the turn; what a batch may still ask for does not change.
    (rooms, identities, runs) = ([:], [:], [:])
  }

  /// Finds out whether a commit whose answer was lost has been carried out. Takes the turn for that:
  /// the transaction of the lost connection has ended then.
  /// - Throws: if it was not, or if the log ends before that is known.
  private func awaitOutcome(of batch: Int64, _ lost: PostgresError) throws(StoreFailure) {
    while !isEnding() {
      guard let last = lastStoredBatch() else {
        usleep(Self.retryMicroseconds)
        continue
      }
      if last == batch { return }
      break
    }
    throw fail(lost, "write")
  }

  private static let retryMicroseconds: UInt32 = 100_000

  /// Returns the last batch of this node that is stored; `nil` if that cannot be found out now.
  private func lastStoredBatch() -> Int64? {
    do throws(PostgresError) {
      let rows = try connected().run(
        Statements.begin(), Statements.takeTurn(.int(connector.turnKey)),
        Statements.selectNode(.int(node)), Statements.rollback())
      if !rows[2].isEmpty { return rows[2].int(0, 0) }
      end("This relay had no connection for so long that the others have forgotten it.")
      return -1
    } catch {
      if !error.isConnectionLost { _ = try? connection?.run(Statements.rollback()) }
      note(error)
      return nil
    }
  }
}
