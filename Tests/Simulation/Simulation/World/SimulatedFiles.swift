internal import Gateway
internal import Mixing
internal import Platform
internal import Relay
internal import Server
internal import Wire

/// What keeps the bytes of files, as `FileKeeper` does on threads: the product's `UploadTable`, `FilePlacer` and `FileFolder` on the
/// simulated disk. A step does a part of what waits for one of the threads.
final class SimulatedFiles {
  /// As those of `FileKeeper`.
  enum Thread: CaseIterable, Hashable { case write, place, read }

  typealias Answer = (asker: UploadTable.Asker, result: FileWorkResult)

  private enum Task {
    case work(FileWork, UploadTable.Asker)
    case placed(String, Result<StoredFile, FileRefusal>)
    case checked(String, Result<Bool, FileRefusal>)
  }
  private enum Placing {
    case order(UploadTable.Order)
    case remove([String], UploadTable.Asker)
  }
  private struct Reading {
    var hash: String
    var offset: Int64
    var bytes: Int
    var asker: UploadTable.Asker
  }

  static let folder = "\(SimulatedSQLiteLog.folder)/files"
  static let tidyMilliseconds: Int64 = 1000

  private let folder: FileFolder
  private let bytes: FolderBytes
  private var table: UploadTable
  private var placer: FilePlacer
  private var tasks: [Task] = []
  private var placings: [Placing] = []
  private var readings: [Reading] = []
  /// The threads whose next step is scheduled.
  var scheduled: Set<Thread> = []
  /// Called with bytes that were removed, of which `old` were found by the search for what a crash has left.
  var onRemoved: (_ hashes: [String], _ old: [String]) -> Void = { _, _ in }

  /// - Parameter isTemporary: whether the log forgets everything with its process.
  init(
    _ disk: SimulatedDisk, isTemporary: Bool, _ options: UploadTable.Options, seed: UInt64
  ) {
    let system = SimulatedFolderDisk(disk, root: SimulatedSQLiteLog.folder)
    folder = FileFolder(path: Self.folder, on: system)
    bytes = FolderBytes(folder: folder)
    if isTemporary { folder.clear() }
    let counts = FileCounts()
    table = UploadTable(folder, options, counts, random: SplitMix64(seed: seed), report: { _ in })
    placer = FilePlacer(folder, bytes, SimulatedPictures(disk: system), counts)
  }

  func keep(_ work: FileWork, for worker: FileWorker, loop: Int) {
    let asker = UploadTable.Asker(worker: worker, loop: loop)
    switch work {
    case .read(let hash, let offset, let bytes), .readPNG(let hash, _, let offset, let bytes):
      readings.append(Reading(hash: hash, offset: offset, bytes: bytes, asker: asker))
    case .remove(let hashes): placings.append(.remove(hashes, asker))
    default: tasks.append(.work(work, asker))
    }
  }

  func count(_ thread: Thread) -> Int {
    switch thread {
    case .write: tasks.count
    case .place: placings.count
    case .read: readings.count
    }
  }

  /// Does what waits for a thread first.
  /// - Parameter count: how much of it: a thread takes all that is there, at a time that the seed chooses.
  func step(_ thread: Thread, _ count: Int, now: Int64) -> [Answer] {
    var answers: [Answer] = []
    switch thread {
    case .write:
      let some = tasks.prefix(count)
      tasks.removeFirst(some.count)
      for task in some { perform(task, now, &answers) }
      passOn(&answers)
    case .place:
      let some = placings.prefix(count)
      placings.removeFirst(some.count)
      for placing in some { perform(placing, now, &answers) }
    case .read:
      let some = readings.prefix(count)
      readings.removeFirst(some.count)
      answers = some.map { ($0.asker, read($0)) }
    }
    return answers
  }

  func tidy(now: Int64) -> [Answer] {
    var answers: [Answer] = []
    table.tidy(now: now)
    passOn(&answers)
    return answers
  }

