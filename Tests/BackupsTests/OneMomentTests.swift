import ObjectStorage
import Platform
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Backups

@Suite struct `A backup beside a program that writes` {
  /// Each run makes a point after each of its slices, while transactions of all kinds are committed, and the
  /// write-ahead log begins anew all the time.
  @Test func `is as of one moment`() throws {
    let folder = try TemporaryFolder()
    let data = folder["data"]
    try PrivateFiles.createFolder(data)
    let bank = try Bank(path: "\(data)/relay.db")
    let isOver = Atomic(false)
    try withThread {
      var database = bank
      while !isOver.load(ordering: .relaxed) { try database.transfer() }
    } body: {
      defer { isOver.store(true, ordering: .relaxed) }
      for run in 1...8 {
        let before = try Bank.count(path: "\(data)/relay.db")
        var options = BackupRun.Options()
        options.intervalMilliseconds = 0
        options.bytesPerSecond = 8_000_000
        let storage = FolderStorage(folder["backup"])
        try BackupRun(folder: data, storage: storage, options: options, report: { _ in }).run()
        let restored = folder["restored\(run)"]
        _ = try Restore(from: storage).run(.last, into: restored) { _ in }
        try Bank.check(path: "\(restored)/relay.db", countsAtLeast: before)
      }
    }
  }

  private func withThread(
    _ work: @escaping @Sendable () throws -> Void, body: () throws -> Void
  ) throws {
    let failure = Mutex<String?>(nil)
    let thread = try WorkerThread(name: "writer") {
      do { try work() } catch { failure.withLock { $0 = "\(error)" } }
    }
    defer { thread.join() }
    try body()
    #expect(failure.withLock { $0 } == nil)
  }
}

/// A database whose values have the same sum after each transaction.
private struct Bank: Sendable {
  private static let accounts: Int64 = 500
  private static let sum: Int64 = 50_000

  private let path: String
  private var generator = SystemRandomNumberGenerator()

  init(path: String) throws {
    self.path = path
    let database = try Database(path: path, mode: .create)
    database.addPageChecksums()
    try database.execute(
      """
      PRAGMA auto_vacuum = INCREMENTAL;
      PRAGMA journal_mode = WAL;
      CREATE TABLE epochs (number INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO epochs VALUES (1, 'first');
      CREATE TABLE accounts (number INTEGER PRIMARY KEY, value INTEGER, note BLOB);
      CREATE TABLE counter (count INTEGER);
      INSERT INTO counter VALUES (0);
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT \(Self.accounts))
      INSERT INTO accounts SELECT n, \(Self.sum / Self.accounts), randomblob(2000) FROM numbers;
      """)
  }

  /// Commits some transactions, and moves pages from the log as a relay does.
  mutating func transfer() throws {
    let database = try Database(path: path, mode: .readWrite)
    try database.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF")
    for _ in 0..<200 {
      let from = Int64.random(in: 1...Self.accounts, using: &generator)
      let to = Int64.random(in: 1...Self.accounts, using: &generator)
      let length = Int.random(in: 0...6000, using: &generator)
      try database.execute(
        """
        BEGIN IMMEDIATE;
        UPDATE accounts SET value = value - 1, note = randomblob(\(length)) WHERE number = \(from);
        UPDATE accounts SET value = value + 1 WHERE number = \(to);
        UPDATE counter SET count = count + 1;
        COMMIT
        """)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0: _ = try database.checkpoint(.truncate)
      case 1, 2: _ = try database.checkpoint()
      case 3: _ = try database.vacuum(pages: 8)
      default: break
      }
    }
  }

  static func count(path: String) throws -> Int64 {
    try Database(path: path, mode: .readOnly).integer("SELECT count FROM counter")
  }

  static func check(path: String, countsAtLeast least: Int64) throws {
    let database = try Database(path: path, mode: .readOnly)
    #expect(try database.integrityFindings() == [])
    #expect(try database.integer("SELECT sum(value) FROM accounts") == sum)
    #expect(try database.integer("SELECT count FROM counter") >= least)
  }
}
