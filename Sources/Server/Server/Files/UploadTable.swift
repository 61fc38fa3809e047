package import Gateway
package import Platform
package import Relay
import WebSocket
import Wire

/// The uploads that the log does not know as files yet. Confined to the thread that writes them.
///
/// An upload is its bytes and a record beside them. How far it is, is the size of its bytes: they are only appended, and
/// file systems with a journal grow a file only after its data is written. So an upload goes on from there even
/// after a loss of power. What counts only once it is checked is in a file of its own until then, and of no use after a restart.
package struct UploadTable {
  package struct Options: Sendable {
    /// 0 = no limit, for all of them.
    package var bytesPerUser: Int64 = 0
    package var uploadsPerUser = 0
    /// Of all files.
    package var bytes: Int64 = 0
    /// What stays free of the disk.
    package var minimumFreeBytes: Int64 = 0
    /// Whether other relays can go on with the uploads: see `UploadSharing`.
    var areShared = false

    package init() {}
  }

  /// What other threads do for an upload; answered by `take`.
  package enum Order: Sendable {
    case place(String, user: String)
    case check(String, user: String, at: Int64, UploadChecksum)
    case sync(String)
    case forget(String)
  }

  /// Who gets an answer.
  package struct Asker: Equatable, Sendable {
    package var worker: FileWorker
    package var loop: Int

    package init(worker: FileWorker, loop: Int) { (self.worker, self.loop) = (worker, loop) }
  }

  static let keptMilliseconds: Int64 = 86_400_000
  private static let idBytes = 16
  /// Bytes are synced if none has followed for this time.
  private static let restMilliseconds: Int64 = 1000
  /// In total: also empty ones take memory, and a file each.
  private static let uploadsLimit = 100_000

  let folder: FileFolder
  let options: Options
  private let counts: FileCounts
  private let report: @Sendable (SystemError?) -> Void
  private var random: any RandomNumberGenerator
  var entries: [String: Entry] = [:]
  private var totals = UploadTotals()
  /// What is to be done on other threads.
  var orders: [Order] = []
  var sharingOrders: [SharingOrder] = []
  /// Answers to requests that had to wait.
  var answers: [(Asker, FileWorkResult)] = []
  var lastGeneration = 0
  /// Requests that the bucket has not answered yet.
  var openings = 0

  /// Reads the uploads that are there.
  /// - Parameters:
  ///   - random: chooses the ids of uploads, which must not be predictable.
  ///   - report: called with an error of the disk, and with `nil` once it works again.
  package init(
    _ folder: FileFolder, _ options: Options, _ counts: FileCounts,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator(),
    report: @escaping @Sendable (SystemError?) -> Void
  ) {
    (self.folder, self.options, self.counts, self.report) = (folder, options, counts, report)
    self.random = random
    if options.areShared { folder.clear(folder.uploads) }
    for name in folder.disk.names(in: folder.uploads) ?? [] {
      let id = String(name.prefix { $0 != "." })
      if entries[id] == nil { set(id, to: read(id)) }
      // What has no record, or was made of an upload before the relay was killed.
      if entries[id] == nil || name != id && name != "\(id).json" {
        folder.remove("\(folder.uploads)/\(name)")
      }
    }
    counts.set(uploads: entries.count)
  }

  package mutating func takeOrders() -> [Order] {
    defer { orders = [] }
    return orders
  }

  mutating func takeSharingOrders() -> [SharingOrder] {
    defer { sharingOrders = [] }
    return sharingOrders
  }

  package mutating func takeAnswers() -> [(Asker, FileWorkResult)] {
    defer { answers = [] }
    return answers
  }

  // MARK: - Requests

  /// - Returns: the answer; `nil` if it comes later, or there is none.
  package mutating func perform(_ work: FileWork, for asker: Asker, now: Int64) -> FileWorkResult? {
    options.areShared && ask(about: work, for: asker)
      ? nil : performHere(work, for: asker, now: now)
  }

  /// The same, once it is known that no other relay goes on with the upload.
  mutating func performHere(_ work: FileWork, for asker: Asker, now: Int64) -> FileWorkResult? {
    do throws(FileRefusal) {
      switch work {
      case .create(let user, let bytes, let metadata, let used):
        return .upload(try create(user, bytes, metadata, used, now))
      case .find(let id, let user):
        guard let entry = upload(id, of: user) else { return .nothing }
        return result(of: entry, id, for: asker)
      case .begin(let id, let user, let offset, let bytes, let isChecked):
        guard let entry = upload(id, of: user) else { return .nothing }
        return try begin(entry, id, offset, bytes, isChecked, asker)
      case .write(let id, let bytes): return .upload(try write(bytes, to: id, asker, now))
      case .end(let id, let checksum): return try end(id, checksum, asker)
      case .confirm(let id):
        remove(id)
        return .confirmed
      case .terminate(let id, let user):
        guard let entry = entries[id], entry.user == user else { return .nothing }
        if case .placing = entry.phase { throw .superseded }
        remove(id)
        return .terminated
      case .giveUp(let users):
        giveUp(users)
        return nil
      case .read, .readPNG, .remove: preconditionFailure("other threads do that")
      }
    } catch {
      return .refused(error)
    }
  }

  /// Returns an upload of a user; `nil` if there is none, or its bytes were given up (`FileFolder.syncBytes`): the client begins
  /// again.
  private mutating func upload(_ id: String, of user: String) -> Entry? {
    guard let entry = entries[id], entry.user == user else { return nil }
    guard case .receiving = entry.phase, folder.status(of: folder.upload(id)) == nil else {
      return entry
    }
    remove(id)
    return nil
  }

  private mutating func create(
    _ user: String, _ bytes: Int64, _ metadata: String, _ used: Int64, _ now: Int64
  ) throws(FileRefusal) -> Upload {
    try checkLimits(user, bytes, used)
    let id = RandomName.next(bytes: Self.idBytes, using: &random)
    let upload = Upload(
      id: id, bytes: bytes, offset: 0, metadata: metadata, expiresAt: now + Self.keptMilliseconds)
    let entry = Entry(user: user, upload: upload, generation: nextGeneration())
    do throws(FileRefusal) {
      try writing { () throws(SystemError) in
        try folder.prepare()
        try folder.disk.write([], to: folder.upload(id))
        try write(entry)
      }
    } catch {
      folder.removeUpload(id)
      throw error
    }
    insert(entry)
    return upload
  }

  func checkLimits(_ user: String, _ bytes: Int64, _ used: Int64) throws(FileRefusal) {
    if entries.count >= Self.uploadsLimit { throw .relayIsFull }
    try totals.check(
      bytes, of: user, usedBytes: used, storedBytes: counts.values.storedBytes, options
    ) { folder.freeBytes }
  }

  /// Sets an entry whose upload may have another length, lack another number of bytes, or be complete, other than before.
  mutating func set(_ id: String, to entry: Entry?) {
    if let old = entries[id] { totals.remove(old) }
    entries[id] = entry
    if let entry { totals.add(entry) }
  }

  private mutating func begin(
    _ found: Entry, _ id: String, _ offset: Int64, _ bytes: Int64, _ isChecked: Bool,
    _ asker: Asker
  ) throws(FileRefusal) -> FileWorkResult? {
    var entry = found
    switch entry.phase {
    case .receiving: break
    case .checking: throw .superseded
    case .placing, .complete:
      // Asked again, since the answer to the last request was lost.
      guard Int128(offset) + Int128(bytes) == Int128(entry.upload.bytes) else {
        throw .wrongOffset(entry.upload.bytes)
      }
      return result(of: entry, id, for: asker)
    }
    guard offset == entry.upload.offset else { throw .wrongOffset(entry.upload.offset) }
    guard bytes <= entry.upload.bytes - offset else { throw .tooLong }
    if isChecked {
      try writing { () throws(SystemError) in
        try folder.disk.write([], to: folder.unchecked(id))
      }
    } else if entry.uncheckedBytes != nil {
      folder.remove(folder.unchecked(id))
    }
    entry.uncheckedBytes = isChecked ? 0 : nil
    entry.writer = asker
    set(id, to: entry)
    return .upload(entry.upload)
  }

  private mutating func write(
    _ bytes: [UInt8], to id: String, _ asker: Asker, _ now: Int64
  ) throws(FileRefusal) -> Upload {
    guard var entry = entries[id], entry.writer == asker, case .receiving = entry.phase else {
      throw .superseded
    }
    guard Int64(bytes.count) <= entry.lackingBytes else { throw .tooLong }
    let (path, offset) =
      entry.uncheckedBytes.map { (folder.unchecked(id), $0) }
      ?? (folder.upload(id), entry.upload.offset)
    do throws(FileRefusal) {
      try writing { () throws(SystemError) in
        try folder.disk.write(bytes, to: path, at: offset)
      }
    } catch {
      // A part of the block may have been written.
      try? folder.disk.truncate(path, to: offset)
      throw error
    }
    if entry.uncheckedBytes == nil {
      entry.upload.offset += Int64(bytes.count)
      entry.writtenAt = now
    } else {
      entry.uncheckedBytes? += Int64(bytes.count)
    }
    set(id, to: entry)
    counts.add(received: bytes.count)
    shareIfDue(id)
    return entry.upload
  }

  private mutating func end(
    _ id: String, _ checksum: UploadChecksum?, _ asker: Asker
  ) throws(FileRefusal) -> FileWorkResult? {
    guard let entry = entries[id], entry.writer == asker, case .receiving = entry.phase else {
      throw .superseded
    }
    guard let checksum else { return finishIfComplete(entry, id, for: asker) }
    entries[id]?.phase = .checking(checksum, asker)
    orders.append(.check(id, user: entry.user, at: entry.upload.offset, checksum))
    return nil
  }

  private mutating func finishIfComplete(
    _ entry: Entry, _ id: String, for asker: Asker
  ) -> FileWorkResult? {
    guard entry.isComplete else {
      guard options.areShared else { return .upload(entry.upload) }
      share(id, for: asker)
      return nil
    }
    entries[id]?.phase = .placing
    entries[id]?.writtenAt = nil
    entries[id]?.waiting = [asker]
    if entry.shared == nil {
      orders.append(.place(id, user: entry.user))
    } else {
      sharingOrders.append(.assemble(id, generation: entry.generation))
    }
    return nil
  }

  /// Returns how far an upload is. Who asks for one whose file is being made, waits.
  private mutating func result(
    of entry: Entry, _ id: String, for asker: Asker
  ) -> FileWorkResult? {
    switch entry.phase {
    case .receiving where entry.isComplete:
      // One that was complete when the relay was killed becomes a file now.
      return finishIfComplete(entry, id, for: asker)
    case .receiving, .checking: return .upload(entry.toldUpload)
    case .complete(let file): return .complete(file)
    case .placing:
      entries[id]?.waiting.append(asker)
      return nil
    }
  }

  // MARK: - Results of other threads

  package mutating func take(_ result: Result<StoredFile, FileRefusal>, of id: String) {
    guard var entry = entries[id] else { return }
    let askers = entry.waiting
    entry.waiting = []
    switch result {
    case .success(let file): entry.phase = .complete(file)
    case .failure: entry.phase = .receiving
    }
    set(id, to: entry)
    for asker in askers {
      switch result {
      case .success(let file): answers.append((asker, .complete(file)))
      case .failure(let refusal): answers.append((asker, .refused(refusal)))
      }
    }
  }

  package mutating func take(
    checked result: Result<Bool, FileRefusal>, of id: String, now: Int64
  ) {
    guard var entry = entries[id], case .checking(_, let asker) = entry.phase else { return }
    entry.phase = .receiving
    switch result {
    case .success(true):
      entry.upload.offset += entry.uncheckedBytes ?? 0
      (entry.uncheckedBytes, entry.writtenAt) = (nil, now)
      set(id, to: entry)
      if let answer = finishIfComplete(entry, id, for: asker) { answers.append((asker, answer)) }
    case .success(false):
      folder.remove(folder.unchecked(id))
      entry.uncheckedBytes = nil
      set(id, to: entry)
      answers.append((asker, .refused(.wrongChecksum)))
    case .failure(let refusal):
      // The bytes do not count, and the client sends them again.
      set(id, to: entry)
      answers.append((asker, .refused(refusal)))
    }
  }

  // MARK: - Time

  /// Syncs what has rested, and removes what has expired.
  package mutating func tidy(now: Int64, isLast: Bool = false) {
    for (id, entry) in entries {
      if case .placing = entry.phase { continue }
      if entry.upload.expiresAt <= now {
        remove(id)
      } else if let written = entry.writtenAt,
        isLast || now - written >= Self.restMilliseconds || now < written
      {
        entries[id]?.writtenAt = nil
        if options.areShared { shareRest(entry, id) } else { orders.append(.sync(id)) }
      }
    }
  }

  private mutating func giveUp(_ users: Set<String>) {
    for (id, entry) in entries where users.contains(entry.user) {
      if case .placing = entry.phase {
        // Another thread reads it. It goes with the next `tidy` after that.
        entries[id]?.upload.expiresAt = 0
      } else {
        remove(id)
      }
    }
  }

  private mutating func remove(_ id: String) {
    if entries[id]?.isKnownToOthers == true { sharingOrders.append(.discard(id)) }
    drop(id)
  }

  mutating func insert(_ entry: Entry) {
    set(entry.upload.id, to: entry)
    counts.set(uploads: entries.count)
  }

  /// Removes what this relay has of an upload.
  mutating func drop(_ id: String) {
    guard let entry = entries[id] else { return }
    if case .checking(_, let asker) = entry.phase { answers.append((asker, .nothing)) }
    set(id, to: nil)
    counts.set(uploads: entries.count)
    orders.append(.forget(id))
    folder.removeUpload(id)
  }

  func writing(_ body: () throws(SystemError) -> Void) throws(FileRefusal) {
    do throws(SystemError) { try body() } catch {
      report(error)
      throw error.isFullDisk ? .diskIsFull : .failed
    }
    report(nil)
  }
}
