import Gateway
import Mixing
import ObjectStorage
import Platform
import Relay
import Synchronization
import TestSupport
import Testing

@testable import Server

/// Several relays with one bucket, a folder; each is its table of uploads and what carries out the table's orders.
@Suite struct `Uploads that go on at another relay` {
  private let temporary: TemporaryFolder
  private let storage: MeddledStorage

  init() throws {
    temporary = try TemporaryFolder()
    let folder = FolderStorage(temporary["bucket"])
    try folder.claim()
    storage = MeddledStorage(folder)
  }

  private func relay(_ name: String) -> SharingRelay {
    SharingRelay(FileFolder(path: temporary[name]), storage)
  }

  private var objects: [String] {
    get throws { try storage.list() }
  }

  @Test func `are there as far as their client was told`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let id = try a.create(10)
    #expect(b.offset(of: id) == 0)
    #expect(a.append("hello", to: id, at: 0) == 5)
    #expect(b.offset(of: id) == 5)
    #expect(b.append("world", to: id, at: 5) == nil)
    #expect(b.placed[id] == "helloworld")
    b.confirm(id)
    #expect(try objects == [])
  }

  @Test func `are not shared if their first request completes them`() throws {
    let a = relay("a")
    #expect(a.append("hello", to: try a.create(5, ends: false), at: 0) == nil)
    #expect(try objects == [])
    #expect(Array(a.placed.values) == ["hello"])
  }

  @Test func `are those of their user`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let id = try a.create(10)
    #expect(b.offset(of: id, user: "eve") == nil)
    #expect(b.append("hello", to: id, at: 0, user: "eve") == nil)
    guard case .nothing = b.perform(.terminate(id, user: "eve")) else {
      Issue.record("another user ends it")
      return
    }
    #expect(a.append("hello", to: id, at: 0) == 5)
  }

  @Test func `never have what a relay writes after another one goes on`() throws {
    let (a, b, c) = (relay("a"), relay("b"), relay("c"))
    let id = try a.create(15)
    #expect(a.append("AAAAA", to: id, at: 0) == 5)
    // The relay is frozen in a request.
    #expect(a.begin(id, at: 5, bytes: 5))
    a.write("aaaaa", to: id)
    #expect(b.append("BB", to: id, at: 5) == 7)
    #expect(a.end(id) == .superseded)
    // What it has shared is there, and counts for nothing.
    #expect(try objects.contains { $0.contains(".0.10.") })
    #expect(c.offset(of: id) == 7)
    #expect(c.append("CCCCCCCC", to: id, at: 7) == nil)
    #expect(c.placed[id] == "AAAAABBCCCCCCCC")
  }

  @Test func `are not completed by a relay that another one goes on after`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let id = try a.create(10)
    #expect(a.append("AAAAA", to: id, at: 0) == 5)
    #expect(a.begin(id, at: 5, bytes: 5))
    a.write("aaaaa", to: id)
    #expect(b.append("BBBBB", to: id, at: 5) == nil)
    #expect(a.end(id) == .superseded)
    #expect(a.placed[id] == nil && b.placed[id] == "AAAAABBBBB")
    b.confirm(id)
    #expect(a.offset(of: id) == nil)
  }

  @Test func `come back to the first relay as far as the second one is`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let id = try a.create(15)
    #expect(a.append("AAAAA", to: id, at: 0) == 5)
    #expect(b.append("BBBBB", to: id, at: 5) == 10)
    #expect(a.offset(of: id) == 10)
    #expect(a.append("CCCCC", to: id, at: 10) == nil)
    #expect(a.placed[id] == "AAAAABBBBBCCCCC")
  }

  @Test func `are shared a second after a request broke off`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let id = try a.create(10)
    #expect(a.begin(id, at: 0, bytes: 10))
    a.write("hello", to: id)
    #expect(b.offset(of: id) == 0)
    a.tidy(now: 1_000_999)
    #expect(b.offset(of: id) == 0)
    a.tidy(now: 1_001_000)
    #expect(b.offset(of: id) == 5)
  }

  @Test func `are shared part by part while a request goes on`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let part = String(repeating: "x", count: Int(UploadSharing.partBytes))
    let id = try a.create(UploadSharing.partBytes * 2 + 5)
    #expect(a.begin(id, at: 0, bytes: UploadSharing.partBytes * 2 + 5))
    a.write(String(part.dropLast()), to: id)
    #expect(b.offset(of: id) == 0)
    a.write("xx", to: id)
    #expect(b.offset(of: id) == UploadSharing.partBytes + 1)
  }

  @Test func `go on after the relay was killed, from nothing on its disk`() throws {
    let a = relay("a")
    let id = try a.create(10)
    #expect(a.append("hello", to: id, at: 0) == 5)
    let restarted = relay("a")
    #expect(PrivateFiles.names(in: temporary["a"] + "/uploads") == [])
    #expect(restarted.append("world", to: id, at: 5) == nil)
    #expect(restarted.placed[id] == "helloworld")
  }

  @Test func `have few objects, however small their requests are`() throws {
    let a = relay("a")
    let id = try a.create(1000)
    for offset in 0..<512 { #expect(a.append("x", to: id, at: Int64(offset)) == Int64(offset) + 1) }
    #expect(try objects.count < 15)
    #expect(relay("b").offset(of: id) == 512)
  }

  @Test func `are taken over a limited number of times`() throws {
    let relays = [relay("a"), relay("b")]
    let id = try relays[0].create(1000)
    var offset: Int64 = 0
    while offset < 100, let next = relays[Int(offset + 1) % 2].append("x", to: id, at: offset) {
      offset = next
    }
    #expect(offset == Int64(SharedUpload.claimsLimit) - 1)
  }

  @Test func `are gone for all after a day, and their objects within the hour`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let id = try a.create(10)
    #expect(a.append("hello", to: id, at: 0) == 5)
    b.now += 86_400_000
    #expect(b.offset(of: id) == nil)
    a.sweep()
    #expect(try !objects.isEmpty)
    b.sweep()
    #expect(try objects == [])
  }

  @Test func `are ended at any relay`() throws {
    let (a, b) = (relay("a"), relay("b"))
    let id = try a.create(10)
    guard case .terminated = b.perform(.terminate(id, user: "ada")) else {
      Issue.record("it is not ended")
      return
    }
    #expect(try objects == [])
    #expect(a.append("hello", to: id, at: 0) == nil)
    #expect(a.offset(of: id) == nil)
  }

  /// Relays write an upload at once, each other bytes, and one of them acts between any two requests of another.
  @Test(arguments: 0..<200)
  func `keep what was told, whatever relays do between any two requests`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let relays = ["a", "b", "c"].map(relay)
    let id = try relays[0].create(10_000)
    /// The longest that any client was told.
    var told = ""
    var depth = 0
    func act() {
      let number = Int(random.next() % 3)
      guard !relays[number].isBusy, let offset = relays[number].offset(of: id), offset < 9000,
        !relays[number].isBusy
      else { return }
      let count = 1 + Int(random.next() % 40)
      let letter = ["a", "b", "c"][number]
      let text = String(repeating: letter, count: count - 1) + letter.uppercased()
      guard relays[number].append(text, to: id, at: offset) != nil,
        let content = storage.unmeddled({ relays[number].content(of: id) })
      else { return }
      #expect(content.hasPrefix(told) || told.hasPrefix(content), "\(content) after \(told)")
      if content.count > told.count { told = content }
    }
    storage.meddle = {
      guard depth < 3, random.next() % 4 == 0 else { return }
      depth += 1
      act()
      depth -= 1
    }
    for _ in 0..<12 { act() }
    storage.meddle = nil
    let last = relay("d")
    let offset = try #require(last.offset(of: id))
    #expect(offset >= Int64(told.count))
    #expect(!told.isEmpty)
    let rest = String(repeating: "d", count: 10_000 - Int(offset))
    #expect(last.append(rest, to: id, at: offset) == nil)
    #expect(last.placed[id]?.hasPrefix(told) == true)
  }
}

