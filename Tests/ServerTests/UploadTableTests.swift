import Platform
import Relay
import TestSupport
import Testing
import TLS
import Wire

@testable import Gateway
@testable import Server

@Suite struct `Uploads on disk` {
  private let temporary: TemporaryFolder
  private let folder: FileFolder
  private static let asker = UploadTable.Asker(worker: .upkeep, loop: 0)
  private static let other = UploadTable.Asker(worker: .upkeep, loop: 1)

  init() throws {
    temporary = try TemporaryFolder()
    folder = FileFolder(path: temporary["files"])
  }

  private func table() -> UploadTable {
    UploadTable(folder, UploadTable.Options(), FileCounts(), report: { _ in })
  }

  private func create(_ bytes: Int64, _ table: inout UploadTable) throws -> String {
    let result = table.perform(
      .create(user: "ada", bytes: bytes, metadata: "a \"b\"", usedBytes: 0), for: Self.asker,
      now: 1000)
    return try #require(upload(result)).id
  }

  private func upload(_ result: FileWorkResult?) -> Upload? {
    if case .upload(let upload) = result { upload } else { nil }
  }

  private func refusal(_ result: FileWorkResult?) -> FileRefusal? {
    if case .refused(let refusal) = result { refusal } else { nil }
  }

  private func begin(
    _ id: String, _ offset: Int64, _ table: inout UploadTable, isChecked: Bool = false,
    by asker: UploadTable.Asker = asker
  ) -> FileWorkResult? {
    table.perform(
      .begin(id, user: "ada", offset: offset, bytes: 5, isChecked: isChecked), for: asker,
      now: 1000)
  }

