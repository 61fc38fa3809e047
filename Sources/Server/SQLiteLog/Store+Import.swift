internal import Platform
public import Relay
internal import SQLite
internal import Wire

extension Store {
  /// Adds the rooms of an export: all of them or, if a line is rejected, none. The relay's own rooms
  /// are left out. In a room without marks the senders become members again, with everything up to
  /// their own last entry marked as read.
  ///
  /// A store without entries also takes the epochs of the lines, so that clients of the old store
  /// resume where they were. Any other store gives them a new epoch, and clients start those rooms
  /// over: what they hold cannot be told apart from this store's own entries.
  /// - Parameters:
  ///   - report: receives messages for the operator.
  ///   - nextLine: returns one line, without its line break, or `nil` after the last; blank lines are
  ///     skipped.
  /// - Throws: `StoreError`, with the number of the rejected line, or the error of `nextLine`.
  public static func `import`(
    folder path: String, report: (String) -> Void = { _ in }, nextLine: () throws -> [UInt8]?
  ) throws -> StoreCount {
    let folder = DataFolder(path)
    try folder.create(report)
    let lock = try folder.lock()
    defer { withExtendedLifetime(lock) {} }
    let database = try Schema.openForWriting(folder, durability: .fsync)
    do {
      try database.execute("BEGIN IMMEDIATE")
      // Returning without a commit closes the connection, which rolls the transaction back.
      var importer = try Importer.prepare(database)
      var number = 0
      do {
        while let line = try nextLine() {
          number += 1
          if line.allSatisfy({ $0 <= 0x20 }) { continue }
          switch try ImportLine(decoding: line) {
          case .entry(let line): try importer.add(line, line: number)
          case .marks(let marks): try importer.rooms.record(marks)
          case .trim(let line): try importer.trim(line)
          case .rules(let line): try importer.rooms.record(line)
          case .standing(let line): try importer.rooms.record(line)
          case .direct(let line): try importer.rooms.record(line)
          case .block(let line): try importer.add(line)
          case .ban(let line): try importer.add(line)
          case .file(let line): try importer.add(line)
          }
        }
        try importer.checkSuspects()
      } catch let error as ExportLine.Malformed {
        throw StoreError(
          .configuration,
          "Line \(error.line ?? number) cannot be imported: \(error.reason). Nothing was imported.")
      }
      let count = try importer.commit()
      importer.makeIndex(in: folder)
      return count
    } catch let error as SQLiteError {
      throw StoreError(error, "write", path: folder.databasePath)
    }
  }
}

/// An import in progress, within one transaction.
private struct Importer: ~Copyable {
  /// An entry whose id may be a duplicate.
  struct Suspect {
    var identity: EntryIdentity
    var line: Int
  }

  /// How many entries are checked for duplicates at once.
  private static let suspectLimit = 100_000
  private static let firstFilterEntries = 1 << 20

  private let database: Database
  private let bringsEpochs: Bool
  /// The position of the last entry before this import.
  private let start: Int64
  private var position: Int64
  private let identityKey: EntryIdentity.Key
  /// Each twice as large as the previous one, since the number of lines is unknown.
  private var filters: [IdentityFilter] = []
  /// How many more entries the last filter is sized for.
  private var filterRoom = 0
  /// By position. Rooms are new, so that duplicates can only occur within the import.
  private var suspects: [Int64: Suspect] = [:]
  var rooms: [String: ImportedRoom] = [:]
  /// The first kept entries of rooms that were trimmed during the export, by the rooms' numbers.
  private var trims: [Int64: Int64] = [:]
  private var epochs: [String: Int64] = [:]
  private var count = StoreCount()
  private var selectRoom: Statement
  private var insertRoom: Statement
  private var entries: EntryWriter
  private var insertMember: Statement
  private var changes: ChangeStatements
  private var updateChanges: Statement
  private var rules: RulesStatements
  private var blocks: BlockStatements
  private var files: FileStatements
  /// Entries that name files, which come after them.
  private var named: [(entry: Entry, room: Int64)] = []