/// A relay, as far as it has uploads.
private final class SharingRelay {
  private var table: UploadTable
  private var worker: SharingWorker
  private let storage: MeddledStorage
  private let folder: FileFolder
  private let asker: UploadTable.Asker
  private(set) var placed: [String: String] = [:]
  /// Whether it is in the middle of a request: its thread would be.
  private(set) var isBusy = false
  var now: Int64 = 1_000_000

  init(_ folder: FileFolder, _ storage: MeddledStorage) {
    var options = UploadTable.Options()
    options.areShared = true
    self.storage = storage
    self.folder = folder
    asker = UploadTable.Asker(worker: .upkeep, loop: 0)
    table = UploadTable(folder, options, FileCounts(), report: { _ in })
    worker = SharingWorker(
      uploads: UploadSharing(storage, folder),
      outage: BytesOutage(FolderBytes(folder: folder)) { Issue.record("\($0)") })
  }

  /// Returns the answer, once nothing is left to do for it.
  @discardableResult
  func perform(_ work: FileWork) -> FileWorkResult? {
    isBusy = true
    defer { isBusy = false }
    let answer = table.perform(work, for: asker, now: now)
    carryOut()
    return answer ?? table.takeAnswers().last?.1
  }

  private func carryOut() {
    while true {
      let orders = table.takeSharingOrders()
      if orders.isEmpty { break }
      for order in orders {
        if let answer = worker.carryOut(order, now: now) { table.take(answer, now: now) }
      }
    }
    for case .place(let id, _) in table.takeOrders() {
      let bytes = (try? WholeFile.read(folder.upload(id))) ?? []
      placed[id] = String(decoding: bytes, as: UTF8.self)
    }
  }

