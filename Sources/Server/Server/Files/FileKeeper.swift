import Gateway
import ObjectStorage
import Platform
import Relay
import Synchronization

/// Keeps the bytes of files: threads of its own, so that a loop never waits for the disk, and an upload neither for the files of
/// others nor for their syncs.
///
/// `files-write` owns the uploads and writes their blocks, `files-place` makes files of complete ones and removes bytes,
/// `files-read` reads what is served, `files-convert` makes PNGs of thumbnails, and `files-share` lets uploads go on at other
/// relays. What must not overlap, storing bytes and removing them, is on one thread.
final class FileKeeper: Sendable {
  private enum Task: Sendable {
    case work(FileWork, UploadTable.Asker)
    case placed(String, Result<StoredFile, FileRefusal>)
    case checked(String, Result<Bool, FileRefusal>)
    case shared(SharingAnswer)
  }

  private enum Placing: Sendable {
    case order(UploadTable.Order)
    case remove([String], UploadTable.Asker)

    /// Whose turn it takes; empty = that of the relay itself.
    var user: String {
      switch self {
      case .order(.place(_, let user)), .order(.check(_, let user, _, _)): user
      case .order(.sync), .order(.forget), .remove: ""
      }
    }
  }

  private struct Reading: Sendable {
    var hash: String
    var offset: Int64
    var bytes: Int
    /// The user who gets a thumbnail as a PNG; `nil` = as it is stored.
    var pngUser: String?
    var asker: UploadTable.Asker
  }

  private static let tidyMilliseconds = 1000

  let counts = FileCounts()
  private let folder: FileFolder
  private let bytes: any FileBytes
  private let options: UploadTable.Options
  private let processor: any FileProcessor
  /// `nil` = an upload goes on at this relay only.
  private let sharer: UploadSharer?
  private let tasks = WorkQueue<Task>()
  private let placing = WorkQueue<Placing>()
  private let readings = WorkQueue<Reading>()
  private let pngs: ThumbnailConverter<Reading>
  private let threads = Mutex<[WorkerThread]>([])
  private let readers = Mutex<[WorkerThread]>([])

  /// - Parameters:
  ///   - folder: that of uploads.
  ///   - uploads: where other relays find the uploads of this one.
  ///   - isTemporary: whether the log forgets everything when the relay ends, so that bytes of an earlier one are of
  ///     no use.
  init(
    folder: FileFolder, bytes: any FileBytes, uploads: (any ObjectStorage)?, isTemporary: Bool,
    _ options: UploadTable.Options, processor: any FileProcessor
  ) {
    (self.folder, self.bytes) = (folder, bytes)
    self.options = options
    sharer = uploads.map { UploadSharer($0, folder) }
    self.processor = processor
    pngs = ThumbnailConverter(folder, bytes, processor)
    if isTemporary { self.folder.clear() }
  }

  /// Asks for something; the loop gets `LoopMessage.files`. Thread-safe.
  func keep(_ work: FileWork, for worker: FileWorker, loop: Int) {
    let asker = UploadTable.Asker(worker: worker, loop: loop)
    switch work {
    case .read(let hash, let offset, let bytes):
      readings.append(Reading(hash: hash, offset: offset, bytes: bytes, asker: asker))
    case .readPNG(let thumbnail, let user, let offset, let bytes):
      readings.append(
        Reading(hash: thumbnail, offset: offset, bytes: bytes, pngUser: user, asker: asker))
    case .remove(let hashes): placing.append(.remove(hashes, asker))
    default: tasks.append(.work(work, asker))
    }
  }

  /// Starts the threads.
  /// - Parameter report: called with messages for the operator.
  func start(
    _ mailboxes: [Mailbox<LoopMessage>], report: @escaping @Sendable (String) -> Void
  ) throws(SystemError) {
    let outage = BytesOutage(bytes, report)
    let place = try WorkerThread(name: "files-place") { self.place(mailboxes, outage) }
    let write = try WorkerThread(name: "files-write") { self.write(mailboxes, report) }
    threads.withLock { $0 = [write, place] }
    if let share = try sharer?.start(outage, answer: { self.tasks.append(.shared($0)) }) {
      threads.withLock { $0.append(share) }
    }
    let read = try WorkerThread(name: "files-read") { self.read(mailboxes) }
    readers.withLock { $0 = [read] }
    let convert = try WorkerThread(name: "files-convert") {
      self.pngs.run { exists, reading in
        let failure: FileWorkResult = exists ? .refused(.notConverted) : .nothing
        self.answer(reading, self.read(reading) ?? failure, mailboxes)
      }
    }
    readers.withLock { $0.append(convert) }
  }

  /// Writes what was handed over, and ends; files are still read, by downloads that are under way.
  func stopWriting() {
    tasks.close()
    threads.withLock { threads in
      for thread in threads { thread.join() }
      threads = []
    }
  }

  /// Ends the rest.
  func stop() {
    readings.close()
    pngs.stop()
    readers.withLock { threads in
      for thread in threads { thread.join() }
      threads = []
    }
  }

  // MARK: - files-write

