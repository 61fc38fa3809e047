import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

@Suite struct `A store whose index is indexed in the background` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(
    _ name: String = "data", keep: Int64 = 0, segmentEntries: Int? = nil
  ) throws -> StoreHarness {
    try StoreHarness(folder[name], keep: keep, segmentEntries: segmentEntries)
  }

  private func ids(_ range: ClosedRange<Int>) -> [String] { range.map(String.init) }

  /// Entries 1 to 40, of which the first 20 are indexed; and as many of another room.
  private func fill(_ harness: StoreHarness) throws {
    for id in 1...20 {
      harness.send(id...id)
      harness.send(id...id, to: "other", as: "bo")
    }
    try harness.index()
    for id in 21...40 {
      harness.send(id...id)
      harness.send(id...id, to: "other", as: "bo")
    }
  }

  private func expectAll(_ harness: StoreHarness) {
    #expect(harness.ids() == ids(1...40))
    #expect(harness.ids(after: 15, through: 25) == ids(16...25))
    #expect(harness.ids(of: "other", after: 19, through: 21) == ids(20...21))
    let again = harness.send(1...40)
    #expect(again.map(\.seq) == Array(1...40))
    #expect(again.allSatisfy { $0.duplicate })
    #expect(harness.send(1...1, as: "cy").map(\.duplicate) == [false])
    let joined = harness.subscribe("general", as: "ada", after: 0)
    #expect(joined?.head == 41)
    #expect(joined?.read == 40)
  }

  @Test func `reads and finds across the border`() throws {
    let harness = try open()
    try fill(harness)
    #expect(harness.store.shared.unindexed == 40)
    expectAll(harness)
  }

  @Test func `is the same after a start, wherever the border is`() throws {
    try fill(try open())
    for step in 0..<3 {
      try folder.copy("data", to: "step-\(step)")
      let harness = try open("step-\(step)")
      #expect(harness.store.discardedIndex == nil)
      expectAll(harness)
      let next = try open()
      if step == 1 { try next.index() }
    }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `has no duplicates if it dies between the index and the memory`() throws {
    let harness = try open()
    try fill(harness)
    harness.store.shared.seal()
    _ = try harness.indexer.indexNext()
    // The files are now as a killed process leaves them.
    try folder.copy("data", to: "killed")
    #expect(try Store.verify(folder: folder["killed"]).breaks.isEmpty)
    let survivor = try open("killed")
    #expect(survivor.store.shared.unindexed == 0)
    expectAll(survivor)
  }

  enum Damage: String, CaseIterable {
    case deleted, cutOff, overwritten, foreign, older, ofAnotherVersion, mixed
  }

  @Test(arguments: Damage.allCases)
  func `rebuilds an index that cannot be used`(_ damage: Damage) throws {
    do {
      let harness = try open()
      try fill(harness)
      if damage == .older { try folder.copy("data", to: "before") }
      try harness.index()
      try harness.indexer.checkpoint()
    }
    let index = folder["data/index.db"]
    switch damage {
    case .deleted: try run("rm", index)
    case .cutOff:
      try run("rm", "-f", "\(index)-wal", "\(index)-shm")
      try run("truncate", "-s", "20000", index)
    case .overwritten:
      try folder.write(Array(repeating: 0x41, count: 50_000), to: "data/index.db")
    case .foreign:
      let other = try open("other")
      try fill(other)
      try other.index()
      try folder.copy("other/index.db", to: "data/index.db")
      try folder.copy("other/index.db-wal", to: "data/index.db-wal")
    case .older:
      // A backup of the journal, beside an index with later entries.
      try run("cp", folder["before/relay.db"], folder["data/relay.db"])
      try run("cp", folder["before/relay.db-wal"], folder["data/relay.db-wal"])
      try SQL(index).run("UPDATE progress SET position = 81, seen = 81")
    case .mixed:
      // Pages of different times: the recorded progress is behind the segments.
      try SQL(index).run("DELETE FROM segments WHERE number = 2; UPDATE progress SET position = 40")
    case .ofAnotherVersion: try SQL(index).run("PRAGMA user_version = 99")
    }
    let harness = try open()
    #expect((harness.store.discardedIndex == nil) == (damage == .deleted))
    #expect(harness.store.shared.unindexed == 80)
    expectAll(harness)
    try harness.index()
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `rebuilds an index that proves to be wrong while it is in use`() throws {
    do {
      let harness = try open()
      try fill(harness)
      try SQL(folder["data/index.db"]).run("DELETE FROM runs WHERE room = 1")
      #expect(harness.ids(of: "other") == ids(1...40))
      #expect(harness.ids() == ["failed"])
    }
    expectAll(try open())
  }

  @Test func `indexes a large backlog at startup`() throws {
    do { try fill(try open()) }
    try run("rm", folder["data/index.db"])
    let harness = try open(segmentEntries: 10)
    // All but a few segments, which are left to the background.
    #expect(harness.store.shared.unindexed <= 50)
    expectAll(harness)
  }

  @Test func `continues if the index cannot be written, and indexes later`() throws {
    let harness = try open()
    harness.send(1...20)
    harness.indexer.limit(pages: 1)
    for batch in 0..<20 { harness.send(batch * 1000 + 21...batch * 1000 + 1020) }
    harness.store.shared.seal()
    #expect(throws: StoreFailure.self) { while try harness.indexer.indexNext() {} }
    #expect(harness.send(20_021...20_021).map(\.duplicate) == [false])
    #expect(harness.send(5...5).map(\.duplicate) == [true])
    #expect(harness.ids(after: 20_019) == ids(20_020...20_021))
    harness.indexer.limit(pages: 0)
    try harness.index()
    #expect(harness.store.shared.unindexed == 0)
    #expect(harness.send(5...5).map(\.duplicate) == [true])
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `removes the ids of a member that left from the index`() throws {
    do {
      let harness = try open()
      harness.send(1...5)
      _ = harness.submit([.forget(room: "general", user: "ada")])
      _ = harness.subscribe("general", as: "ada")
      harness.send(6...9, as: "bo")
      try harness.index()
    }
    #expect(try open().subscribe("general", as: "ada")?.read == 5)
    do { try open().send(10...10) }
    #expect(try open().subscribe("general", as: "ada")?.read == 5)
  }

  @Test func `releases the space of entries that are no longer kept`() throws {
    let harness = try open(keep: 100)
    for batch in 0..<100 {
      harness.send(batch * 100 + 1...batch * 100 + 100)
      harness.send(batch + 1...batch + 1, to: "quiet")
      if batch % 10 == 9 { try harness.index() }
    }
    try harness.store.checkpoint()
    let before = folder.bytes(of: "data/relay.db")
    try harness.sweep()
    while harness.store.vacuum() {}
    harness.indexer.vacuum()
    try harness.store.checkpoint()
    try harness.indexer.checkpoint()
    #expect(folder.bytes(of: "data/relay.db") < before * 7 / 10)
    #expect(try SQL(folder["data/relay.db"]).integer("SELECT count(*) FROM entries") == 200)
    // The older segments contain only the quiet room's entries.
    let identities = try SQL(folder["data/index.db"]).integer(
      "SELECT sum(length(postings)) / 8 FROM identities")
    #expect(identities < 1500)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    #expect(harness.ids() == ids(9901...10_000))
    #expect(harness.ids(of: "quiet") == ids(1...100))
    #expect(harness.send(9950...9950).map(\.duplicate) == [true])
    #expect(harness.send(5...5, to: "quiet").map(\.duplicate) == [true])
    #expect(harness.send(17...17).map(\.duplicate) == [false])
  }

  @Test func `keeps the marks of users whose entries are no longer kept`() throws {
    do {
      let harness = try open(keep: 10)
      _ = harness.subscribe("general", as: "bo")
      harness.send(1...5, as: "bo")
      harness.send(1...30)
      try harness.index()
      try harness.sweep()
    }
    try run("rm", folder["data/index.db"])
    let harness = try open(keep: 10)
    #expect(harness.subscribe("general", as: "cy")?.members?.first { $0.user == "bo" }?.read == 5)
    try harness.index()
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `does not find entries that are no longer kept but still in the file`() throws {
    let harness = try open(keep: 10)
    harness.send(1...30)
    #expect(harness.send(3...3).map(\.seq) == [31])
    try harness.index()
    #expect(harness.send(4...4).map(\.seq) == [32])
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `has many index segments, and finds the entries of each`() throws {
    let harness = try open(segmentEntries: 64)
    for id in 1...1000 {
      harness.send(id...id, to: "room-\(id % 7)")
      _ = try harness.indexer.indexNext()
    }
    for id in 1...1000 {
      #expect(harness.send(id...id, to: "room-\(id % 7)").map(\.duplicate) == [true])
    }
    #expect(try Store.verify(folder: folder["data"]).count.entries == 1000)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test(arguments: [
    (
      "UPDATE runs SET room = 3 WHERE room = 2", "#3: the 20 entries in the index and the 0 entries"
    ),
    (
      "DELETE FROM runs WHERE room = 1",
      "room general: the 0 entries in the index and the 20 entries in the journal do not match"
    ),
    ("UPDATE runs SET first_seq = first_seq + 1", "the 20 entries in the journal do not match"),
    ("DELETE FROM identities", "entry 1 cannot be found by its id in the index"),
    ("DELETE FROM senders WHERE room = 1", "room general: the index lacks some senders"),
    ("UPDATE senders SET seq = 7 WHERE room = 1", ", but 7 in the index"),
    ("UPDATE progress SET epoch = 'x'", "it belongs to another store"),
    ("UPDATE progress SET seen = 9999", "it is ahead of the store"),
  ])
  func `is compared with its journal by verify`(_ change: String, _ problem: String) throws {
    do { try fill(try open()) }
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    try SQL(folder["data/index.db"]).run(change)
    let verification = try Store.verify(folder: folder["data"])
    #expect(
      verification.breaks.contains { $0.description.contains(problem) }, "\(verification.breaks)")
    #expect(
      verification.breaks.allSatisfy { $0.description.contains("the next start rebuilds it") })
  }

  @Test func `an index that has removed more entries does not read an older backup of the journal`()
    throws
  {
    do {
      let harness = try open(keep: 20, segmentEntries: 10)
      harness.send(1...20)
      try harness.index()
      try run("mkdir", "-p", folder["before"])
      try run("cp", folder["data/relay.db"], folder["data/relay.db-wal"], folder["before"])
      harness.send(21...24)
      try harness.sweep()
    }
    #expect(try SQL(folder["data/relay.db"]).integer("SELECT min(seq) FROM entries") == 5)
    try run("cp", folder["before/relay.db"], folder["data/relay.db"])
    try run("cp", folder["before/relay.db-wal"], folder["data/relay.db-wal"])
    #expect(try open().store.discardedIndex == "it is ahead of the store")
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  /// A store of the first version: two indexes, and marks that include the user's own entries.
  @Test func `takes over a store of the first version`() throws {
    try run("mkdir", "-p", folder["data"])
    let old = try SQL(folder["data/relay.db"])
    try old.run(
      """
      PRAGMA page_size = 4096;
      PRAGMA journal_mode = WAL;
      CREATE TABLE epochs (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL,
        started_at INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE rooms (
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, first INTEGER NOT NULL DEFAULT 1
      ) STRICT;
      CREATE TABLE entries (
        position INTEGER PRIMARY KEY, room INTEGER NOT NULL, seq INTEGER NOT NULL,
        epoch INTEGER NOT NULL, at INTEGER NOT NULL, identity INTEGER NOT NULL,
        sender TEXT NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, body BLOB NOT NULL
      ) STRICT;
      CREATE UNIQUE INDEX entries_by_place ON entries (room, seq);
      CREATE INDEX entries_by_identity ON entries (identity);
      CREATE TABLE members (
        room INTEGER NOT NULL, user TEXT NOT NULL, read INTEGER NOT NULL, received INTEGER NOT NULL,
        PRIMARY KEY (room, user)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX members_by_user ON members (user);
      PRAGMA application_id = \(0x5245_4C59);
      PRAGMA user_version = 1;
      INSERT INTO epochs VALUES (1, 'first-epoch', 0, 1);
      INSERT INTO rooms VALUES (1, 'general', 1);
      INSERT INTO members VALUES (1, 'ada', 300, 300), (1, 'bo', 7, 9);
      """)
    for seq in 1...300 as ClosedRange<Int64> {
      let identity = EntryIdentity(
        room: 1, sender: "ada", id: "\(seq)", key: .none
      ).hash
      try old.run(
        """
        INSERT INTO entries VALUES (\(seq), 1, \(seq), 1, 5, \(identity), 'ada', '\(seq)', 'text',
          CAST('"text":"hi"' AS BLOB))
        """)
    }
    do {
      let harness = try open(segmentEntries: 50)
      #expect(harness.ids() == ids(1...300))
      #expect(harness.send(5...5).map(\.duplicate) == [true])
      #expect(harness.send(301...301).map(\.seq) == [301])
      let joined = harness.subscribe("general", as: "bo")
      #expect(joined?.read == 7)
      #expect(joined?.received == 9)
      #expect(joined?.members?.first { $0.user == "ada" }?.read == 301)
      try harness.index()
      #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    }
    #expect(
      try old.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'entries_by%'") == 0)

    // Retention deletes old rows and new ones at once.
    let harness = try open(keep: 20, segmentEntries: 50)
    harness.send(302...340)
    try harness.index()
    try harness.sweep()
    #expect(try old.integer("SELECT count(*) FROM entry_rows") == 0)
    #expect(harness.ids() == ids(321...340))
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }
}
