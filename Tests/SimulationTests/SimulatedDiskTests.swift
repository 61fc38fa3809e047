import CSQLite
import Testing

@testable import Simulation

@Suite struct `A simulated disk` {
  /// A disk and SQLite on it.
  @safe final class Harness {
    let disk: SimulatedDisk
    let fileSystem: SimulatedFileSystem
    private var connection: OpaquePointer?

    init(seed: UInt64) {
      disk = SimulatedDisk(seed: seed)
      fileSystem = SimulatedFileSystem(disk, name: "test-\(Simulation.nextNumber())")
    }

    func open() {
      let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      #expect(unsafe sqlite3_open_v2("/a.db", &connection, flags, fileSystem.name) == SQLITE_OK)
    }

    func close() {
      unsafe sqlite3_close(connection)
      unsafe connection = nil
    }

    /// - Returns: SQLite's result code.
    @discardableResult
    func execute(_ sql: String) -> Int32 { unsafe sqlite3_exec(connection, sql, nil, nil, nil) }

    func integer(_ sql: String) -> Int64? {
      var statement: OpaquePointer?
      defer { unsafe sqlite3_finalize(statement) }
      guard unsafe sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK,
        unsafe sqlite3_step(statement) == SQLITE_ROW
      else { return nil }
      return unsafe sqlite3_column_int64(statement, 0)
    }

    func losePower() {
      disk.die()
      close()
      disk.losePower()
    }
  }

  @Test func `synced commits survive every loss of power, whatever else is lost`() {
    for seed in 0..<60 as Range<UInt64> {
      let harness = Harness(seed: seed)
      harness.open()
      harness.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x)")
      for value in 0..<20 { harness.execute("INSERT INTO t VALUES (\(value))") }
      harness.execute("BEGIN; INSERT INTO t SELECT x FROM t")
      harness.losePower()
      harness.open()
      #expect(harness.integer("SELECT count(*) FROM t") == 20, "seed \(seed)")
      harness.close()
    }
  }

  @Test func `unsynced writes are lost at times`() {
    var losses = 0
    for seed in 0..<40 as Range<UInt64> {
      let harness = Harness(seed: seed)
      harness.open()
      harness.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x); PRAGMA synchronous = OFF")
      for value in 0..<5 { harness.execute("INSERT INTO t VALUES (\(value))") }
      harness.losePower()
      harness.open()
      if harness.integer("SELECT count(*) FROM t") != 5 { losses += 1 }
      harness.close()
    }
    #expect(losses > 5)
  }

  @Test func `a process that dies loses nothing that it wrote`() {
    let harness = Harness(seed: 1)
    harness.open()
    harness.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (x)")
    for value in 0..<5 { harness.execute("INSERT INTO t VALUES (\(value))") }
    harness.disk.die()
    #expect(harness.execute("INSERT INTO t VALUES (9)") != SQLITE_OK)
    harness.close()
    harness.disk.endProcess()
    harness.open()
    #expect(harness.integer("SELECT count(*) FROM t") == 5)
    harness.close()
  }

  @Test func `a full disk refuses to grow, and continues when it has space again`() {
    let harness = Harness(seed: 1)
    harness.open()
    harness.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
    harness.disk.trouble.isFull = true
    #expect(harness.execute("INSERT INTO t VALUES (zeroblob(100000))") == SQLITE_FULL)
    harness.disk.trouble.isFull = false
    #expect(harness.execute("INSERT INTO t VALUES (zeroblob(100000))") == SQLITE_OK)
    harness.close()
  }

  @Test func `pages that a failed sync gave up are passed over by the next one`() {
    var losses = 0
    for seed in 0..<40 as Range<UInt64> {
      let file = DiskFile()
      var random = Generator(state: seed)
      file.write([1, 2, 3], at: 0)
      file.failSync(using: &random)
      #expect(file.content == [1, 2, 3])
      file.sync()
      if file.durable != [1, 2, 3] { losses += 1 }
    }
    #expect(losses > 5)
    #expect(losses < 35)
  }

  @Test func `a torn write leaves whole sectors of the old and of the new`() {
    var torn = 0
    for seed in 0..<60 as Range<UInt64> {
      let file = DiskFile(Array(repeating: 0, count: 4096))
      var random = Generator(state: seed)
      var tally = Tally()
      file.write(Array(repeating: 1, count: 4096), at: 0)
      file.losePower(keepPercent: 50, using: &random, &tally)
      let sectors = stride(from: 0, to: 4096, by: 512).map { Set(file.content[$0..<$0 + 512]) }
      #expect(sectors.allSatisfy { $0.count == 1 })
      if Set(sectors).count == 2 { torn += 1 }
    }
    #expect(torn > 2)
  }

  @Test func `of a file that grows the first changes survive, and none without those before it`() {
    var lengths: Set<Int> = []
    for seed in 0..<60 as Range<UInt64> {
      let file = DiskFile([], .appended)
      var random = Generator(state: seed)
      var tally = Tally()
      for value in 0..<4 as Range<UInt8> { file.write([value], at: Int(value)) }
      file.losePower(keepPercent: 50, using: &random, &tally)
      #expect(file.content == Array([0, 1, 2, 3].prefix(file.content.count)))
      lengths.insert(file.content.count)
    }
    #expect(lengths.count > 2)
  }

  /// - Returns: in how many of 60 losses of power a file was lost whose bytes, and the names of these folders, were synced.
  private func losses(syncing folders: [String]) throws -> Int {
    var losses = 0
    for seed in 0..<60 as Range<UInt64> {
      let disk = SimulatedDisk(seed: seed)
      let system = SimulatedFolderDisk(disk, root: "/data")
      try system.createFolder("/data/files")
      try system.write([1, 2, 3], to: "/data/files/a")
      try system.sync("/data/files/a")
      for folder in folders { try system.sync(folder) }
      disk.die()
      disk.losePower()
      if let file = disk.file("/data/files/a") {
        #expect(file.content == [1, 2, 3])
      } else {
        losses += 1
      }
    }
    return losses
  }

  @Test func `a file is durable with its name and with those of its folders`() throws {
    #expect(try losses(syncing: ["/data/files", "/data"]) == 0)
    #expect(try losses(syncing: ["/data/files"]) > 5)
    #expect(try losses(syncing: ["/data"]) > 5)
  }

  struct Generator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }
}
