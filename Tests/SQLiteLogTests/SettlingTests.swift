import Relay
import SQLiteLog
import Testing
import Wire

@Suite struct `A store whose index is settled in the background` {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func open(
    _ name: String = "data", keep: Int64 = 0, segmentEntries: Int? = nil
  ) throws -> StoreDesk {
    try StoreDesk(directory[name], keep: keep, segmentEntries: segmentEntries)
  }

  private func ids(_ range: ClosedRange<Int>) -> [String] { range.map(String.init) }

  /// Entries 1 to 40, of which the first 20 are settled; and as many of another room.
  private func fill(_ desk: StoreDesk) throws {
    for id in 1...20 {
      desk.send(id...id)
      desk.send(id...id, to: "other", as: "bo")
    }
    try desk.settle()
    for id in 21...40 {
      desk.send(id...id)
      desk.send(id...id, to: "other", as: "bo")
    }
  }

  private func expectAll(_ desk: StoreDesk) {
    #expect(desk.ids() == ids(1...40))
    #expect(desk.ids(after: 15, through: 25) == ids(16...25))
    #expect(desk.ids(of: "other", after: 19, through: 21) == ids(20...21))
    let again = desk.send(1...40)
    #expect(again.map(\.seq) == Array(1...40))
    #expect(again.allSatisfy { $0.duplicate })
    #expect(desk.send(1...1, as: "cy").map(\.duplicate) == [false])
    let joined = desk.enter("general", as: "ada", after: 0)
    #expect(joined?.head == 41)
    #expect(joined?.read == 40)
  }

  @Test func `reads and finds across the border`() throws {
    let desk = try open()
    try fill(desk)
    #expect(desk.store.shared.unsettled == 40)
    expectAll(desk)
  }

  @Test func `is the same after a start, wherever the border is`() throws {
    try fill(try open())
    for step in 0..<3 {
      try directory.copy("data", to: "step-\(step)")
      let desk = try open("step-\(step)")
      #expect(desk.store.discardedIndex == nil)
      expectAll(desk)
      let next = try open()
      if step == 1 { try next.settle() }
    }
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
  }

  @Test func `has nothing twice if it dies between the index and the memory`() throws {
    let desk = try open()
    try fill(desk)
    desk.store.shared.seal()
    _ = try desk.settler.settle()
    // What lies on disk now is what a killed process leaves behind.
    try directory.copy("data", to: "killed")
    #expect(try Store.verify(directory: directory["killed"]).breaks.isEmpty)
    let survivor = try open("killed")
    #expect(survivor.store.shared.unsettled == 0)
    expectAll(survivor)
  }

  enum Damage: String, CaseIterable {
    case deleted, cutOff, overwritten, foreign, older, ofAnotherVersion, mixed
  }

  @Test(arguments: Damage.allCases)
  func `makes an index anew that cannot be used`(_ damage: Damage) throws {
    do {
      let desk = try open()
      try fill(desk)
      if damage == .older { try directory.copy("data", to: "before") }
      try desk.settle()
      try desk.settler.checkpoint()
    }
    let index = directory["data/index.db"]
    switch damage {
    case .deleted: try run("rm", index)
    case .cutOff:
      try run("rm", "-f", "\(index)-wal", "\(index)-shm")
      try run("truncate", "-s", "20000", index)
    case .overwritten:
      try directory.write(Array(repeating: 0x41, count: 50_000), to: "data/index.db")
    case .foreign:
      let other = try open("other")
      try fill(other)
      try other.settle()
      try directory.copy("other/index.db", to: "data/index.db")
      try directory.copy("other/index.db-wal", to: "data/index.db-wal")
    case .older:
      // A backup of the journal, beside an index that knows what came later.
      try run("cp", directory["before/relay.db"], directory["data/relay.db"])
      try run("cp", directory["before/relay.db-wal"], directory["data/relay.db-wal"])
      try SQL(index).run("UPDATE progress SET position = 81, seen = 81")
    case .mixed:
      // Pages of two times: what has been settled is behind what there is of it.
      try SQL(index).run("DELETE FROM shelves WHERE number = 2; UPDATE progress SET position = 40")
    case .ofAnotherVersion: try SQL(index).run("PRAGMA user_version = 99")
    }
    let desk = try open()
    #expect((desk.store.discardedIndex == nil) == (damage == .deleted))
    #expect(desk.store.shared.unsettled == 80)
    expectAll(desk)
    try desk.settle()
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
  }

