public import ObjectStorage
internal import Platform
internal import SQLite

/// A backup of a data folder, once or as long as the process runs, beside a relay or without one.
///
/// Objects are stored in an order. A *scan* reads all pages slice by slice, each in a short transaction; meanwhile
/// and after it, a *point* stores what has changed since the point before, as of one moment. So a scan followed by a
/// point is consistent, although it took its time: whatever changed after a page was scanned is in a later point
/// (docs/decisions/backup.md).
public final class BackupRun {
  public struct Options: Sendable {
    /// How much is read in a second; `nil` = as fast as possible.
    public var bytesPerSecond: Int?
    /// Points of this time can be restored; what is older is deleted.
    public var keepSeconds = 7 * 86_400
    /// After this time, all pages are stored again.
    public var fullEverySeconds = 86_400
    /// Whether to go on until the process ends.
    public var follows = false
    /// How long it takes until the next point.
    public var intervalMilliseconds = 5000

    public init() {}
  }

  /// A scan in progress.
  private struct Scan {
    /// Whether it stores also the pages that have not changed.
    var isFull: Bool
    /// The number and time of its first object.
    var start: (number: Int, time: Int64)
    /// The databases that are still to be read.
    var files: [String]
    var nextPage = 1
  }

  /// How much may change before a point for it to be read in one transaction.
  private static let pointBytes = 8 << 20
  /// How often the changes, which are fewer each time, are read before that.
  private static let approaches = 4
  /// All pages are stored again when the points have become this many times larger than them.
  private static let growth = 2
  private static let removalIntervalMilliseconds = 3_600_000

  private let storage: any ObjectStorage
  private let options: Options
  private let report: (String) -> Void
  private let source: DataFiles
  private let writer: BackupWriter
  private let fileObjects: FileObjects
  /// The hashes that files have as of the last moment that was read.
  private var fileHashes: Set<String> = []
  /// Those whose bytes the data folder has lost.
  public private(set) var lostFiles: Set<String> = []
  private var stored: StoredPages
  private var pacer: Pacer
  private var scan: Scan?
  /// The number and time of the object that a restore of the next point begins with.
  private var base: (number: Int, time: Int64)
  /// Whether all pages are known to be stored.
  private var isComplete = false
  /// What the last full scan has stored, and where that ended; `nil` = another process made it.
  private var full: (bytes: Int, end: Int, number: Int)?
  private var nextRemoval = Instant.now()

  /// Looks what the storage has, and goes on from there.
  public init(
    folder: String, storage: any ObjectStorage, options: Options = Options(),
    report: @escaping (String) -> Void
  ) throws {
    self.storage = storage
    self.options = options
    self.report = report
    pacer = Pacer(bytesPerSecond: options.bytesPerSecond)
    let (source, store) = try Self.explaining(folder) {
      let source = try DataFiles(folder)
      return (source, try source.storeName)
    }
    self.source = source
    do throws(StorageError) { try storage.claim() } catch { throw BackupError(error) }
    let last = try LastObject(
      of: BackupListing(storage), in: storage, store: store, report: report)
    (stored, base) = (last.stored, last.base)
    writer = BackupWriter(
      storage, store: store, after: last.number, last.digest, isPatient: options.follows,
      report: report)
    fileObjects = try FileObjects(storage, put: writer.put)
    // A backup that goes on makes points in the meantime.
    if last.isNone || isFullDue && !options.follows {
      base = (last.number + 1, WallClock.milliseconds)
      stored = StoredPages()
    }
    scan = try Self.explaining(folder) { try makeScan(isFull: false) }
  }

  /// The number of the last object.
  public var number: Int { writer.number }

  /// The bytes of all pages that were stored.
  public var bytes: Int { writer.bytes }

  /// Goes on until everything is stored; with `follows`, until an error.
  public func run() throws {
    try Self.explaining(source.folder) {
      var next = Instant.now()
      while true {
        if scan != nil { try scanSlice() }
        let isScanned = scan?.files.isEmpty == true
        if isScanned || Instant.now() >= next {
          next = Instant.now().adding(milliseconds: options.intervalMilliseconds)
          try makePoint(endsScan: isScanned)
        }
        guard scan == nil else { continue }
        do { try removeOld() } catch let error as BackupError
          where options.follows && error.kind == .unavailable
        { report("\(error)") }
        if !options.follows { return }
        if isFullDue { scan = try makeScan(isFull: true) } else { Pacer.sleep(until: next) }
      }
    }
  }

