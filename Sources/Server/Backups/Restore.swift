public import ObjectStorage

internal import Glibc
internal import Platform

/// The restoring of a data folder from a backup.
public struct Restore {
  /// A point in time that can be restored.
  public struct Point: Sendable {
    public var number: Int
    /// Milliseconds since 1970.
    public var time: Int64

    /// The time as `relay restore` prints and takes it.
    public var timeText: String { Self.text(time) }

    /// - Parameter time: milliseconds since 1970.
    public static func text(_ time: Int64) -> String { UTC.text(time, "%Y-%m-%dT%H:%M:%SZ") }
  }

  /// Selects a point.
  public enum Selection: Equatable, Sendable {
    case last
    case number(Int)
    /// The last one that is not later: milliseconds since 1970.
    case time(Int64)
  }

  /// The folder in the data folder in which files are until all of them are sound.
  private static let draft = "restoring"

  private let storage: any ObjectStorage
  private let listing: BackupListing

  public init(from storage: any ObjectStorage) throws(BackupError) {
    self.storage = storage
    listing = try BackupListing(storage)
  }

  /// How messages call the storage.
  public var place: String { storage.description }

  /// All points, oldest first.
  public var points: [Point] { listing.points.map { Point(number: $0.number, time: $0.time) } }

  /// What was restored.
  public struct Outcome: Sendable {
    public var point: Point
    /// The hashes of bytes of files that the backup lacks or has damaged.
    public var lostFiles: [String]
  }

  /// Restores a point into an empty folder.
  /// - Parameter verify: called with the folder that has the files before they are put in their place; throws
  ///   if they are not sound.
  public func run(
    _ selection: Selection, into folder: String, verify: (_ folder: String) throws -> Void
  ) throws -> Outcome {
    let point = try point(selection)
    let draft = "\(folder)/\(Self.draft)"
    do throws(SystemError) {
      try PrivateFiles.createFolder(folder)
      let names = PrivateFiles.names(in: folder) ?? []
      guard names.allSatisfy({ $0 == Self.draft || $0 == "lost+found" }) else {
        throw SystemError("use \(folder)", code: ENOTEMPTY)
      }
      // What a restore has left that was interrupted.
      try Self.empty(draft)
      try PrivateFiles.createSecretFolder(draft)
      _ = try PrivateFiles.takeFromOthers(folder)
    } catch {
      throw BackupError(
        .refused,
        "The folder \(folder) cannot be restored into: \(error.reason). Use a new or empty folder.")
    }
    var files = RestoredFiles(in: draft)
    let numbers = (point.base ?? point.number)...point.number
    var previous: [UInt8]?
    for name in try listing.objects(numbers) {
      let (object, contents, digest) = try BackupObject.get(name, from: storage)
      guard previous == nil || object.previous == previous else {
        throw BackupError(
          .damaged,
          "The object \(storage.description)/\(name.text) does not follow the one before it: one of them was "
            + "replaced. Restore an earlier point (--at), or another backup.")
      }
      previous = digest
      try files.write(object, contents)
      if name == point { try files.finish(object, named: "\(storage.description)/\(name.text)") }
    }
    try verify(draft)
    let lostFiles = try RestoredBytes(storage).write(into: draft)
    try put(draft, in: folder)
    return Outcome(
      point: Point(number: point.number, time: point.time), lostFiles: lostFiles)
  }

  private func point(_ selection: Selection) throws(BackupError) -> ObjectName {
    let points = listing.points
    guard let first = points.first, let last = points.last else {
      throw BackupError(
        .refused,
        "\(storage.description) has no complete backup. Check the place, or let relay backup run to its end."
      )
    }
    let found =
      switch selection {
      case .last: last
      case .number(let number): points.last { $0.number == number }
      case .time(let time): points.last { $0.time <= time }
      }
    guard let found else {
      throw BackupError(
        .refused,
        "\(storage.description) has no such point: the first is \(first.number), of \(Point.text(first.time)), the "
          + "last \(last.number), of \(Point.text(last.time)). relay restore --list shows all.")
    }
    return found
  }

  /// Moves the files of the draft into the folder; the store comes last, so that no relay starts with a part.
  private func put(_ draft: String, in folder: String) throws(BackupError) {
    let names = PrivateFiles.names(in: draft) ?? []
    let isStore = { (name: String) in name == DataFiles.store }
    let copied = names.filter { DataFiles.isCopied($0) && !isStore($0) } + names.filter(isStore)
    for name in copied {
      guard unsafe rename("\(draft)/\(name)", "\(folder)/\(name)") == 0 else {
        let error = SystemError.last("rename \(draft)/\(name)")
        throw BackupError(.unavailable, "\(error). Restore again, into another folder.")
      }
    }
    // What checking them has left.
    try? Self.empty(draft)
    _ = unsafe rmdir(draft)
    Self.sync(folder)
  }

  /// Syncs the names of the files in a folder, if its file system does that.
  static func sync(_ folder: String) {
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
  }

  private static func empty(_ folder: String) throws(SystemError) {
    for name in PrivateFiles.names(in: folder) ?? [] {
      let path = "\(folder)/\(name)"
      if unsafe unlink(path) == 0 { continue }
      guard errno == EISDIR else { throw .last("unlink \(path)") }
      try empty(path)
      guard unsafe rmdir(path) == 0 else { throw .last("rmdir \(path)") }
    }
  }
}
