import Mixing
import Relay
import SQLite
import TestSupport
import Testing
import Wire

@testable import SQLiteLog

/// The table `entries` beside a plain table with the same columns, and the format of its rows.
@Suite struct EntryTableTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a damaged text stops neither the start nor retention, and leaves the index alone`()
    throws
  {
    do {
      let harness = try StoreHarness(folder["data"])
      harness.send(1...40)
      try harness.index()
    }
    try SQL(folder["data/relay.db"]).run(
      """
      UPDATE packs SET content =
        CAST(substr(content, 1, length(content) - 5) || x'00' || substr(content, -4) AS BLOB)
      WHERE first = 1
      """)
    let breaks = try Store.verify(folder: folder["data"]).breaks
    #expect(
      breaks.map(\.description) == ["room general, seq 40: the entry at position 40 is damaged"])
    do {
      let harness = try StoreHarness(folder["data"])
      #expect(harness.history() == nil)
      #expect(folder.bytes(of: "data/index.db") > 0)
      #expect(harness.send(41...41).map(\.seq) == [41])
      // Only what needs the damaged entry is refused, and not what is stored with it.
      let edits = (1...40).map { number -> LogRequest in
        let id = "edit-\(number)"
        return LogRequest.append(
          .init(room: "general", id: id, edit: Int64(number), text: "new"), from: "ada")
      }
      let answers = harness.submit(edits + [.append("general", "bo", "unrelated")])
      #expect(answers.acks.count == 40)
      #expect(answers.acks.last?.id == "unrelated")
      #expect(answers.refusals.map(\.code) == [.noSuchEntry])
      #expect(harness.submit((1...40).map { .append("general", "ada", "\($0)") }).acks.count == 39)
    }
    let harness = try StoreHarness(folder["data"], keep: 1)
    harness.send(42...60)
    try harness.index()
    try harness.sweep()
    #expect(harness.history()?.entries.map(\.id) == ["60"])
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `a check of the store names all damaged entries`() throws {
    do {
      let harness = try StoreHarness(folder["data"])
      _ = harness.submit(
        (1...300).map { .append("general", "ada", "\($0)", text: "text \($0)") })
      try harness.index()
    }
    let file = try SQL(folder["data/relay.db"])
    for text in ["7", "120", "121"] {
      let text = "CAST('text \(text)\"' AS BLOB)"
      try file.run(
        """
        UPDATE packs SET content = CAST(substr(content, 1, instr(content, \(text)) - 1) || x'58'
          || substr(content, instr(content, \(text)) + 1) AS BLOB) WHERE instr(content, \(text)) > 0
        """)
    }
    let last = try file.integer("SELECT max(first) FROM packs")
    try file.run(
      "UPDATE packs SET content = CAST(x'02' || substr(content, 2) AS BLOB) WHERE first = \(last)")
    #expect(
      try Store.verify(folder: folder["data"]).breaks.map(\.description) == [
        "room general, seq 7: the entry at position 7 is damaged",
        "room general, seq 120: the entry at position 120 is damaged",
        "room general, seq 121: the entry at position 121 is damaged",
        "the entries from position \(last) on are damaged",
      ])
  }

  @Test func `a check of the store finds packs that overlap`() throws {
    try StoreHarness(folder["data"]).send(1...3)
    var pack = EntryPack(first: 2, at: 4)
    let body = Array("{}".utf8)
    pack.append(
      .init(position: 4, room: 1, seq: 4, epoch: 1, at: 4), sender: "ada", id: "4", kind: "text",
      body: body.span)
    let database = try Database(path: folder["data/relay.db"], mode: .readWrite)
    var insert = try Statement("INSERT INTO packs VALUES (2, ?1)", on: database)
    try insert.bind(1, pack.bytes)
    try insert.run()
    #expect(
      try Store.verify(folder: folder["data"]).breaks.map(\.description) == [
        "the entries from position 2 on begin before the end of those before"
      ])
  }

  @Test(arguments: [2, 3])
  func `a text is deleted although an edit of it is damaged, and so is no more`(damaged: Int) throws
  {
    try sendWithEdits()
    let text = "CAST('secret \(damaged)' AS BLOB)"
    try SQL(folder["data/relay.db"]).run(
      """
      UPDATE packs SET content = CAST(substr(content, 1, instr(content, \(text)) - 1) || x'58'
        || substr(content, instr(content, \(text)) + 1) AS BLOB) WHERE first = 1
      """)
    let breaks = try Store.verify(folder: folder["data"]).breaks
    #expect(breaks.contains { "\($0)".contains("damaged") })
    try deleteFirst()
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `a text is deleted although its pack cannot be taken apart behind it`() throws {
    try sendWithEdits()
    do {
      let database = try Database(path: folder["data/relay.db"], mode: .readWrite)
      var select = try Statement("SELECT first, content FROM packs WHERE first = 1", on: database)
      #expect(try select.step())
      var pack = try select.pack()
      select.reset()
      var bytes = pack.bytes
      for _ in 1...3 { _ = try pack.nextPlace() }
      // The length of the unrelated entry.
      let place = try #require(try pack.nextPlace()).bytes
      bytes[place.lowerBound + 3] = 0xFF
      var update = try Statement("UPDATE packs SET content = ?1 WHERE first = 1", on: database)
      try update.bind(1, bytes)
      try update.run()
    }
    #expect(
      try Store.verify(folder: folder["data"]).breaks.map(\.description) == [
        "the entries after position 3, up to the next pack, are damaged"
      ])
    try deleteFirst()
    let harness = try StoreHarness(folder["data"])
    #expect(harness.ids(through: 1) == ["1"])
    let secrets = try SQL(folder["data/relay.db"]).integer(
      "SELECT sum(instr(content, CAST('secret' AS BLOB))) FROM packs")
    #expect(secrets == 0)
  }

  @Test func `a room whose last entry cannot be found is unavailable, and others are not`() throws {
    do {
      let harness = try StoreHarness(folder["data"])
      // A start looks at the first entry, the last indexed one, and all later ones.
      harness.send(0...0, to: "first")
      harness.send(1...2)
      harness.send(3...3, to: "other")
      try harness.index()
    }
    try SQL(folder["data/relay.db"]).run(
      "UPDATE packs SET content = CAST(x'02' || substr(content, 2) AS BLOB) WHERE first = 2")
    let harness = try StoreHarness(folder["data"])
    let answers = harness.submit([
      .subscribe("general", "bo"), .append("general", "bo", "new"), .append("other", "bo", "4"),
    ])
    #expect(answers.acks.map(\.id) == ["4"])
    #expect(answers.refusals.map(\.code) == [.unavailable, .unavailable])
  }

  /// Stores a text, two edits of it, and an unrelated one, in one pack.
  private func sendWithEdits() throws {
    let edits = (2...3).map { edit in
      LogRequest.append(
        .init(room: "general", id: "edit-\(edit)", edit: 1, text: "secret \(edit)"), from: "ada")
    }
    let harness = try StoreHarness(folder["data"])
    let answers = harness.submit(
      [.append("general", "ada", "1")] + edits + [.append("another", "bo", "4")])
    #expect(answers.acks.count == 4)
    // A start looks at the last indexed entry, and at all later ones.
    harness.send(5...5, to: "other")
    try harness.index()
  }

  private func deleteFirst() throws {
    let harness = try StoreHarness(folder["data"])
    let answers = harness.submit([
      .append(.init(room: "general", id: "deletion", delete: 1), from: "ada"),
      .append("other", "bo", "unrelated"),
    ])
    #expect(answers.refusals.isEmpty)
    #expect(answers.acks.map(\.id) == ["deletion", "unrelated"])
  }

  /// A connection with `entries`, of which the first are in `entry_rows`, and `plain`.
  private func open(rows: Int = 0) throws -> Database {
    let database = try Database(path: folder["entries.db"], mode: .create)
    try database.execute(
      """
      CREATE TABLE entry_rows (
        position INTEGER PRIMARY KEY, room INTEGER, seq INTEGER, epoch INTEGER, at INTEGER,
        identity INTEGER, sender TEXT, id TEXT, kind TEXT, body BLOB, others INTEGER, content INTEGER);
      CREATE TABLE packs (first INTEGER PRIMARY KEY, content BLOB NOT NULL) STRICT;
      CREATE TABLE plain (
        position INTEGER PRIMARY KEY, room INTEGER, seq INTEGER, epoch INTEGER, at INTEGER,
        identity INTEGER, sender TEXT, id TEXT, kind TEXT, body BLOB, others INTEGER, content INTEGER);
      """)
    for position in 0..<rows {
      try database.execute(
        """
        INSERT INTO entry_rows VALUES
          (\(position + 1), 1, 2, 3, 4, 5, 'ada', 'a\(position)', 'text', x'2233', 1, 1);
        """)
    }
    try database.execute("INSERT INTO plain SELECT * FROM entry_rows")
    try EntryTable.add(to: database)
    return database
  }

  private func list(_ sql: String, _ database: borrowing Database) throws -> [String] {
    var statement = try Statement(sql, on: database)
    var rows: [String] = []
    while try statement.step() {
      rows.append(
        (0..<12).map { column in
          switch column {
          case 6...8: statement.text(Int32(column))
          case 9: String(decoding: statement.blob(Int32(column)), as: UTF8.self)
          default: "\(statement.integer(Int32(column)))"
          }
        }.joined(separator: "|"))
    }
    return rows
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `it has the rows that a plain table would have, whatever was inserted, changed and deleted`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let database = try open(rows: seed.isMultiple(of: 2) ? 0 : 20)
    func check(_ condition: String) throws {
      #expect(
        try list("SELECT * FROM entries \(condition)", database)
          == list("SELECT * FROM plain \(condition)", database), "\(condition)")
    }
    var writer = try EntryWriter.prepare(on: database)
    var position: Int64 = 20
    for _ in 0..<30 {
      let some = Int64.random(in: 1...position + 2, using: &random)
      let other = Int64.random(in: 1...position + 2, using: &random)
      switch Int.random(in: 0..<8, using: &random) {
      case 0...2:
        for _ in 0..<Int.random(in: 1...40, using: &random) {
          position += 1
          let text = String(repeating: "x", count: Int.random(in: 0...900, using: &random))
          let seq = Int64.random(in: 1...Entry.sequenceLimit, using: &random)
          let entry = Entry(
            room: "r", seq: seq, id: "\(seed)-\(position)",
            from: Bool.random(using: &random) ? "ada" : "bo",
            at: Int64.random(in: 0...2_000_000_000_000, using: &random),
            kind: [.text, .data, .edit, .delete, .react].randomElement(using: &random) ?? .text,
            body: Array("\"text\":\"\(text)\"".utf8))
          let new = StoreChanges.NewEntry(
            room: Int64.random(in: 1...100_000, using: &random),
            identity: EntryIdentity(hash: Int64.random(in: .min ... .max, using: &random)),
            entry: entry, others: Int64.random(in: 0..<seq, using: &random))
          try writer.append(new, at: position, epoch: 7)
          var insert = try Statement(
            "INSERT INTO plain VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
            on: database)
          for (column, value) in [
            (1, position), (2, new.room), (3, seq), (4, 7), (5, entry.at), (6, new.identity.hash),
            (11, seq - new.others), (12, seq - new.content),
          ] as [(Int32, Int64)] { try insert.bind(column, value) }
          try insert.bind(7, entry.from)
          try insert.bind(8, entry.id)
          try insert.bind(9, entry.kind.rawValue)
          try insert.bind(10, entry.body)
          try insert.run()
        }
        try writer.flush()
      case 3:
        let gone = (some...some + 30).filter { _ in Bool.random(using: &random) }
        try writer.delete(gone[...])
        for gone in gone { try database.execute("DELETE FROM plain WHERE position = \(gone)") }
      case 4:
        for table in ["entries", "plain"] {
          try database.execute(
            "UPDATE \(table) SET body = x'010203', at = 5 WHERE position = \(some)")
        }
      case 5:
        for table in ["entries", "plain"] {
          try database.execute(
            """
            UPDATE \(table) SET kind = 'song', room = -\(some)
            WHERE position BETWEEN \(some) AND \(other)
            """)
        }
      case 6:
        for table in ["entries", "plain"] {
          try database.execute(
            "DELETE FROM \(table) WHERE position > \(some) AND position < \(other)")
        }
      default:
        for table in ["entries", "plain"] {
          try database.execute(
            """
            DELETE FROM \(table) WHERE position = \(some);
            INSERT INTO \(table) VALUES
              (\(some), 1, 2, 3, -4, 5, 'ada', 'again', 'text', x'22', 1, 1)
            """)
        }
        position = max(position, some)
      }
      for order in ["ORDER BY position + 0", "ORDER BY position", "ORDER BY position DESC"] {
        try check("WHERE position >= \(some) \(order) LIMIT 50")
        try check("WHERE position > \(some) AND position <= \(other) \(order)")
        try check("WHERE position = \(some) \(order)")
      }
      try check("ORDER BY position DESC LIMIT 3")
      try check("WHERE room = 1 AND position < \(some) ORDER BY position")
      try check("WHERE position = NULL OR position = '\(some)' OR position > 1e300")
    }
    try check("ORDER BY position")
  }

  @Test func `a transaction that is rolled back leaves nothing`() throws {
    let database = try open()
    try database.execute(
      """
      BEGIN; INSERT INTO entries VALUES (1, 1, 2, 3, 4, 5, 'a', 'b', 'text', x'22', 1, 1); ROLLBACK
      """)
    #expect(try database.integer("SELECT count(*) FROM entries") == 0)
  }

  // MARK: - The format

  private func pack() -> EntryPack {
    var pack = EntryPack(first: 1000, at: 1_700_000_000_000)
    for (offset, kind) in [(0, "text"), (3, "react"), (4, "song")] as [(Int64, String)] {
      pack.append(
        EntryPack.Numbers(
          position: 1000 + offset, room: .max, seq: 1 << 53, epoch: 1, at: .min, identity: -1,
          others: 0, content: -7),
        sender: "ada", id: "ä", kind: kind, body: Array("\"text\":\"hi\"".utf8).span)
    }
    return pack
  }

  @Test func `each number is kept, whatever its size`() throws {
    let pack = pack()
    var reader = try EntryPackReader(first: 1000, pack.bytes)
    let row = try #require(try reader.next())
    #expect(row.numbers.position == 1000)
    #expect(row.numbers.room == .max)
    #expect(row.numbers.at == .min)
    #expect(row.numbers.identity == -1)
    #expect(row.numbers.content == -7)
    #expect(EntryPack.kinds[row.kind] == "text")
    #expect(try reader.next()?.numbers.position == 1003)
    let last = try #require(try reader.next())
    #expect(String(decoding: pack.bytes[last.kindText], as: UTF8.self) == "song")
    #expect(try reader.next() == nil)
  }

  @Test func `a change of any bit is found, and so is another first position`() throws {
    let sound = pack().bytes
    func read(_ bytes: [UInt8], first: Int64 = 1000) throws(SQLiteError) -> Int {
      var reader = try EntryPackReader(first: first, bytes)
      var count = 0
      while try reader.next() != nil { count += 1 }
      return count
    }
    #expect(try read(sound) == 3)
    #expect(throws: SQLiteError.self) { try read(sound, first: 1001) }
    for index in sound.indices {
      for bit in 0..<8 {
        var bytes = sound
        bytes[index] ^= 1 << UInt8(bit)
        #expect(throws: SQLiteError.self, "byte \(index), bit \(bit)") { try read(bytes) }
      }
    }
    for count in 0..<sound.count {
      let rows = try? read(Array(sound[..<count]))
      #expect(rows == nil || rows ?? 3 < 3, "\(count) bytes")
    }
  }

  @Test func `a damaged text cannot be read, and the error says where`() throws {
    let database = try open()
    try database.execute(
      """
      INSERT INTO entries VALUES (9, 1, 2, 3, 4, 5, 'ada', 'b', 'text', x'22', 1, 1);
      UPDATE packs SET content = CAST(substr(content, 1, length(content) - 5) || x'00' || substr(content, -4) AS BLOB)
      """)
    let error = #expect(throws: SQLiteError.self) {
      try database.integer("SELECT length(body) FROM entries WHERE position = 9")
    }
    #expect(error?.isCorruption == true)
    #expect(error?.isDamagedTable == true)
    #expect(error?.message.contains("from position 9 on") == true)
    #expect(try database.integer("SELECT seq FROM entries WHERE position = 9") == 2)
  }
}