  private var isFullDue: Bool {
    if let full, full.number == writer.number { return false }
    return WallClock.milliseconds - base.time > Int64(options.fullEverySeconds) * 1000
      || full.map { writer.bytes - $0.end > Self.growth * $0.bytes } ?? false
  }

  // MARK: - Scanning

  private func makeScan(isFull: Bool) throws -> Scan {
    for file in source.files where file.mark == nil {
      file.mark = try file.database?.atOneMoment { $0.mark }
    }
    return Scan(
      isFull: isFull, start: (writer.number + 1, WallClock.milliseconds),
      files: source.files.filter { $0.database != nil }.map(\.name))
  }

  /// Reads the next pages of the scan.
  private func scanSlice() throws {
    guard let scan, let name = scan.files.first else { return }
    var end = 0
    if let file = source.files.first(where: { $0.name == name }), let database = file.database {
      let first = scan.nextPage
      end = first + max(1, pacer.sliceBytes / database.pageBytes)
      let pageCount = try copy(file, evenUnchanged: scan.isFull) { _ in first..<end }
      if end > pageCount { end = 0 }
      pacer.wait()
    }
    self.scan?.nextPage = max(1, end)
    if end == 0 { self.scan?.files.removeFirst() }
  }

  /// Copies pages of a database in one transaction. Those that it does not have are skipped.
  /// - Returns: the number of its pages.
  @discardableResult
  private func copy(
    _ file: DataFiles.File, evenUnchanged: Bool = false,
    _ numbers: (borrowing DatabasePages.Moment) throws -> some Sequence<Int>
  ) throws -> Int {
    guard let database = file.database else { return 0 }
    let (pages, pageCount) = try database.atOneMoment { moment in
      let pageCount = Int(moment.pageCount)
      var pages: [(number: Int, content: [UInt8])] = []
      for number in try numbers(moment) where number <= pageCount {
        pages.append((number, try moment.page(UInt32(number))))
      }
      return (pages, pageCount)
    }
    let description = file.description(bytes: pageCount * database.pageBytes)
    for page in pages {
      try add(page.content, of: description, page.number, evenUnchanged: evenUnchanged)
    }
    return pageCount
  }

  private func add(
    _ content: [UInt8], of file: BackupObject.File, _ number: Int, evenUnchanged: Bool
  ) throws(BackupError) {
    pacer.record(content.count)
    let hash = PageHash(of: content[...])
    guard stored.add(hash, file: file.name, page: number) || evenUnchanged else { return }
    try writer.add(CopiedPage(file: file, number: number, content: content, hash: hash))
  }

  // MARK: - Points

  /// Stores what has changed since the last point.
  /// - Parameter endsScan: whether all pages were read since the scan began.
  private func makePoint(endsScan: Bool) throws {
    try source.update()
    // During a full scan also pages that have changed back, which the scan may not have met.
    let isFull = scan?.isFull == true
    // Before the moment of the point, so that few files are left to copy after it.
    if isComplete || endsScan { _ = try copyFiles(source.fileHashes) }
    for file in source.files { try approach(file, evenUnchanged: isFull) }
    var files: [BackupObject.File] = []
    for file in source.files {
      files.append(
        file.database == nil
          ? try copyWhole(file, evenUnchanged: isFull && endsScan)
          : try copyChanges(of: file, evenUnchanged: isFull))
    }
    stored.keep(files)
    if endsScan, let scan {
      if isFull || scan.start.number == base.number {
        if isFull { base = scan.start }
        let bytes = files.reduce(0) { $0 + $1.bytes }
        full = (bytes, writer.bytes, writer.number + 1)
      }
      isComplete = true
      self.scan = nil
      if options.follows {
        report(
          "All pages are stored as of point \(writer.number + 1). What changes is stored from now on."
        )
      }
    }
    if !isComplete {
      try writer.storePart()
    } else if endsScan || !writer.isEmpty {
      guard try copyFiles(fileHashes) else {
        // One was deleted since, and its bytes are gone: this moment cannot be a point any more.
        try writer.storePart()
        return try makePoint(endsScan: true)
      }
      try fileObjects.need(fileHashes)
      try writer.storePoint(files, base: base.number)
      try fileObjects.need(only: fileHashes, from: writer.number)
    }
  }