  @Test func `are there after a restart, as far as they were written`() throws {
    var table = table()
    let id = try create(10, &table)
    #expect(upload(begin(id, 0, &table))?.offset == 0)
    #expect(
      upload(table.perform(.write(id, Array("hello".utf8)), for: Self.asker, now: 1000))?.offset
        == 5)
    var restarted = self.table()
    let found = upload(restarted.perform(.find(id, user: "ada"), for: Self.asker, now: 1000))
    #expect(found?.offset == 5)
    #expect(found?.metadata == "a \"b\"")
    #expect(upload(begin(id, 5, &restarted))?.offset == 5)
  }

  @Test func `lose what was not checked when the relay was killed`() throws {
    var table = table()
    let id = try create(10, &table)
    _ = begin(id, 0, &table, isChecked: true)
    _ = table.perform(.write(id, Array("hel".utf8)), for: Self.asker, now: 1000)
    var restarted = self.table()
    #expect(
      upload(restarted.perform(.find(id, user: "ada"), for: Self.asker, now: 1000))?.offset == 0)
    #expect(upload(begin(id, 0, &restarted))?.offset == 0)
    #expect(folder.status(of: folder.upload(id))?.size == 0)
  }

  /// The sync that a disk does by itself is late, or comes in another order.
  @Test func `lose what was not checked, whatever a loss of power undoes of their record`() throws {
    var table = table()
    let id = try create(10, &table)
    let record = try WholeFile.read(folder.record(id))
    _ = begin(id, 0, &table, isChecked: true)
    _ = table.perform(.write(id, Array("hel".utf8)), for: Self.asker, now: 1000)
    try WholeFile.write(record, to: folder.record(id))
    var restarted = self.table()
    #expect(
      upload(restarted.perform(.find(id, user: "ada"), for: Self.asker, now: 1000))?.offset == 0)
  }

  @Test(arguments: [0, 3])
  func `have checked bytes where they end, and nothing of others`(offset: Int) throws {
    var table = table()
    let placer = FilePlacer(
      folder, FolderBytes(folder: folder), MediaFiles(pictures: nil), FileCounts())
    let id = try create(8, &table)
    if offset > 0 {
      _ = begin(id, 0, &table)
      _ = table.perform(.write(id, Array("abc".utf8)), for: Self.asker, now: 1000)
    }
    for (text, isRight) in [("hallo", false), ("hello", true)] {
      _ = begin(id, Int64(offset), &table, isChecked: true)
      _ = table.perform(.write(id, Array(text.utf8)), for: Self.asker, now: 1000)
      let checksum = UploadChecksum(
        algorithm: .sha256, digest: SHA256Digest.of(Array("hello".utf8)))
      _ = table.perform(.end(id, checksum), for: Self.asker, now: 1000)
      #expect(try placer.check(id, at: Int64(offset), checksum) == isRight)
      table.take(checked: .success(isRight), of: id, now: 1000)
      #expect(folder.disk.names(in: folder.uploads)?.sorted() == [id, "\(id).json"].sorted())
    }
    #expect(
      try WholeFile.read(folder.upload(id)) == Array("abc".utf8.prefix(offset))
        + Array("hello".utf8))
  }

  @Test func `take bytes of the request that began last`() throws {
    var table = table()
    let id = try create(10, &table)
    _ = begin(id, 0, &table)
    _ = begin(id, 0, &table, by: Self.other)
    #expect(refusal(table.perform(.write(id, [1]), for: Self.asker, now: 1000)) == .superseded)
    #expect(upload(table.perform(.write(id, [1]), for: Self.other, now: 1000))?.offset == 1)
  }

  @Test func `never have more bytes than they said`() throws {
    var table = table()
    let id = try create(5, &table)
    _ = begin(id, 0, &table)
    let result = table.perform(
      .write(id, Array("hello!".utf8)), for: Self.asker, now: 1000)
    #expect(refusal(result) == .tooLong)
    #expect(folder.status(of: folder.upload(id))?.size == 0)
  }

  @Test func `that were complete when the relay was killed become files`() throws {
    var table = table()
    let id = try create(5, &table)
    _ = begin(id, 0, &table)
    _ = table.perform(.write(id, Array("hello".utf8)), for: Self.asker, now: 1000)
    var restarted = self.table()
    #expect(restarted.perform(.find(id, user: "ada"), for: Self.asker, now: 1000) == nil)
    let orders = restarted.takeOrders()
    guard case .place(id, user: "ada")? = orders.first else {
      Issue.record("nothing is placed: \(orders)")
      return
    }
  }

  @Test func `are gone when it is said that they are confirmed`() throws {
    var table = table()
    let id = try create(5, &table)
    guard case .confirmed? = table.perform(.confirm(id), for: Self.asker, now: 1000) else {
      Issue.record("their client has no answer")
      return
    }
    #expect(PrivateFiles.names(in: folder.uploads) == [])
  }

  @Test func `go with a user who does not come back, and one whose file is being made after that`()
    throws
  {
    var table = table()
    let id = try create(5, &table)
    _ = begin(id, 0, &table)
    _ = table.perform(.write(id, Array("hello".utf8)), for: Self.asker, now: 1000)
    _ = table.perform(.end(id, nil), for: Self.asker, now: 1000)
    _ = try create(10, &table)
    let other = upload(
      table.perform(
        .create(user: "bo", bytes: 1, metadata: "", usedBytes: 0), for: Self.asker, now: 1000))
    let (kept, rest) = (try #require(other).id, [id, "\(id).json"])
    #expect(table.perform(.giveUp(["ada", "cy"]), for: Self.asker, now: 1000) == nil)
    let names = ([kept, "\(kept).json"] + rest).sorted()
    #expect(PrivateFiles.names(in: folder.uploads)?.sorted() == names)
    table.tidy(now: 1000)
    #expect(PrivateFiles.names(in: folder.uploads)?.sorted() == names)
    table.take(.failure(.failed), of: id)
    table.tidy(now: 1000)
    #expect(PrivateFiles.names(in: folder.uploads)?.sorted() == [kept, "\(kept).json"].sorted())
  }

  @Test func `are removed after a day, and damaged ones at the start`() throws {
    var table = table()
    let id = try create(5, &table)
    let damaged = try create(5, &table)
    try WholeFile.write(Array("{\"user\":".utf8), to: folder.record(damaged))
    table = self.table()
    #expect(PrivateFiles.names(in: folder.uploads)?.sorted() == [id, "\(id).json"].sorted())
    table.tidy(now: 86_400_999)
    #expect(PrivateFiles.names(in: folder.uploads)?.count == 2)
    table.tidy(now: 86_401_000)
    #expect(PrivateFiles.names(in: folder.uploads) == [])
  }

  @Test func `are synced once none of their bytes has come for a second`() throws {
    var table = table()
    let id = try create(10, &table)
    _ = begin(id, 0, &table)
    _ = table.perform(.write(id, Array("hello".utf8)), for: Self.asker, now: 1000)
    table.tidy(now: 1999)
    #expect(table.takeOrders().isEmpty)
    table.tidy(now: 2000)
    #expect(table.takeOrders().count == 1)
    table.tidy(now: 9000)
    #expect(table.takeOrders().isEmpty)
  }

  @Test func `count with their whole length until they are gone, and each as a block of the disk`()
    throws
  {
    var options = UploadTable.Options()
    options.bytesPerUser = 20_000
    options.uploadsPerUser = 3
    var table = UploadTable(folder, options, FileCounts(), report: { _ in })
    let long = try create(10_000, &table)
    _ = try create(0, &table)
    #expect(try refused(6_000, &table) == .userIsFull(usedBytes: 14_096, limit: 20_000))
    _ = try create(5_000, &table)
    #expect(try refused(1, &table) == .tooManyUploads(limit: 3))
    // As they were found at the start.
    table = UploadTable(folder, options, FileCounts(), report: { _ in })
    #expect(try refused(1, &table) == .tooManyUploads(limit: 3))
    _ = table.perform(.terminate(long, user: "ada"), for: Self.asker, now: 1000)
    _ = try create(10_000, &table)
  }

  @Test func `say when one of them may count as a file, too, until it is confirmed`() throws {
    var options = UploadTable.Options()
    options.bytesPerUser = 20_000
    var table = UploadTable(folder, options, FileCounts(), report: { _ in })
    let id = try create(10_000, &table)
    #expect(try refused(15_000, &table) == .userIsFull(usedBytes: 10_000, limit: 20_000))
    let file = StoredFile(
      id: id, owner: "ada", hash: "", description: FileDescription(size: 10_000, mediaType: ""),
      uploadedAt: 0)
    table.take(.success(file), of: id)
    #expect(
      try refused(15_000, &table)
        == .userIsFull(usedBytes: 10_000, limit: 20_000, mayCountTwice: true))
    _ = table.perform(.confirm(id), for: Self.asker, now: 1000)
    _ = try create(15_000, &table)
    #expect(try refused(15_000, &table) == .userIsFull(usedBytes: 15_000, limit: 20_000))
  }

  @Test func `of any length are counted, whatever their sum is`() throws {
    var options = UploadTable.Options()
    options.bytesPerUser = .max
    options.bytes = .max
    options.minimumFreeBytes = 1
    try folder.prepare()
    var table = UploadTable(folder, options, FileCounts(), report: { _ in })
    #expect(try refused(.max, &table) == .diskIsFull)
    options.minimumFreeBytes = 0
    table = UploadTable(folder, options, FileCounts(), report: { _ in })
    _ = try create(.max, &table)
    #expect(try refused(.max, &table) == .userIsFull(usedBytes: .max, limit: .max))
  }

  @Test func `whose bytes the disk cannot read for the check are neither right nor wrong`() throws {
    var table = table()
    let id = try create(5, &table)
    _ = begin(id, 0, &table, isChecked: true)
    _ = table.perform(.write(id, Array("hello".utf8)), for: Self.asker, now: 1000)
    let checksum = UploadChecksum(algorithm: .sha1, digest: [])
    _ = table.perform(.end(id, checksum), for: Self.asker, now: 1000)
    table.take(checked: .failure(.failed), of: id, now: 1000)
    #expect(refusal(table.takeAnswers().first?.1) == .failed)
    // None of them counts: they are sent again.
    let found = table.perform(.find(id, user: "ada"), for: Self.asker, now: 1000)
    guard case .upload(let upload) = found else { throw Unexpected("\(String(describing: found))") }
    #expect(upload.offset == 0)
  }

  @Test func `that are removed while their bytes are checked answer the request that waits`()
    throws
  {
    var table = table()
    let id = try create(5, &table)
    _ = begin(id, 0, &table, isChecked: true)
    _ = table.perform(.write(id, Array("hello".utf8)), for: Self.asker, now: 1000)
    let checksum = UploadChecksum(algorithm: .sha1, digest: [])
    #expect(table.perform(.end(id, checksum), for: Self.asker, now: 1000) == nil)
    _ = table.perform(.terminate(id, user: "ada"), for: Self.other, now: 1000)
    let answers = table.takeAnswers()
    #expect(answers.count == 1 && answers.first?.0 == Self.asker)
    table.take(checked: .success(true), of: id, now: 1000)
    #expect(table.takeAnswers().isEmpty)
  }

  private func refused(_ bytes: Int64, _ table: inout UploadTable) throws -> FileRefusal {
    let result = table.perform(
      .create(user: "ada", bytes: bytes, metadata: "", usedBytes: 0), for: Self.asker, now: 1000)
    return try #require(refusal(result))
  }
}
