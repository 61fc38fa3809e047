internal import ObjectStorage
internal import Platform
internal import TLS

/// Gathers pages into objects, and stores these one after the other.
final class BackupWriter {
  private static let firstRetryMilliseconds = 1000
  private static let retryLimitMilliseconds = 30_000

  private let storage: any ObjectStorage
  private let store: String
  /// Whether to try again, as long as it takes, if the storage cannot be reached or is full.
  private let isPatient: Bool
  private let report: (String) -> Void
  /// The number of the last object.
  private(set) var number: Int
  private var previous: [UInt8]
  private var pages: [CopiedPage] = []
  private var pendingBytes = 0
  /// The bytes of all pages that were added.
  private(set) var bytes = 0

  /// - Parameters:
  ///   - number: that of the object to go on after; 0 = none.
  ///   - previous: its digest.
  init(
    _ storage: any ObjectStorage, store: String, after number: Int, _ previous: [UInt8],
    isPatient: Bool, report: @escaping (String) -> Void
  ) {
    self.storage = storage
    self.store = store
    self.number = number
    self.previous = previous
    self.isPatient = isPatient
    self.report = report
  }

  var isEmpty: Bool { pages.isEmpty }

  /// Adds a page, and stores a part if enough pages have come together.
  func add(_ page: CopiedPage) throws(BackupError) {
    pages.append(page)
    pendingBytes += page.content.count
    bytes += page.content.count
    if pendingBytes >= BackupObject.limitBytes || pages.count >= BackupObject.pageLimit {
      try storePart()
    }
  }

  /// Stores what was added as a part of a later point.
  func storePart() throws(BackupError) {
    guard !isEmpty else { return }
    var files: [BackupObject.File] = []
    for page in pages {
      if let place = files.firstIndex(where: { $0.name == page.file.name }) {
        files[place].bytes = max(files[place].bytes, page.file.bytes)
      } else {
        files.append(page.file)
      }
    }
    try store(files, base: nil)
  }

  /// Stores what was added as the rest of a point.
  /// - Parameter files: all files as they are.
  func storePoint(_ files: [BackupObject.File], base: Int) throws(BackupError) {
    try store(files, base: base)
  }

  private func store(_ files: [BackupObject.File], base: Int?) throws(BackupError) {
    number += 1
    var object = BackupObject(
      name: ObjectName(number: number, time: WallClock.milliseconds, base: base),
      previous: previous, store: store, files: files, pages: [])
    var contents: [UInt8] = []
    contents.reserveCapacity(pendingBytes)
    // Files may have become shorter since pages of them were added.
    for page in pages {
      guard let place = files.firstIndex(where: { $0.name == page.file.name }),
        files[place].pageBytes == page.file.pageBytes,
        files[place].bytes(ofPage: page.number) == page.content.count
      else { continue }
      object.pages.append(
        BackupObject.Page(file: place, number: page.number, hash: page.hash))
      contents += page.content
    }
    let encoded = object.encoded(contents)
    try put(encoded, as: object.name.text, in: storage)
    previous = Array(encoded.suffix(SHA256Digest.bytes))
    pages.removeAll(keepingCapacity: true)
    pendingBytes = 0
  }

  /// Stores an object, as soon as that is possible.
  func put(
    _ bytes: [UInt8], as name: String, in storage: any ObjectStorage
  ) throws(BackupError) {
    var wait = Self.firstRetryMilliseconds
    while true {
      do throws(StorageError) {
        try storage.put(bytes, as: name)
        if wait > Self.firstRetryMilliseconds { report("The backup goes on.") }
        return
      } catch {
        guard isPatient, error.kind == .unavailable else { throw BackupError(error) }
        if wait == Self.firstRetryMilliseconds {
          report("\(error) The backup tries again until it works.")
        }
        Pacer.sleep(until: Instant.now().adding(milliseconds: wait))
        wait = min(wait * 2, Self.retryLimitMilliseconds)
      }
    }
  }
}

/// A page that was read from the data folder.
struct CopiedPage {
  /// The size is enough for the page, and not yet that of the next point.
  var file: BackupObject.File
  var number: Int
  var content: [UInt8]
  var hash: PageHash
}