  /// Stores the bytes of files that are not stored yet.
  /// - Returns: whether those that the data folder does not have are lost: their files are still there.
  private func copyFiles(_ hashes: Set<String>) throws -> Bool {
    let absent = try fileObjects.copy(hashes, from: source.folder, &pacer)
    if absent.isEmpty { return true }
    let named = try source.fileHashes
    // They may have come back: the bytes are there before the file.
    let lost = try fileObjects.copy(absent.filter(named.contains), from: source.folder, &pacer)
    for hash in lost where lostFiles.insert(hash).inserted {
      report(
        "The bytes with the SHA-256 \(hash) are missing in \(source.folder)/\(FileObjects.folder), or damaged: the "
          + "backup lacks them. Run relay verify, which names the file.")
    }
    return absent.allSatisfy(named.contains)
  }

  /// Copies changes outside of the point's transaction, if there are many.
  private func approach(_ file: DataFiles.File, evenUnchanged: Bool) throws {
    guard let database = file.database else { return }
    for _ in 0..<Self.approaches {
      guard let mark = file.mark else { return }
      let (changed, next) = try database.atOneMoment {
        (try $0.pages(changedSince: mark).map(Int.init), $0.mark)
      }
      guard changed.count * database.pageBytes > Self.pointBytes else { return }
      var rest = changed[...]
      while !rest.isEmpty {
        let slice = rest.prefix(max(1, pacer.sliceBytes / database.pageBytes))
        try copy(file, evenUnchanged: evenUnchanged) { _ in slice }
        rest = rest.dropFirst(slice.count)
        pacer.wait()
      }
      file.mark = next
    }
  }

  private func copyChanges(
    of file: DataFiles.File, evenUnchanged: Bool
  ) throws -> BackupObject.File {
    var next: DatabasePages.Mark?
    let pageCount = try copy(file, evenUnchanged: evenUnchanged) { moment in
      next = moment.mark
      if file.name == DataFiles.store { fileHashes = try source.fileHashes }
      guard let mark = file.mark else { return Array(1..<Int(moment.pageCount) + 1) }
      return try moment.pages(changedSince: mark).map(Int.init)
    }
    file.mark = next
    return file.description(bytes: pageCount * (file.database?.pageBytes ?? 0))
  }

  /// Copies a file that is no database.
  private func copyWhole(
    _ file: DataFiles.File, evenUnchanged: Bool
  ) throws -> BackupObject.File {
    let bytes = try file.whole()
    let description = file.description(bytes: bytes.count)
    for number in 0..<description.pageCount {
      let start = number * description.pageBytes
      let page = bytes[start..<min(bytes.count, start + description.pageBytes)]
      try add(Array(page), of: description, number + 1, evenUnchanged: evenUnchanged)
    }
    return description
  }

  // MARK: - Deleting

  /// Deletes the objects that only points need which are older than what is kept.
  private func removeOld() throws {
    guard Instant.now() >= nextRemoval else { return }
    nextRemoval = Instant.now().adding(milliseconds: Self.removalIntervalMilliseconds)
    let listing = try BackupListing(storage)
    let horizon = WallClock.milliseconds - Int64(options.keepSeconds) * 1000
    let first = listing.points.last { $0.time <= horizon }?.base ?? 0
    for name in listing.names where name.number < first {
      do throws(StorageError) { try storage.delete(name.text) } catch { throw BackupError(error) }
    }
    guard let oldest = listing.points.first(where: { ($0.base ?? 0) >= first }) else { return }
    try fileObjects.delete(unneededFrom: oldest.number)
  }

  /// Explains errors of reading the folder.
  private static func explaining<Result>(
    _ folder: String, _ body: () throws -> Result
  ) throws -> Result {
    do { return try body() } catch let error as SQLiteError {
      throw error.isCorruption
        ? BackupError(
          .damaged,
          "A file in \(folder) is damaged: \(error.message). Nothing damaged was stored. Run relay verify "
            + "on the folder, and restore what was stored before.")
        : BackupError(.unavailable, "A file in \(folder) cannot be read: \(error).")
    } catch let error as SystemError {
      throw BackupError(
        .unavailable,
        "\(folder) cannot be read: \(error). Run this command as the user that runs the relay.")
    }
  }
}
