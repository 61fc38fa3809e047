import Glibc
import Relay
import SQLite
import TestSupport
import Testing
import Wire

@testable import SQLiteLog

@Suite struct `A store of an earlier version` {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try DataFolder(folder["data"]).create { _ in }
  }

  private var path: String { folder["data/relay.db"] }

  private var writtenBytes: Int {
    var status = stat()
    return unsafe stat("\(path)-wal", &status) == 0 ? Int(status.st_size) : 0
  }

  /// Makes the file that a relay of that version has after two rooms were used: `general`, in which ada
  /// and bo alternate, and `dm:ada:bo`, all of which ada has sent.
  private func make(version: Int, entries: Int) throws {
    let database = try Database(path: path, mode: .create)
    try database.execute("PRAGMA journal_mode = WAL; BEGIN; \(Schema.steps[0])")
    try database.execute(
      """
      INSERT INTO epochs VALUES (1, 'first', 0, 1000), (2, 'second', \(entries), 2000);
      INSERT INTO rooms (number, name) VALUES (1, 'general'), (2, 'dm:ada:bo');
      INSERT INTO members VALUES
        (1, 'ada', 1, 1), (1, 'bo', 2, 2), (2, 'ada', 0, 0), (2, 'bo', 1, 1);
      """)
    var insert = try Statement(
      "INSERT INTO entries VALUES (?1, ?2, ?3, ?4, 1000, ?5, ?6, ?7, 'text', ?8)", on: database)
    var seqs: [Int64: Int64] = [:]
    for position in 1...2 * entries {
      let room: Int64 = position % 2 == 0 ? 2 : 1
      let sender = position % 4 == 3 ? "bo" : "ada"
      let id = "\(position)"
      seqs[room, default: 0] += 1
      let identity = EntryIdentity(room: room, sender: sender, id: id, key: .none)
      try insert.bind(1, Int64(position))
      try insert.bind(2, room)
      try insert.bind(3, seqs[room] ?? 0)
      try insert.bind(4, position <= entries ? 1 : 2)
      try insert.bind(5, identity.hash)
      try insert.bind(6, sender)
      try insert.bind(7, id)
      try insert.bind(8, ClientMessage.Send(room: "", id: id, text: "text \(id)").body)
      try insert.run()
    }
    for step in Schema.steps[1..<version] { try database.execute(step) }
    try database.execute(
      """
      PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(version); COMMIT
      """)
  }

  private static let versions = 1..<Schema.steps.count

  @Test(arguments: versions)
  func `has all entries, ids and marks after it was opened`(_ version: Int) async throws {
    try make(version: version, entries: 50)
    let log = try SQLiteLog(folder: folder["data"])
    let harness = try LogHarness(log)
    let page = try #require(await harness.page("general", after: 0, through: 50))
    #expect(page.frames.entries.map(\.id) == stride(from: 1, to: 100, by: 2).map(String.init))
    #expect(page.frames.entries.map(\.seq) == Array(1...50))
    let joined = try #require(await harness.subscribe("general", as: "bo", after: 0))
    #expect(joined.head == 50)
    #expect(joined.lineage.map(\.epoch).dropFirst() == ["second", "first"])
    #expect(
      joined.members == [
        Marks(user: "ada", read: 1, received: 1), Marks(user: "bo", read: 2, received: 2),
      ])
    #expect(await harness.memberships(of: "ada").map(\.room).sorted() == ["dm:ada:bo", "general"])
    let again = await harness.submit([
      .append("general", "ada", "1", text: "text 1"), .append("general", "ada", "new"),
    ])
    #expect(again.acks.map(\.seq) == [1, 51])
    #expect(again.acks.map(\.duplicate) == [true, false])
    log.stop()
    let verification = try Store.verify(folder: folder["data"])
    #expect(verification.breaks.isEmpty, "\(verification.breaks)")
    #expect(verification.count == StoreCount(rooms: 2, entries: 101))
    #expect(verification.notes.count == 1)
    #expect(verification.notes.first?.contains("have no checksums") == true)
  }

  @Test func `is as before or migrated wherever the process is killed`() throws {
    let entries = 10_000
    try make(version: 1, entries: entries)
    try run("cp", "-r", folder["data"], folder["original"])
    var found: Set<Int64> = []
    var killed = 0
    for delay in 0..<12 {
      try run("rm", "-r", folder["data"])
      try run("cp", "-r", folder["original"], folder["data"])
      let process = try ChildProcess([
        Programs.path(of: "relay"), "migrate", "--data", folder["data"],
      ])
      // From the first bytes that it writes on.
      while writtenBytes == 0, process.isRunning { usleep(100) }
      usleep(UInt32(delay * 150))
      process.signal(SIGKILL)
      if try process.wait() == .signal(SIGKILL) { killed += 1 }
      found.insert(
        try Database(path: path, mode: .readOnly).integer("PRAGMA user_version"))
      try SQLiteLog(folder: folder["data"]).stop()
      let verification = try Store.verify(folder: folder["data"])
      #expect(verification.breaks.isEmpty, "\(verification.breaks)")
      #expect(verification.count.entries == 2 * entries)
    }
    #expect(killed > 0)
    #expect(found.isSubset(of: [1, Schema.version]) && found.contains(1))
  }
}
