import Gateway
import Platform
import Relay
import WebSocket
import Wire

/// The uploads that the log does not know as files yet. Confined to the thread that writes them.
///
/// An upload is its bytes and a record beside them. How far it is, is the size of its bytes: they are only appended, and
/// file systems with a journal grow a file only after its data is written. So an upload goes on from there even
/// after a loss of power.
struct UploadTable {
  struct Options: Sendable {
    /// 0 = no limit, for all of them.
    var bytesPerUser: Int64 = 0
    var uploadsPerUser = 0
    /// Of all files.
    var bytes: Int64 = 0
    /// What stays free of the disk.
    var minimumFreeBytes: Int64 = 0
  }

  /// What other threads do for an upload; answered by `take`.
  enum Order: Sendable {
    case place(String, user: String)
    case check(String, user: String, from: Int64, UploadChecksum)
    case sync(String)
    case forget(String)
  }

  /// Who gets an answer.
  struct Asker: Equatable, Sendable {
    var worker: FileWorker
    var loop: Int
  }

  private enum Stage {
    case receiving
    /// The last request's bytes are being checked.
    case checking(UploadChecksum, Asker)
    /// The file is being made.
    case placing
    case complete(StoredFile)
  }

  private struct Entry {
    var user: String
    var upload: Upload
    var stage = Stage.receiving
    /// The request that may write.
    var writer: Asker?
    /// The bytes from here on count once they are checked.
    var uncheckedFrom: Int64?
    /// Milliseconds since 1970; `nil` = all is synced.
    var writtenAt: Int64?
    /// Who waits for the file.
    var waiting: [Asker] = []

    /// How far the upload is.
    var sureUpload: Upload {
      var upload = upload
      upload.offset = uncheckedFrom ?? upload.offset
      return upload
    }
  }

  static let keptMilliseconds: Int64 = 86_400_000
  /// Bytes are synced if none has followed for this time.
  private static let restMilliseconds: Int64 = 1000
  /// In total: also empty ones take memory, and a file each.
  private static let uploadsLimit = 100_000

  private let folder: FileFolder
  private let options: Options
  private let counts: FileCounts
  private let report: @Sendable (SystemError?) -> Void
  private var entries: [String: Entry] = [:]
  private var totals = UploadTotals()
  /// What is to be done on other threads.
  private(set) var orders: [Order] = []
  /// Answers to requests that had to wait.
  private(set) var answers: [(Asker, FileWorkResult)] = []

  /// Reads the uploads that are there.
  /// - Parameter report: called with an error of the disk, and with `nil` once it works again.
  init(
    _ folder: FileFolder, _ options: Options, _ counts: FileCounts,
    report: @escaping @Sendable (SystemError?) -> Void
  ) {
    (self.folder, self.options, self.counts, self.report) = (folder, options, counts, report)
    for name in PrivateFiles.names(in: folder.uploads) ?? [] {
      let id = String(name.prefix { $0 != "." })
      if entries[id] == nil { set(id, to: read(id)) }
      // What has no record, or was made of an upload before the relay was killed.
      if entries[id] == nil || name != id && name != "\(id).json" {
        folder.remove("\(folder.uploads)/\(name)")
      }
    }
    counts.set(uploads: entries.count)
  }

  mutating func takeOrders() -> [Order] {
    defer { orders = [] }
    return orders
  }

  mutating func takeAnswers() -> [(Asker, FileWorkResult)] {
    defer { answers = [] }
    return answers
  }

  // MARK: - Requests

  /// - Returns: the answer; `nil` if it comes later, or there is none.
  mutating func perform(_ work: FileWork, for asker: Asker, now: Int64) -> FileWorkResult? {
    do throws(FileRefusal) {
      switch work {
      case .create(let user, let bytes, let metadata, let used):
        return .upload(try create(user, bytes, metadata, used, now))
      case .find(let id, let user):
        guard let entry = entries[id], entry.user == user else { return .nothing }
        return result(of: entry, id, for: asker)
      case .begin(let id, let user, let offset, let bytes, let isChecked):
        guard let entry = entries[id], entry.user == user else { return .nothing }
        return try begin(entry, id, offset, bytes, isChecked, asker)
      case .write(let id, let bytes): return .upload(try write(bytes, to: id, asker, now))
      case .end(let id, let checksum): return try end(id, checksum, asker)
      case .confirm(let id):
        remove(id)
        return .confirmed
      case .terminate(let id, let user):
        guard let entry = entries[id], entry.user == user else { return .nothing }
        if case .placing = entry.stage { throw .superseded }
        remove(id)
        return .terminated
      case .read, .readPNG, .remove: preconditionFailure("other threads do that")
      }
    } catch {
      return .refused(error)
    }
  }

