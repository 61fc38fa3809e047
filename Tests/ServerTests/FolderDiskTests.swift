import Gateway
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Server

@Suite struct `A disk that fails` {
  private let temporary: TemporaryFolder
  private let disk: RecordingDisk
  private let folder: FileFolder
  private static let asker = UploadTable.Asker(worker: .upkeep, loop: 0)

  init() throws {
    temporary = try TemporaryFolder()
    disk = RecordingDisk()
    folder = FileFolder(path: temporary["files"], on: disk)
    try folder.prepare()
  }

  private func table() -> UploadTable {
    UploadTable(folder, UploadTable.Options(), FileCounts(), report: { _ in })
  }

  private func placer() -> FilePlacer {
    FilePlacer(folder, FolderBytes(folder: folder), MediaFiles(pictures: nil), FileCounts())
  }

  private func create(_ table: inout UploadTable) -> FileWorkResult? {
    table.perform(
      .create(user: "ada", bytes: 5, metadata: "", usedBytes: 0), for: Self.asker, now: 0)
  }

  /// Uploads `hello`, up to where its file is made.
  private func upload(_ table: inout UploadTable) throws -> String {
    guard case .upload(let upload)? = create(&table) else {
      throw Unexpected("no upload is created")
    }
    for work: FileWork in [
      .begin(upload.id, user: "ada", offset: 0, bytes: 5, isChecked: false),
      .write(upload.id, Array("hello".utf8)), .end(upload.id, nil),
    ] {
      _ = table.perform(work, for: Self.asker, now: 0)
    }
    return upload.id
  }

  /// Linux considers bytes written whose sync has failed: a second one would succeed without them.
  @Test func `an upload whose bytes cannot be synced is given up, and its client begins again`()
    throws
  {
    var (table, placer) = (table(), placer())
    let id = try upload(&table)
    disk.failingSyncs.store(1, ordering: .relaxed)
    #expect(throws: FileBytesError.self) { try placer.place(id, of: "ada", now: 0) }
    table.take(.failure(.failed), of: id)
    guard case .nothing? = table.perform(.find(id, user: "ada"), for: Self.asker, now: 0) else {
      Issue.record("the upload goes on")
      return
    }
    #expect(disk.names(in: folder.uploads) == [])
  }

  @Test func `an upload that rests, and cannot be synced, is given up as well`() throws {
    var table = table()
    let placer = placer()
    guard case .upload(let upload)? = create(&table) else {
      throw Unexpected("no upload is created")
    }
    disk.failingSyncs.store(1, ordering: .relaxed)
    #expect(throws: SystemError.self) { try placer.sync(upload.id) }
    let begun = table.perform(
      .begin(upload.id, user: "ada", offset: 0, bytes: 5, isChecked: false), for: Self.asker,
      now: 0)
    guard case .nothing? = begun else {
      Issue.record("the upload goes on")
      return
    }
  }

  @Test func `an upload that cannot be recorded leaves nothing`() {
    var table = table()
    disk.failsRecords.store(true, ordering: .relaxed)
    guard case .refused(.failed)? = create(&table) else {
      Issue.record("the upload begins")
      return
    }
    #expect(disk.names(in: folder.uploads) == [])
  }

  @Test func `the name of a folder is durable before it has bytes, also of one that a crash left`()
    throws
  {
    var (table, placer) = (table(), placer())
    _ = try placer.place(try upload(&table), of: "ada", now: 0)
    let data = String(folder.path.dropLast("/files".utf8.count))
    #expect(
      disk.calls.prefix { $0 != "link" }.suffix(3) == [
        "sync \(folder.path)", "sync \(data)", "sync bytes",
      ])
    let hash = try #require(folder.folders.flatMap(folder.hashes).first)
    folder.remove(folder.stored(hash))
    disk.forgetCalls()
    _ = try placer.place(try upload(&table), of: "ada", now: 0)
    #expect(disk.calls.first == "sync \(folder.path)")
    disk.forgetCalls()
    _ = try placer.place(try upload(&table), of: "ada", now: 0)
    #expect(disk.calls.first == "sync bytes")
  }
}

/// The system's disk, which fails when it is told to, and records the order of syncs and links.
private final class RecordingDisk: FolderDisk {
  /// How many syncs of bytes fail.
  let failingSyncs = Atomic(0)
  let failsRecords = Atomic(false)
  private let system = SystemDisk()
  private let recorded = Mutex<[String]>([])

  var calls: [String] { recorded.withLock { $0 } }
  func forgetCalls() { recorded.withLock { $0 = [] } }
  private func record(_ call: String) { recorded.withLock { $0.append(call) } }

  func sync(_ path: String) throws(SystemError) {
    let isOfBytes = path.contains("/uploads/")
    record(isOfBytes ? "sync bytes" : "sync \(path)")
    if isOfBytes, failingSyncs.load(ordering: .relaxed) > 0 {
      failingSyncs.subtract(1, ordering: .relaxed)
      throw SystemError("fsync \(path)", code: EIO)
    }
    try system.sync(path)
  }

  func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
    if failsRecords.load(ordering: .relaxed), path.hasSuffix(".json") {
      throw SystemError("write \(path)", code: EIO)
    }
    try system.write(bytes, to: path)
  }

  func link(_ path: String, to name: String) throws(SystemError) {
    record("link")
    try system.link(path, to: name)
  }

  func names(in folder: String) -> [String]? { system.names(in: folder) }
  func isEmpty(_ folder: String) -> Bool { system.isEmpty(folder) }
  func createFolder(_ path: String) throws(SystemError) { try system.createFolder(path) }
  func createSecretFolder(_ path: String) throws(SystemError) {
    try system.createSecretFolder(path)
  }
  func status(of path: String) -> (size: Int64, writtenAt: Int64)? { system.status(of: path) }
  func write(_ bytes: [UInt8], to path: String, at offset: Int64) throws(SystemError) {
    try system.write(bytes, to: path, at: offset)
  }
  func read(
    _ path: String, at offset: Int64, bytes limit: Int
  ) throws(SystemError) -> (bytes: [UInt8], size: Int64) {
    try system.read(path, at: offset, bytes: limit)
  }
  func truncate(_ path: String, to size: Int64) throws(SystemError) {
    try system.truncate(path, to: size)
  }
  func rename(_ path: String, to name: String) throws(SystemError) {
    try system.rename(path, to: name)
  }
  func remove(_ path: String) { system.remove(path) }
  func freeBytes(of folder: String) -> Int64? { system.freeBytes(of: folder) }
}