  @Test func `makes an index anew that turned out to be wrong while it was in use`() throws {
    do {
      let desk = try open()
      try fill(desk)
      try SQL(directory["data/index.db"]).run("DELETE FROM runs WHERE room = 1")
      #expect(desk.ids(of: "other") == ids(1...40))
      #expect(desk.ids() == ["failed"])
    }
    expectAll(try open())
  }

  @Test func `settles at a start what is much`() throws {
    do { try fill(try open()) }
    try run("rm", directory["data/index.db"])
    let desk = try open(segmentEntries: 10)
    // All but a few stretches, which are left to the background.
    #expect(desk.store.shared.unsettled <= 50)
    expectAll(desk)
  }

  @Test func `goes on where the index cannot be written, and settles later`() throws {
    let desk = try open()
    desk.send(1...20)
    desk.settler.limit(pages: 1)
    for batch in 0..<20 { desk.send(batch * 1000 + 21...batch * 1000 + 1020) }
    desk.store.shared.seal()
    #expect(throws: StoreFailure.self) { while try desk.settler.settle() {} }
    #expect(desk.send(20_021...20_021).map(\.duplicate) == [false])
    #expect(desk.send(5...5).map(\.duplicate) == [true])
    #expect(desk.ids(after: 20_019) == ids(20_020...20_021))
    desk.settler.limit(pages: 0)
    try desk.settle()
    #expect(desk.store.shared.unsettled == 0)
    #expect(desk.send(5...5).map(\.duplicate) == [true])
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
  }

  @Test func `forgets by the index what a member sent before it left`() throws {
    do {
      let desk = try open()
      desk.send(1...5)
      _ = desk.submit([.forget(room: "general", user: "ada")])
      _ = desk.enter("general", as: "ada")
      desk.send(6...9, as: "bo")
      try desk.settle()
    }
    #expect(try open().enter("general", as: "ada")?.read == 0)
    do { try open().send(10...10) }
    #expect(try open().enter("general", as: "ada")?.read == 10)
  }

  @Test func `gives back the space of what is no longer kept`() throws {
    let desk = try open(keep: 100)
    for batch in 0..<100 {
      desk.send(batch * 100 + 1...batch * 100 + 100)
      desk.send(batch + 1...batch + 1, to: "quiet")
      if batch % 10 == 9 { try desk.settle() }
    }
    try desk.store.checkpoint()
    let before = directory.bytes(of: "data/relay.db")
    try desk.sweep()
    while desk.store.vacuum() {}
    desk.settler.vacuum()
    try desk.store.checkpoint()
    try desk.settler.checkpoint()
    #expect(directory.bytes(of: "data/relay.db") < before / 2)
    #expect(try SQL(directory["data/relay.db"]).integer("SELECT count(*) FROM entries") == 200)
    // The quiet room's entries are all there is in the older stretches.
    let identities = try SQL(directory["data/index.db"]).integer(
      "SELECT sum(length(words)) / 8 FROM identities")
    #expect(identities < 1500)
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
    #expect(desk.ids() == ids(9901...10_000))
    #expect(desk.ids(of: "quiet") == ids(1...100))
    #expect(desk.send(9950...9950).map(\.duplicate) == [true])
    #expect(desk.send(5...5, to: "quiet").map(\.duplicate) == [true])
    #expect(desk.send(17...17).map(\.duplicate) == [false])
  }