  private func write(
    _ mailboxes: [Mailbox<LoopMessage>], _ report: @escaping @Sendable (String) -> Void
  ) {
    let outage = BytesOutage(FolderBytes(folder: folder), report)
    var table = UploadTable(folder, options, counts) { outage.update($0.map(FileBytesError.init)) }
    var tidiedAt: Int64 = 0
    while let batch = tasks.takeAll(timeoutMilliseconds: Self.tidyMilliseconds) {
      let now = WallClock.milliseconds
      for task in batch {
        switch task {
        case .work(let work, let asker):
          if let result = table.perform(work, for: asker, now: now) {
            mailboxes[asker.loop].post(.files(result, asker.worker))
          }
        case .placed(let id, let result): table.take(result, of: id)
        case .checked(let id, let result): table.take(checked: result, of: id, now: now)
        case .shared(let answer): table.take(answer, now: now)
        }
      }
      if now - tidiedAt >= Int64(Self.tidyMilliseconds) || now < tidiedAt {
        tidiedAt = now
        table.tidy(now: now)
      }
      passOn(&table, mailboxes)
    }
    table.tidy(now: WallClock.milliseconds, isLast: true)
    passOn(&table, mailboxes)
    placing.close()
    sharer?.close()
  }

  private func passOn(_ table: inout UploadTable, _ mailboxes: [Mailbox<LoopMessage>]) {
    for order in table.takeOrders() { placing.append(.order(order)) }
    for order in table.takeSharingOrders() { sharer?.append(order) }
    for (asker, result) in table.takeAnswers() {
      mailboxes[asker.loop].post(.files(result, asker.worker))
    }
  }

  // MARK: - files-place

  private func place(_ mailboxes: [Mailbox<LoopMessage>], _ outage: BytesOutage) {
    var placer = FilePlacer(folder, bytes, processor, counts)
    // A picture may take seconds.
    var turns = Turns<Placing>()
    while true {
      for item in placing.takeAll(timeoutMilliseconds: turns.isEmpty ? nil : 0) ?? [] {
        turns.add(item, of: item.user)
      }
      guard let item = turns.next() else { return }
      // What users wait for goes on after a restart, when their clients ask again.
      if placing.isEnding, !item.user.isEmpty { continue }
      let now = WallClock.milliseconds
      switch item {
      case .remove(let hashes, let asker):
        mailboxes[asker.loop].post(.files(placer.remove(hashes, now: now), asker.worker))
      case .order(.forget(let id)): placer.forget(id)
      case .order(.place(let id, let user)):
        let result = outage.watch { () throws(FileBytesError) in
          try placer.place(id, of: user, now: now)
        }
        if case .success = result { counts.addFile() }
        tasks.append(.placed(id, result))
      case .order(.check(let id, _, let offset, let checksum)):
        let result = outage.watch { () throws(FileBytesError) in
          try placer.check(id, at: offset, checksum)
        }
        tasks.append(.checked(id, result))
      case .order(.sync(let id)):
        // The upload may be gone by now, and the next sync tells of a disk that fails.
        try? placer.sync(id)
      }
    }
  }

  // MARK: - files-read

  private func read(_ mailboxes: [Mailbox<LoopMessage>]) {
    while let batch = readings.takeAll() {
      for reading in batch {
        if let result = read(reading) {
          answer(reading, result, mailboxes)
        } else if let user = reading.pngUser {
          if !pngs.convert(reading.hash, for: reading, of: user) {
            answer(reading, .refused(.notConverted), mailboxes)
          }
        } else {
          answer(reading, .nothing, mailboxes)
        }
      }
    }
  }

  private func answer(
    _ reading: Reading, _ result: FileWorkResult, _ mailboxes: [Mailbox<LoopMessage>]
  ) {
    mailboxes[reading.asker.loop].post(.files(result, reading.asker.worker))
  }

  /// - Returns: `nil` if there are no such bytes.
  private func read(_ reading: Reading) -> FileWorkResult? {
    let part: (bytes: [UInt8], size: Int64)?
    if reading.pngUser != nil {
      part = try? folder.disk.read(
        folder.png(of: reading.hash), at: reading.offset, bytes: reading.bytes)
    } else {
      do throws(FileBytesError) {
        part = try bytes.read(reading.hash, at: reading.offset, bytes: reading.bytes)
      } catch {
        return .refused(.failed)
      }
    }
    guard let part else { return nil }
    counts.add(served: part.bytes.count)
    return .bytes(part.bytes, size: part.size)
  }
}

/// Tells the operator of a place for bytes that fails, once, and that it works again. Thread-safe.
final class BytesOutage: Sendable {
  private let outage: Mutex<Outage>

  init(_ bytes: any FileBytes, _ report: @escaping @Sendable (String) -> Void) {
    outage = Mutex(
      Outage(
        "The folder of files", path: "files", check: bytes.check,
        meanwhile: "Uploads are refused, and clients try again", report: report))
  }

  func update(_ error: FileBytesError?) {
    outage.withLock { $0.update(error.map { StoreFailure("\($0)") }) }
  }

  func watch<Value>(
    _ body: () throws(FileBytesError) -> Value
  ) -> Result<Value, FileRefusal> {
    do throws(FileBytesError) {
      let value = try body()
      update(nil)
      return .success(value)
    } catch {
      update(error)
      return .failure(error.isFull ? .diskIsFull : .failed)
    }
  }
}
