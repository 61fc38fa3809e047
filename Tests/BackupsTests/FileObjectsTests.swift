import ObjectStorage
import Platform
import SQLite
import Synchronization
import TLS
import TestSupport
import Testing

@testable import Backups

@Suite struct `The bytes of files in a backup` {
  private let folder: TemporaryFolder
  private let data: String
  private let hook = Hook()
  /// A new one, since a folder stays locked as long as its storage is there.
  private var storage: HookedStorage { HookedStorage(FolderStorage(folder["backup"]), hook) }

  init() throws {
    folder = try TemporaryFolder()
    data = folder["data"]
    try PrivateFiles.createFolder(data)
    try database(
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE epochs (number INTEGER PRIMARY KEY, name TEXT);
      INSERT INTO epochs VALUES (1, 'first');
      CREATE TABLE files (hash TEXT, thumbnail TEXT);
      """)
  }

  private func database(_ statements: String) throws {
    let database = try Database(path: "\(data)/relay.db", mode: .create)
    database.addPageChecksums()
    try database.execute(statements)
  }

  private func hash(_ text: String) -> String {
    SHA256Digest.hex(SHA256Digest.of(Array(text.utf8)))
  }

  /// Makes the store know a file.
  private func name(_ text: String) throws {
    try database("INSERT INTO files VALUES ('\(hash(text))', '')")
  }

  /// Stores the bytes of a file in the data folder.
  private func store(_ text: String, as content: String? = nil) throws {
    let path = FileObjectName.path(of: hash(text), inDataFolder: data)
    try PrivateFiles.createFolder(String(path.dropLast(65)))
    try WholeFile.write(Array((content ?? text).utf8), to: path)
  }

  @discardableResult
  private func backUp(_ options: BackupRun.Options = .init()) throws -> BackupRun {
    let run = try BackupRun(folder: data, storage: storage, options: options, report: { _ in })
    try run.run()
    return run
  }

  private func restored() throws -> (outcome: Restore.Outcome, hashes: Set<String>) {
    let place = try TemporaryFolder()
    let outcome = try Restore(from: storage).run(.last, into: place["data"]) { _ in }
    let store = try Database(path: "\(place["data"])/relay.db", mode: .readOnly)
    return (outcome, try store.fileHashes())
  }

  @Test func `a point never names bytes that were deleted before they were copied`() throws {
    try name("one")
    try store("one")
    // Two files come after the first copying; while one of them is copied, the other one goes.
    hook.before { name in
      if name.hasPrefix(hash("one")) {
        try self.name("gone")
        try self.name("two")
        try self.store("two")
      } else if name.hasPrefix(hash("two")) {
        try self.database("DELETE FROM files WHERE hash = '\(self.hash("gone"))'")
      }
    }
    let run = try backUp()
    #expect(run.lostFiles == [])
    let restored = try restored()
    #expect(restored.outcome.lostFiles == [])
    #expect(restored.hashes == [hash("one"), hash("two")])
  }

  @Test func `bytes that were stored again meanwhile are not lost`() throws {
    try name("one")
    try store("one")
    try name("late")
    hook.before { if $0.hasPrefix(hash("one")) { try self.store("late") } }
    #expect(try backUp().lostFiles == [])
    #expect(try restored().outcome.lostFiles == [])
  }

  @Test func `bytes that do not have their hash are named, and stored once they have it`() throws {
    try name("one")
    try store("one", as: "0ne")
    #expect(try backUp().lostFiles == [hash("one")])
    #expect(try restored().outcome.lostFiles == [hash("one")])
    try store("one")
    try database("INSERT INTO epochs VALUES (2, 'second')")
    #expect(try backUp().lostFiles == [])
    #expect(try restored().outcome.lostFiles == [])
  }

  @Test func `a content that is needed again is not deleted`() throws {
    try name("one")
    try store("one")
    try backUp()
    let files = storage.folder(FileObjects.folder)
    try database("DELETE FROM files")
    try backUp()
    #expect(try files.list().count == 2)
    try name("one")
    try backUp()
    #expect(try files.list() == ["\(hash("one")).1-1"])
    var options = BackupRun.Options()
    (options.keepSeconds, options.fullEverySeconds) = (0, 0)
    for _ in 0..<3 { try backUp(options) }
    #expect(try restored().outcome.lostFiles == [])
    try database("DELETE FROM files")
    for _ in 0..<3 { try backUp(options) }
    #expect(try files.list() == [])
  }

  @Test(arguments: [
    "a.1-1", "\(String(repeating: "a", count: 64)).2-1", "\(String(repeating: "a", count: 64)).0-1",
    "\(String(repeating: "a", count: 64)).1-1.new", "\(String(repeating: "g", count: 64)).1-1",
    "\(String(repeating: "a", count: 64)).unneeded-1", "\(String(repeating: "a", count: 64)).+1-1",
  ])
  func `other names are left alone`(name: String) {
    #expect(FileObjectName(name) == nil)
  }
}

/// Called before an object is stored.
private final class Hook: Sendable {
  private let body = Mutex<(@Sendable (String) throws -> Void)?>(nil)

  func before(_ body: @escaping @Sendable (String) throws -> Void) {
    self.body.withLock { $0 = body }
  }

  func run(_ name: String) {
    guard let body = body.withLock({ $0 }) else { return }
    #expect(throws: Never.self) { try body(name) }
  }
}

/// A storage with a hook.
private struct HookedStorage: ObjectStorage {
  let base: any ObjectStorage
  let hook: Hook

  init(_ base: any ObjectStorage, _ hook: Hook) { (self.base, self.hook) = (base, hook) }

  var description: String { base.description }
  func folder(_ name: String) -> any ObjectStorage { HookedStorage(base.folder(name), hook) }
  func claim() throws(StorageError) { try base.claim() }
  func put(_ bytes: [UInt8], as name: String) throws(StorageError) {
    hook.run(name)
    try base.put(bytes, as: name)
  }
  func get(_ name: String, _ range: Range<Int>?) throws(StorageError) -> [UInt8] {
    try base.get(name, range)
  }
  func list() throws(StorageError) -> [String] { try base.list() }
  func names(
    startingWith start: String, after name: String, limit: Int
  ) throws(StorageError) -> [String] {
    try base.names(startingWith: start, after: name, limit: limit)
  }
  func delete(_ name: String) throws(StorageError) { try base.delete(name) }
}