  @Test func `keeps the marks of those whose entries are no longer kept`() throws {
    do {
      let desk = try open(keep: 10)
      _ = desk.enter("general", as: "bo")
      desk.send(1...5, as: "bo")
      desk.send(1...30)
      try desk.settle()
      try desk.sweep()
    }
    try run("rm", directory["data/index.db"])
    let desk = try open(keep: 10)
    #expect(desk.enter("general", as: "cy")?.members?.first { $0.user == "bo" }?.read == 5)
    try desk.settle()
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
  }

  @Test func `does not find what is no longer kept, though it is still there`() throws {
    let desk = try open(keep: 10)
    desk.send(1...30)
    #expect(desk.send(3...3).map(\.seq) == [31])
    try desk.settle()
    #expect(desk.send(4...4).map(\.seq) == [32])
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
  }

  @Test func `has many shelves, and finds what is on each`() throws {
    let desk = try open(segmentEntries: 64)
    for id in 1...1000 {
      desk.send(id...id, to: "room-\(id % 7)")
      _ = try desk.settler.settle()
    }
    for id in 1...1000 {
      #expect(desk.send(id...id, to: "room-\(id % 7)").map(\.duplicate) == [true])
    }
    #expect(try Store.verify(directory: directory["data"]).count.entries == 1000)
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
  }

  @Test(arguments: [
    ("UPDATE runs SET room = 3 WHERE room = 2", "#3: the index has 20 entries of it"),
    (
      "DELETE FROM runs WHERE room = 1",
      "room general: the index has 0 entries of it, and not all of the 20"
    ),
    ("UPDATE runs SET first_seq = first_seq + 1", "and not all of the 20 at their places"),
    ("DELETE FROM identities", "entry 1 is not found by its id in the index"),
    ("DELETE FROM senders WHERE room = 1", "room general: the index does not have all who sent"),
    ("UPDATE senders SET seq = 7 WHERE room = 1", "the index has 7 as the last entry of ada"),
    ("UPDATE progress SET epoch = 'x'", "it belongs to another store"),
    ("UPDATE progress SET seen = 9999", "it is ahead of the store"),
  ])
  func `is held against its journal by verify`(_ change: String, _ problem: String) throws {
    do { try fill(try open()) }
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
    try SQL(directory["data/index.db"]).run(change)
    let verification = try Store.verify(directory: directory["data"])
    #expect(
      verification.breaks.contains { $0.description.contains(problem) }, "\(verification.breaks)")
    #expect(verification.breaks.allSatisfy { $0.description.contains("makes it anew") })
  }

  @Test func `a backup of the journal is not read by an index that has forgotten more since`()
    throws
  {
    do {
      let desk = try open(keep: 20, segmentEntries: 10)
      desk.send(1...20)
      try desk.settle()
      try run("mkdir", "-p", directory["before"])
      try run("cp", directory["data/relay.db"], directory["data/relay.db-wal"], directory["before"])
      desk.send(21...24)
      try desk.sweep()
    }
    #expect(try SQL(directory["data/relay.db"]).integer("SELECT min(seq) FROM entries") == 5)
    try run("cp", directory["before/relay.db"], directory["data/relay.db"])
    try run("cp", directory["before/relay.db-wal"], directory["data/relay.db-wal"])
    #expect(try open().store.discardedIndex == "it is ahead of the store")
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
  }

  /// As the first version of the relay left it: two indices, and marks that include what was sent.
  @Test func `takes over a store of the first version`() throws {
    try run("mkdir", "-p", directory["data"])
    let old = try SQL(directory["data/relay.db"])
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
    let desk = try open(segmentEntries: 50)
    #expect(desk.ids() == ids(1...300))
    #expect(desk.send(5...5).map(\.duplicate) == [true])
    #expect(desk.send(301...301).map(\.seq) == [301])
    let joined = desk.enter("general", as: "bo")
    #expect(joined?.read == 7)
    #expect(joined?.received == 9)
    #expect(joined?.members?.first { $0.user == "ada" }?.read == 301)
    try desk.settle()
    #expect(try Store.verify(directory: directory["data"]).breaks.isEmpty)
    #expect(
      try old.integer("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'entries_by%'") == 0)
  }
}
