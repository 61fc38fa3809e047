internal import Postgres
public import Relay
internal import Wire

extension Maintenance {
  /// Imports as `Store.import` of SQLite does: all lines or none, and only rooms that do not exist. No
  /// relay may use the log meanwhile.
  ///
  /// A log without rooms also takes the epochs of the lines, so that clients of the old store resume
  /// where they were; the first relay then begins another one. Otherwise the rooms get an epoch of their
  /// own, and clients start them over.
  /// - Parameter nextLine: returns one line, without its line break, or `nil` after the last; blank lines
  ///   are skipped.
  /// - Throws: `StoreFailure`, with the number of the rejected line, or the error of `nextLine`.
  public static func `import`(
    url: String, options: PostgresLog.Options = .init(), nextLine: () throws -> [UInt8]?
  ) throws -> StoreCount {
    let connector = Connector(url: url, schema: options.schema)
    // The connection ends with this function, and with it what was not committed.
    var importer = try attempt("import") { () throws(PostgresError) in
      var settings = ServerSettings(options)
      let connection = try connect(connector, "import")
      try settings.check(connection)
      return try Importer(connection, connector)
    }
    var number = 0
    do {
      while let line = try nextLine() {
        number += 1
        if line.allSatisfy({ $0 <= 0x20 }) { continue }
        switch try ImportLine(decoding: line) {
        case .entry(let line): try importer.add(line)
        case .marks(let marks): try importer.rooms.record(marks)
        case .trim(let line): try importer.trim(line)
        case .rules(let line): try importer.rooms.record(line)
        case .standing(let line): try importer.rooms.record(line)
        case .direct(let line): try importer.rooms.record(line)
        case .block(let line): importer.add(line)
        case .ban(let line): importer.add(line)
        case .file(let line): importer.files.files.append(line.file)
        }
      }
      return try importer.commit()
    } catch let error as ExportLine.Malformed {
      throw StoreFailure(
        "Line \(number) cannot be imported: \(error.reason). Nothing was imported.")
    } catch let error as PostgresError {
      throw StoreFailure("could not import in PostgreSQL: \(error). Nothing was imported")
    }
  }
}

/// An import in progress, in one transaction that holds the lock.
private struct Importer {
  private static let entriesAtOnce = 500
  private static let bytesAtOnce = 1 << 20

  private let connection: PostgresConnection
  private let identityKey: EntryIdentity.Key
  private let known: Set<String>
  private let lastRoom: Int64
  private var lastEpoch: Int64
  var rooms: [String: ImportedRoom] = [:]
  /// The numbers of the epochs of the lines, by name.
  private var epochs: [String: Int64] = [:]
  private var count = StoreCount()

  /// What is sent with the next statements: all of one epoch.
  private var changes = StoreChanges()
  private var changedBytes = 0
  private var epoch: Int64 = 0
  /// The files, and the entries that name them, which come before them.
  var files = StoreChanges()

  private static let selectRelays = PostgresStatement(
    once: """
      SELECT count(*) FROM nodes
      WHERE seen_at > clock_timestamp() - make_interval(secs => $1::bigint)
      """)
  private static let selectLast = PostgresStatement(
    once: """
      SELECT (SELECT coalesce(max(number), 0) FROM epochs),
        (SELECT coalesce(max(number), 0) FROM rooms)
      """)
  private static let insertEpoch = PostgresStatement(
    once: """
      INSERT INTO epochs (number, name, position, started_at, system, timeline, store)
      VALUES ($1::bigint, $2::text, (SELECT coalesce(max(position), 0) FROM feed),
        (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0, 0, 0)
      """)

  init(_ connection: PostgresConnection, _ connector: Connector) throws(PostgresError) {
    self.connection = connection
    let key = try connector.lockKey(on: connection)
    let rows = try connection.run(
      Statements.begin(), Statements.takeLock(.int(key)),
      Self.selectRelays(.int(Int64(FeedListener.lifeSeconds))), Statements.selectSettings(),
      PostgresStatement(once: "SELECT name FROM rooms")(), Self.selectLast())
    guard rows[2].int(0, 0) == 0 else {
      throw PostgresError(
        "\(rows[2].int(0, 0)) relays use the log, or were killed less than "
          + "\(FeedListener.lifeSeconds) s ago; stop them")
    }
    guard !rows[3].isEmpty, let identityKey = EntryIdentity.Key(bytes: rows[3].byteString(0, 0))
    else {
      throw PostgresError("the store is damaged: it has no settings")
    }
    self.identityKey = identityKey
    known = Set((0..<rows[4].count).map { rows[4].text($0, 0) })
    lastRoom = rows[5].int(0, 1)
    lastEpoch = rows[5].int(0, 0)
  }