  /// - Parameter ends: whether that is all of the first request.
  func create(_ bytes: Int64, ends: Bool = true) throws -> String {
    let result = perform(.create(user: "ada", bytes: bytes, metadata: "", usedBytes: 0))
    guard case .upload(let upload) = result else { throw Unexpected("\(result as Any)") }
    if ends {
      #expect(begin(upload.id, at: 0, bytes: 0))
      #expect(end(upload.id) == nil)
    }
    return upload.id
  }

  func offset(of id: String, user: String = "ada") -> Int64? {
    guard case .upload(let upload) = perform(.find(id, user: user)) else { return nil }
    return upload.offset
  }

  func begin(_ id: String, at offset: Int64, bytes: Int64, user: String = "ada") -> Bool {
    let work = FileWork.begin(id, user: user, offset: offset, bytes: bytes, isChecked: false)
    guard case .upload = perform(work) else { return false }
    return true
  }

  func write(_ text: String, to id: String) { perform(.write(id, Array(text.utf8))) }

  /// Returns why the request is refused.
  func end(_ id: String) -> FileRefusal? {
    guard case .refused(let refusal) = perform(.end(id, nil)) else { return nil }
    return refusal
  }

  /// Returns what the client is told; `nil` if it is refused, or the upload is complete.
  func append(
    _ text: String, to id: String, at offset: Int64, user: String = "ada"
  ) -> Int64? {
    guard begin(id, at: offset, bytes: Int64(text.utf8.count), user: user),
      case .upload = perform(.write(id, Array(text.utf8))),
      case .upload(let upload) = perform(.end(id, nil))
    else { return nil }
    return upload.offset
  }

  func confirm(_ id: String) { perform(.confirm(id)) }

  func tidy(now: Int64) {
    table.tidy(now: now)
    carryOut()
  }

  func sweep() { worker.sweep(now: now) }

  /// Returns what this relay has shared of an upload, and found there.
  func content(of id: String) -> String? {
    guard let holding = worker.uploads.holdings[id] else { return nil }
    let bytes = try? (holding.base + holding.own).flatMap {
      try storage.get(holding.place.name(of: $0), nil)
    }
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }
}

/// A storage before whose requests others act. Used by one thread.
private final class MeddledStorage: ObjectStorage, @unchecked Sendable {
  private let base: FolderStorage
  var meddle: (() -> Void)?

  init(_ base: FolderStorage) { self.base = base }

  func unmeddled<Value>(_ body: () -> Value) -> Value {
    let meddle = meddle
    self.meddle = nil
    defer { self.meddle = meddle }
    return body()
  }

  var description: String { base.description }
  func folder(_ name: String) -> any ObjectStorage { base.folder(name) }
  func claim() {}
  func put(_ bytes: [UInt8], as name: String) throws(StorageError) {
    meddle?()
    try base.put(bytes, as: name)
  }
  func get(_ name: String, _ range: Range<Int>?) throws(StorageError) -> [UInt8] {
    meddle?()
    return try base.get(name, range)
  }
  func list() throws(StorageError) -> [String] { try base.list() }
  func names(
    startingWith start: String, after name: String, limit: Int
  ) throws(StorageError) -> [String] {
    meddle?()
    return try base.names(startingWith: start, after: name, limit: limit)
  }
  func delete(_ name: String) throws(StorageError) {
    meddle?()
    try base.delete(name)
  }
}