  /// Does what is left, once no loop asks for anything any more.
  func finish(now: Int64) {
    while !tasks.isEmpty || !placings.isEmpty {
      for thread in [Thread.write, .place] { _ = step(thread, .max, now: now) }
    }
    table.tidy(now: now, isLast: true)
    var answers: [Answer] = []
    passOn(&answers)
    _ = step(.place, .max, now: now)
  }

  // MARK: - The threads

  private func perform(_ task: Task, _ now: Int64, _ answers: inout [Answer]) {
    switch task {
    case .work(let work, let asker):
      if let result = table.perform(work, for: asker, now: now) { answers.append((asker, result)) }
    case .placed(let id, let result): table.take(result, of: id)
    case .checked(let id, let result): table.take(checked: result, of: id, now: now)
    }
  }

  private func passOn(_ answers: inout [Answer]) {
    placings += table.takeOrders().map { .order($0) }
    answers += table.takeAnswers().map { (asker: $0.0, result: $0.1) }
  }

  private func perform(_ placing: Placing, _ now: Int64, _ answers: inout [Answer]) {
    switch placing {
    case .remove(let hashes, let asker):
      let result = placer.remove(hashes, now: now)
      if case .removed(let removed, let old) = result { onRemoved(removed, old) }
      answers.append((asker, result))
    case .order(.forget(let id)): placer.forget(id)
    case .order(.place(let id, let user)):
      tasks.append(
        .placed(
          id,
          Self.result { () throws(FileBytesError) in
            try placer.place(id, of: user, now: now)
          }))
    case .order(.check(let id, _, let offset, let checksum)):
      let result = Self.result { () throws(FileBytesError) in
        try placer.check(id, at: offset, checksum)
      }
      tasks.append(.checked(id, result))
    case .order(.sync(let id)): try? placer.sync(id)
    }
  }

  private static func result<Value>(
    _ body: () throws(FileBytesError) -> Value
  ) -> Result<Value, FileRefusal> {
    do throws(FileBytesError) { return .success(try body()) } catch {
      return .failure(error.isFull ? .diskIsFull : .failed)
    }
  }

  private func read(_ reading: Reading) -> FileWorkResult {
    do throws(FileBytesError) {
      guard
        let part = try bytes.read(reading.hash, at: reading.offset, bytes: reading.bytes)
      else { return .nothing }
      return .bytes(part.bytes, size: part.size)
    } catch {
      return .refused(.failed)
    }
  }
}

/// Takes files that begin with a `P` for pictures: they are served in other bytes than they were uploaded in, and have a
/// thumbnail.
struct SimulatedPictures: FileProcessor {
  let disk: SimulatedFolderDisk

  /// Returns what is served of an upload.
  static func served(_ content: [UInt8]) -> [UInt8] {
    isPicture(content) ? Array("picture:".utf8) + content : content
  }

  /// Returns the thumbnail of an upload; `nil` if it has none.
  static func thumbnail(_ content: [UInt8]) -> [UInt8]? {
    isPicture(content) ? Array("thumbnail:".utf8) + content.prefix(20) : nil
  }

  private static func isPicture(_ content: [UInt8]) -> Bool { content.first == UInt8(ascii: "P") }

  func process(_ path: String) -> ProcessedFile {
    var file = ProcessedFile()
    guard let size = disk.status(of: path)?.size,
      let content = try? disk.read(path, at: 0, bytes: Int(size)).bytes,
      let thumbnail = Self.thumbnail(content)
    else { return file }
    let (picturePath, thumbnailPath) = ("\(path).picture", "\(path).thumbnail")
    guard (try? disk.write(Self.served(content), to: picturePath)) != nil,
      (try? disk.write(thumbnail, to: thumbnailPath)) != nil
    else {
      for made in [picturePath, thumbnailPath] { disk.remove(made) }
      return file
    }
    file.path = picturePath
    (file.width, file.height) = (20, 10)
    file.thumbnail = .init(path: thumbnailPath, width: 2, height: 1, placeholder: "AA==")
    return file
  }

  func convertToPNG(_ path: String, into output: String) -> Bool { false }
}
