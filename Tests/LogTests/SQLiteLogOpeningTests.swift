import CSQLite
import Glibc
import Relay
import SQLiteLog
import Synchronization
import TestSupport
import Testing

@Suite struct `Opening a SQLite log` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func refusal(_ name: String = "data") -> StoreError? {
    do {
      try SQLiteLog(folder: folder[name]).stop()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test func `creates the folder for its owner only`() throws {
    try SQLiteLog(folder: folder["a/b/c/"]).stop()
    #expect(folder.bytes(of: "a/b/c/relay.db") > 0)
    #expect(try folder.permissions(of: "a/b/c") == 0o700)
  }

  @Test func `closes a folder and files that other users can read, and says so`() async throws {
    try SQLiteLog(folder: folder["data"]).stop()
    try run("chmod", "-R", "a+rX", folder["data"])
    let reports = Mutex<[String]>([])
    let log = try SQLiteLog(folder: folder["data"]) { text in
      reports.withLock { $0.append(text) }
    }
    defer { log.stop() }
    try await LogHarness(log).submit([.append("general", "ada", "1")])
    #expect(try folder.permissions(of: "data") == 0o700)
    let names = try fileNames(in: folder["data"])
    #expect(Set(names).isSuperset(of: ["relay.db", "relay.db-wal", "relay.db-shm", "index.db"]))
    for name in names { #expect(try folder.permissions(of: "data/\(name)") == 0o600, "\(name)") }
    #expect(reports.withLock { $0.count } == 1)
    #expect(reports.withLock { $0.first }?.contains("(mode 755)") == true)
  }

  @Test func `is refused in a folder of something else that other users can read`() throws {
    try folder.write([1], to: "home/letter")
    try run("chmod", "755", folder["home"])
    let error = try #require(refusal("home"))
    #expect(error.kind == .configuration)
    #expect(error.description.contains("files that are not a relay's"))
    #expect(try folder.permissions(of: "home") == 0o755)
    #expect(try fileNames(in: folder["home"]) == ["letter"])
    try run("chmod", "700", folder["home"])
    #expect(refusal("home") == nil)
  }

  @Test func `is refused while another log has the store, and not afterwards`() throws {
    let first = try SQLiteLog(folder: folder["data"])
    #expect(Store.isInUse(folder: folder["data"]))
    let error = try #require(refusal())
    #expect(error.kind == .environment)
    #expect(error.description.contains("in use by another process"))
    first.stop()
    #expect(!Store.isInUse(folder: folder["data"]))
    #expect(refusal() == nil)
  }

  @Test func `is refused if another process has the store`() throws {
    try SQLiteLog(folder: folder["data"]).stop()
    let other = try ChildProcess([
      "flock", "--no-fork", folder["data/lock"], "sh", "-c", "echo held; exec sleep 600",
    ])
    #expect(other.readLine() == "held")
    #expect(try #require(refusal()).description.contains("in use by another process"))
    other.signal(SIGKILL)
    try other.wait()
    #expect(refusal() == nil)
  }

  @Test func `is refused if a file has the name of the folder`() throws {
    try folder.write([1], to: "file")
    let inside = try #require(refusal("file/data"))
    #expect(inside.kind == .configuration)
    #expect(inside.description.contains("cannot be created: Not a directory"))
    let itself = try #require(refusal("file"))
    #expect(itself.description.contains("is not a folder"))
  }

  @Test func `is refused if the file is not a database`() throws {
    try folder.write(Array(repeating: 0x41, count: 10_000), to: "data/relay.db")
    let error = try #require(refusal())
    #expect(error.kind == .broken)
    #expect(error.description.contains("data/relay.db is not a database"))
    #expect(folder.bytes(of: "data/relay.db") == 10_000)
  }

  @Test(arguments: [true, false])
  func `is refused if only the rest of a store is there, and nothing is changed`(isMissing: Bool)
    throws
  {
    try SQLiteLog(folder: folder["data"]).stop()
    try run("rm", folder["data/relay.db"])
    if !isMissing { try folder.write("", to: "data/relay.db") }
    let path = folder["data"]
    for use in [
      { try SQLiteLog(folder: path).stop() }, { try Store.check(folder: path) },
      { _ = try Store.verify(folder: path) }, { _ = try Store.export(folder: path) { _ in } },
      { _ = try Store.import(folder: path) { nil } }, { _ = try Store.migrate(folder: path) },
    ] as [() throws -> Void] {
      let error = try #require(throws: StoreError.self) { try use() }
      #expect(error.kind == .broken)
      #expect(
        error.description.contains(
          "is \(isMissing ? "missing" : "empty"), but the folder has index.db"))
      #expect(error.description.contains("restore a backup"))
    }
    #expect(try fileNames(in: path).contains("relay.db") == !isMissing)
    #expect(folder.bytes(of: "data/relay.db") == 0)
    try run("rm", folder["data/index.db"])
    #expect(refusal() == nil)
    #expect(folder.bytes(of: "data/index.db") > 0)
  }

  @Test func `is refused beside a write-ahead log and an interrupted restore`() throws {
    for name in ["relay.db-wal", "restoring/relay.db"] {
      let data = "data-\(name.count)"
      try folder.write("x", to: "\(data)/\(name)")
      #expect(try #require(refusal(data)).description.contains("is missing, but"), "\(name)")
    }
  }

  @Test func `begins where a first start was interrupted, also beside what is no part of a store`()
    throws
  {
    for name in ["relay.db", "lock", "reserve", "accounts.db", "directory.json", "files/link.key"] {
      try folder.write("", to: "data/\(name)")
    }
    #expect(refusal() == nil)
    #expect(try Store.verify(folder: folder["data"]).count.entries == 0)
  }

  @Test func `is refused if the file is truncated`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    try await LogHarness(log).submit((1...500).map { .append("general", "ada", "\($0)") })
    log.stop()
    try run("truncate", "-s", "6000", folder["data/relay.db"])
    let error = try #require(refusal())
    #expect(error.kind == .broken)
    #expect(error.description.contains("is damaged"))
  }

  @Test func `is refused if the database is not a relay's`() throws {
    try run("mkdir", folder["data"])
    try SQL(folder["data/relay.db"]).run("CREATE TABLE recipes (name TEXT)")
    let error = try #require(refusal())
    #expect(error.kind == .configuration)
    #expect(error.description.contains("of another program"))
  }

  @Test func `is refused if a newer relay wrote the store`() throws {
    try SQLiteLog(folder: folder["data"]).stop()
    try SQL(folder["data/relay.db"]).run("PRAGMA user_version = 99")
    let error = try #require(refusal())
    #expect(error.kind == .configuration)
    #expect(error.description.contains("schema version 99"))
    #expect(throws: StoreError.self) { try Store.verify(folder: folder["data"]) }
  }

  @Test func `gives the same store after a refusal`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    try await LogHarness(log).submit([.append("general", "ada", "1")])
    log.stop()
    let database = try SQL(folder["data/relay.db"])
    let version = try database.integer("PRAGMA user_version")
    try database.run("PRAGMA user_version = 99")
    #expect(refusal() != nil)
    try database.run("PRAGMA user_version = \(version)")
    #expect(refusal() == nil)
    #expect(try Store.verify(folder: folder["data"]).count.entries == 1)
  }
}