  static func prepare(_ database: consuming Database) throws(SQLiteError) -> Importer {
    let last = try database.integer("SELECT \(Schema.lastPosition)")
    let begun = try database.integer("SELECT coalesce(max(position), 0) FROM epochs")
    let selectRoom = try Statement("SELECT 1 FROM rooms WHERE name = ?1", on: database)
    let insertRoom = try Statement(
      "INSERT INTO rooms (name, first) VALUES (?1, ?2) RETURNING number", on: database)
    let entries = try EntryWriter.prepare(on: database)
    let insertMember = try Statement(
      "INSERT INTO members (room, user, read, received, since) VALUES (?1, ?2, ?3, ?4, ?5)",
      on: database)
    let changes = try ChangeStatements.prepare(on: database)
    let updateChanges = try Statement(Schema.updateChanges, on: database)
    let rules = try RulesStatements.prepare(on: database)
    let blocks = try BlockStatements.prepare(on: database)
    let files = try FileStatements.prepare(on: database)
    let identityKey = try Schema.identityKey(of: database)
    return Importer(
      database: database, bringsEpochs: last == 0, position: max(last, begun),
      identityKey: identityKey,
      selectRoom: selectRoom, insertRoom: insertRoom, entries: entries,
      insertMember: insertMember,
      changes: changes, updateChanges: updateChanges, rules: rules, blocks: blocks,
      files: files)
  }

  private init(
    database: consuming Database, bringsEpochs: Bool, position: Int64,
    identityKey: EntryIdentity.Key, selectRoom: consuming Statement,
    insertRoom: consuming Statement,
    entries: consuming EntryWriter, insertMember: consuming Statement,
    changes: consuming ChangeStatements, updateChanges: consuming Statement,
    rules: consuming RulesStatements, blocks: consuming BlockStatements,
    files: consuming FileStatements
  ) {
    self.database = database
    self.bringsEpochs = bringsEpochs
    self.start = position
    self.position = position
    self.identityKey = identityKey
    self.selectRoom = selectRoom
    self.insertRoom = insertRoom
    self.entries = entries
    self.insertMember = insertMember
    self.changes = changes
    self.updateChanges = updateChanges
    self.rules = rules
    self.blocks = blocks
    self.files = files
  }

  /// - Throws: `ExportLine.Malformed` or `SQLiteError`.
  mutating func add(_ line: ExportLine, line number: Int) throws {
    let entry = line.entry
    if RoomName.isReserved(entry.room) { return }
    let epoch = try epoch(line.epoch)
    if rooms[entry.room] == nil {
      rooms[entry.room] = try makeRoom(entry.room, first: entry.seq)
    }
    guard
      let new = try rooms[entry.room]?.append(line, epoch: epoch, identityKey: identityKey)
    else { return }
    position += 1
    try entries.append(new, at: position, epoch: epoch)
    try insert(new.identity, line: number)
    if entry.kind == .file { named.append((entry, new.room)) }
    if let change = new.change {
      try changes.record(entry, room: new.room, position: position, change)
    }
    count.entries += 1
  }

  mutating func add(_ line: BlockLine) throws(SQLiteError) { try blocks.store(line.change) }

  mutating func add(_ line: BanLine) throws(SQLiteError) { try blocks.store(line.change) }

  mutating func add(_ line: FileLine) throws(SQLiteError) { try files.add(line.file) }

  /// - Throws: `ExportLine.Malformed` or `SQLiteError`.
  mutating func trim(_ line: TrimLine) throws {
    if RoomName.isReserved(line.room) { return }
    guard let room = rooms[line.room] else {
      // It has no entries any more.
      rooms[line.room] = try makeRoom(line.room, first: line.first)
      return
    }
    try rooms[line.room]?.trim(line)
    trims[room.number] = line.first
  }

  /// Removes what a log removes when it trims rooms; entries are found by reading all.
  private mutating func deleteTrimmed() throws(SQLiteError) {
    if trims.isEmpty { return }
    for (room, first) in trims {
      try database.execute(
        """
        UPDATE rooms SET first = \(first) WHERE number = \(room);
        DELETE FROM changes WHERE room = \(room) AND seq < \(first);
        DELETE FROM edits WHERE room = \(room) AND seq < \(first);
        DELETE FROM reactions WHERE room = \(room) AND target < \(first);
        """)
    }
    try database.execute(
      """
      DELETE FROM entries WHERE position > \(start) AND seq < (
        SELECT first FROM rooms WHERE number = room)
      """)
    count.entries -= Int(database.changes)
  }