  private mutating func create(
    _ user: String, _ bytes: Int64, _ metadata: String, _ used: Int64, _ now: Int64
  ) throws(FileRefusal) -> Upload {
    if entries.count >= Self.uploadsLimit { throw .relayIsFull }
    try totals.check(
      bytes, of: user, usedBytes: used, storedBytes: counts.values.storedBytes, options
    ) { folder.freeBytes }
    var random = SystemRandomNumberGenerator()
    let id = Base64.encodeForURL(
      (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    let upload = Upload(
      id: id, bytes: bytes, offset: 0, metadata: metadata, expiresAt: now + Self.keptMilliseconds)
    let entry = Entry(user: user, upload: upload)
    try writing { () throws(SystemError) in
      try folder.prepare()
      try WholeFile.write([], to: folder.upload(id), permissions: 0o600)
      try write(entry)
    }
    set(id, to: entry)
    counts.set(uploads: entries.count)
    return upload
  }

  /// Sets an entry whose upload may have another length or offset than before.
  private mutating func set(_ id: String, to entry: Entry?) {
    if let old = entries[id] { totals.remove(old.upload, of: old.user) }
    entries[id] = entry
    if let entry { totals.add(entry.upload, of: entry.user) }
  }

  private mutating func begin(
    _ found: Entry, _ id: String, _ offset: Int64, _ bytes: Int64, _ isChecked: Bool,
    _ asker: Asker
  ) throws(FileRefusal) -> FileWorkResult? {
    var entry = found
    switch entry.stage {
    case .receiving: break
    case .checking: throw .superseded
    case .placing, .complete:
      // Asked again, since the answer to the last request was lost.
      guard Int128(offset) + Int128(bytes) == Int128(entry.upload.bytes) else {
        throw .wrongOffset(entry.upload.bytes)
      }
      return result(of: entry, id, for: asker)
    }
    let sure = entry.sureUpload
    guard offset == sure.offset else { throw .wrongOffset(sure.offset) }
    guard bytes <= sure.bytes - offset else { throw .tooLong }
    try writing { () throws(SystemError) in
      if entry.uncheckedFrom != nil { try folder.truncate(folder.upload(id), to: offset) }
      let was = entry.uncheckedFrom
      entry.uncheckedFrom = isChecked ? offset : nil
      if was != entry.uncheckedFrom { try write(entry) }
    }
    entry.upload.offset = offset
    entry.writer = asker
    set(id, to: entry)
    return .upload(entry.upload)
  }

  private mutating func write(
    _ bytes: [UInt8], to id: String, _ asker: Asker, _ now: Int64
  ) throws(FileRefusal) -> Upload {
    guard var entry = entries[id], entry.writer == asker, case .receiving = entry.stage else {
      throw .superseded
    }
    guard Int64(bytes.count) <= entry.upload.bytes - entry.upload.offset else { throw .tooLong }
    let offset = entry.upload.offset
    do throws(FileRefusal) {
      try writing { () throws(SystemError) in
        try folder.write(bytes, to: folder.upload(id), at: offset)
      }
    } catch {
      // A part of the block may have been written.
      try? folder.truncate(folder.upload(id), to: offset)
      throw error
    }
    entry.upload.offset += Int64(bytes.count)
    entry.writtenAt = now
    set(id, to: entry)
    counts.add(received: bytes.count)
    return entry.upload
  }

  private mutating func end(
    _ id: String, _ checksum: UploadChecksum?, _ asker: Asker
  ) throws(FileRefusal) -> FileWorkResult? {
    guard let entry = entries[id], entry.writer == asker, case .receiving = entry.stage else {
      throw .superseded
    }
    guard let checksum else { return finishIfComplete(entry, id, for: asker) }
    entries[id]?.stage = .checking(checksum, asker)
    orders.append(
      .check(id, user: entry.user, from: entry.uncheckedFrom ?? 0, checksum))
    return nil
  }

  private mutating func finishIfComplete(
    _ entry: Entry, _ id: String, for asker: Asker
  ) -> FileWorkResult? {
    guard entry.upload.offset == entry.upload.bytes else { return .upload(entry.upload) }
    entries[id]?.stage = .placing
    entries[id]?.writtenAt = nil
    entries[id]?.waiting = [asker]
    orders.append(.place(id, user: entry.user))
    return nil
  }

  /// Returns how far an upload is. Who asks for one whose file is being made, waits.
  private mutating func result(
    of entry: Entry, _ id: String, for asker: Asker
  ) -> FileWorkResult? {
    switch entry.stage {
    case .receiving where entry.uncheckedFrom == nil:
      // One that was complete when the relay was killed becomes a file now.
      return finishIfComplete(entry, id, for: asker)
    case .receiving, .checking: return .upload(entry.sureUpload)
    case .complete(let file): return .complete(file)
    case .placing:
      entries[id]?.waiting.append(asker)
      return nil
    }
  }

  // MARK: - Results of other threads

  mutating func take(_ result: Result<StoredFile, FileRefusal>, of id: String) {
    guard let entry = entries[id] else { return }
    switch result {
    case .success(let file): entries[id]?.stage = .complete(file)
    case .failure: entries[id]?.stage = .receiving
    }
    entries[id]?.waiting = []
    for asker in entry.waiting {
      switch result {
      case .success(let file): answers.append((asker, .complete(file)))
      case .failure(let refusal): answers.append((asker, .refused(refusal)))
      }
    }
  }

  mutating func take(isRight: Bool, of id: String) {
    guard var entry = entries[id], case .checking(_, let asker) = entry.stage else { return }
    entry.stage = .receiving
    let start = entry.uncheckedFrom ?? 0
    entry.uncheckedFrom = nil
    if !isRight { entry.upload.offset = start }
    do throws(FileRefusal) {
      try writing { () throws(SystemError) in
        if !isRight { try folder.truncate(folder.upload(id), to: start) }
        try write(entry)
      }
      set(id, to: entry)
      guard isRight else { throw .wrongChecksum }
      if let answer = finishIfComplete(entry, id, for: asker) { answers.append((asker, answer)) }
    } catch {
      set(id, to: entry)
      answers.append((asker, .refused(error)))
    }
  }

  // MARK: - Time

  /// Syncs what has rested, and removes what has expired.
  mutating func tidy(now: Int64, isLast: Bool = false) {
    for (id, entry) in entries {
      if case .placing = entry.stage { continue }
      if entry.upload.expiresAt <= now {
        remove(id)
      } else if let written = entry.writtenAt,
        isLast || now - written >= Self.restMilliseconds || now < written
      {
        entries[id]?.writtenAt = nil
        orders.append(.sync(id))
      }
    }
  }

  private mutating func remove(_ id: String) {
    guard let entry = entries[id] else { return }
    if case .checking(_, let asker) = entry.stage { answers.append((asker, .nothing)) }
    set(id, to: nil)
    orders.append(.forget(id))
    folder.remove(folder.record(id))
    folder.remove(folder.upload(id))
    counts.set(uploads: entries.count)
  }

  // MARK: - Records

  private func writing(_ body: () throws(SystemError) -> Void) throws(FileRefusal) {
    do throws(SystemError) { try body() } catch {
      report(error)
      throw error.isFullDisk ? .diskIsFull : .failed
    }
    report(nil)
  }

  private func write(_ entry: Entry) throws(SystemError) {
    var json = Array("{\"user\":".utf8)
    json.append(jsonString: entry.user)
    json += Array(
      ",\"bytes\":\(entry.upload.bytes),\"expires_at\":\(entry.upload.expiresAt)".utf8)
    if let start = entry.uncheckedFrom { json += Array(",\"unchecked_from\":\(start)".utf8) }
    json += Array(",\"metadata\":".utf8)
    json.append(jsonString: entry.upload.metadata)
    try WholeFile.write(
      json + [UInt8(ascii: "}")], to: folder.record(entry.upload.id), permissions: 0o600)
  }

  /// Reads an upload; `nil` if its record or its bytes are missing or damaged: the client begins again.
  private func read(_ id: String) -> Entry? {
    guard
      let json = (try? WholeFile.read(folder.record(id), limitBytes: 1 << 17)).flatMap({
        JSONNode($0)
      }),
      let size = folder.status(of: folder.upload(id))?.size,
      let user = json["user"]?.string, let bytes = json["bytes"]?.integer, size <= bytes,
      let expiresAt = json["expires_at"]?.integer, let metadata = json["metadata"]?.string
    else { return nil }
    var entry = Entry(
      user: user,
      upload: Upload(
        id: id, bytes: bytes, offset: size, metadata: metadata, expiresAt: expiresAt))
    entry.uncheckedFrom = json["unchecked_from"]?.integer.map { min($0, size) }
    return entry
  }
}