  /// - Throws: `ExportLine.Malformed` or `PostgresError`.
  mutating func add(_ line: ExportLine) throws {
    let name = line.entry.room
    if RoomName.isReserved(name) { return }
    let number = try number(ofEpoch: line.epoch)
    if number != epoch || changes.entries.count >= Self.entriesAtOnce
      || changedBytes >= Self.bytesAtOnce
    {
      try flush()
      epoch = number
    }
    if rooms[name] == nil { try makeRoom(name, first: line.entry.seq) }
    guard let new = try rooms[name]?.append(line, epoch: number, identityKey: identityKey)
    else { return }
    changes.entries.append(new)
    if new.entry.kind == .file { files.entries.append(new) }
    changedBytes += line.entry.body.count
    count.entries += 1
  }

  private mutating func makeRoom(_ name: String, first: Int64) throws(ExportLine.Malformed) {
    guard !known.contains(name) else {
      throw ExportLine.Malformed(reason: "the store already has a room \(name)")
    }
    let room = lastRoom + Int64(rooms.count) + 1
    rooms[name] = ImportedRoom(number: room, first: first)
    changes.newRooms.append((room, name))
    if first > 1 { changes.trims.append((room, first)) }
  }

  mutating func add(_ line: BlockLine) { changes.blocks.append(line.change) }

  mutating func add(_ line: BanLine) { changes.bans.append(line.change) }

  mutating func trim(_ line: TrimLine) throws {
    if RoomName.isReserved(line.room) { return }
    guard let room = rooms[line.room] else {
      // It has no entries any more.
      return try makeRoom(line.room, first: line.first)
    }
    try rooms[line.room]?.trim(line)
    files.trims.append((room.number, line.first))
    // After the entries that it trims.
    try flush()
    changes.trims.append((room.number, line.first))
  }

  /// Returns the number of the epoch that a line names, or of this import's own epoch.
  private mutating func number(ofEpoch name: String) throws(PostgresError) -> Int64 {
    let key = known.isEmpty ? name : ""
    if let number = epochs[key] { return number }
    if known.isEmpty, epochs.isEmpty {
      // Nothing is in the epochs that it has.
      try connection.run(PostgresStatement(once: "DELETE FROM epochs")())
      lastEpoch = 0
    }
    var random = SystemRandomNumberGenerator()
    lastEpoch += 1
    try connection.run(
      Self.insertEpoch(
        .int(lastEpoch), .text(known.isEmpty ? name : Lineage.randomName(using: &random))))
    epochs[key] = lastEpoch
    return lastEpoch
  }

  private mutating func flush() throws(PostgresError) {
    if !changes.isEmpty { try connection.run(CommitCalls(changes, epoch: epoch).calls) }
    changes = StoreChanges()
    changedBytes = 0
  }

  private static let selectDuplicate = PostgresStatement(
    once: """
      SELECT rooms.name, sender, id, min(seq), max(seq)
      FROM entries JOIN rooms ON rooms.number = entries.room WHERE room > $1::bigint
      GROUP BY rooms.name, sender, id HAVING count(*) > 1 LIMIT 1
      """)

  /// Writes the members of the rooms, and commits the transaction.
  mutating func commit() throws(PostgresError) -> StoreCount {
    try flush()
    let duplicate = try connection.run(Self.selectDuplicate(.int(lastRoom)))[0]
    guard duplicate.isEmpty else {
      throw PostgresError(
        "in room \(duplicate.text(0, 0)) the id \"\(duplicate.text(0, 2))\" of \(duplicate.text(0, 1)) "
          + "is used by seq \(duplicate.int(0, 3)) and \(duplicate.int(0, 4))")
    }
    for (name, room) in rooms {
      for marks in room.members(named: name) {
        changes.members.append(
          (
            room.number, marks.user, MemberMarks(read: marks.read, received: marks.received),
            marks.since
          ))
        if changes.members.count >= Self.entriesAtOnce { try flush() }
      }
      if !room.direct.isEmpty { changes.directs.append((room.number, room.direct)) }
      if let rules = room.rules { changes.rules.append((room.number, rules)) }
      for (user, standing) in room.standings {
        changes.standings.append((room.number, user, standing))
        if changes.standings.count >= Self.entriesAtOnce { try flush() }
      }
    }
    try flush()
    try connection.run(FileCalls(files).calls + [Statements.commit()])
    count.rooms = rooms.count
    return count
  }
}