  /// Writes the members of the rooms, and commits the transaction.
  mutating func commit() throws(SQLiteError) -> StoreCount {
    try entries.flush()
    for (entry, room) in named where entry.seq >= trims[room] ?? 0 {
      try files.record(entry, inRoom: room)
    }
    try deleteTrimmed()
    for (name, room) in rooms {
      for marks in room.members(named: name) {
        try insertMember.bind(1, room.number)
        try insertMember.bind(2, marks.user)
        try insertMember.bind(3, marks.read)
        try insertMember.bind(4, marks.received)
        try insertMember.bind(5, marks.since)
        try insertMember.run()
      }
      try blocks.store(room.direct, ofRoom: room.number)
      if let settled = room.rules {
        try rules.store(settled, ofRoom: room.number)
        for (user, standing) in room.standings {
          try rules.store(standing, of: user, inRoom: room.number)
        }
      }
      try updateChanges.bind(1, room.number)
      try updateChanges.bind(2, room.changes)
      try updateChanges.run()
    }
    count.rooms = rooms.count
    try database.execute("COMMIT")
    return count
  }

  /// Indexes the import, to save the next start most of that work. If this fails, the next start
  /// does it.
  func makeIndex(in folder: DataFolder) {
    guard
      var select = try? Statement(
        "SELECT name FROM epochs ORDER BY number DESC LIMIT 1", on: database),
      (try? select.step()) == true
    else { return }
    let store = OpenStore(folder, vfs: nil, epoch: select.text(0), tail: Tail())
    select.reset()
    _ = try? IndexLoader(store: store).load(from: database)
  }

  private mutating func makeRoom(_ name: String, first: Int64) throws -> ImportedRoom {
    try selectRoom.bind(1, name)
    defer { selectRoom.reset() }
    guard try !selectRoom.step() else {
      throw ExportLine.Malformed(reason: "the store already has a room \(name)")
    }
    try insertRoom.bind(1, name)
    try insertRoom.bind(2, first)
    defer { insertRoom.reset() }
    _ = try insertRoom.step()
    return ImportedRoom(number: insertRoom.integer(0), first: first)
  }

  /// Records every entry whose id may be a duplicate, and about one in a thousand others.
  private mutating func insert(_ identity: EntryIdentity, line: Int) throws {
    let key = IdentityFilter.Key(identity)
    if filters.contains(where: { $0.mayContain(key) }) {
      suspects[position] = Suspect(identity: identity, line: line)
      if suspects.count >= Self.suspectLimit { try checkSuspects() }
    }
    if filterRoom == 0 {
      filterRoom = Self.firstFilterEntries << filters.count
      filters.append(IdentityFilter(entries: filterRoom))
    }
    filterRoom -= 1
    filters[filters.count - 1].insert(key)
  }

  /// Reads the imported entries again, and compares those that may be duplicates.
  /// - Throws: `ExportLine.Malformed` or `SQLiteError`.
  mutating func checkSuspects() throws {
    if suspects.isEmpty { return }
    try entries.flush()
    let identities = Set(suspects.values.map(\.identity.hash))
    var known: [[String]: Int64] = [:]
    var select = try Statement(
      """
      SELECT identity, position, seq, room, sender, id FROM entries WHERE position > ?1
      ORDER BY position
      """, on: database)
    try select.bind(1, start)
    while try select.step() {
      guard identities.contains(select.integer(0)) else { continue }
      let name = ["\(select.integer(3))", select.text(4), select.text(5)]
      if let seq = known[name], let suspect = suspects[select.integer(1)] {
        throw ExportLine.Malformed(
          reason: "the id \"\(select.text(5))\" of \(select.text(4)) is already used by seq \(seq)",
          line: suspect.line)
      }
      known[name] = known[name] ?? select.integer(2)
    }
    suspects.removeAll(keepingCapacity: true)
  }

  /// Returns the number of the epoch that a line names, or of this import's own epoch.
  private mutating func epoch(_ name: String) throws(SQLiteError) -> Int64 {
    let name = bringsEpochs ? name : ""
    if let known = epochs[name] { return known }
    var select = try Statement("SELECT number FROM epochs WHERE name = ?1", on: database)
    try select.bind(1, name)
    let number: Int64
    if try select.step() {
      number = select.integer(0)
    } else {
      var generator = SystemRandomNumberGenerator()
      number = try StoreState.addEpoch(
        bringsEpochs ? name : Lineage.randomName(using: &generator), position: position,
        now: WallClock.milliseconds, to: database)
    }
    epochs[name] = number
    return number
  }
}
