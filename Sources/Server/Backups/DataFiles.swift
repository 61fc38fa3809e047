internal import Glibc
internal import Platform
internal import SQLite

/// The files of a data folder that a backup holds: databases, whose pages are read in transactions, and others,
/// which are read as a whole. What a relay makes anew is left out.
final class DataFiles {
  /// A file, and what of it was copied.
  final class File {
    let name: String
    let path: String
    /// `nil` = the file is no database.
    let database: DatabasePages?
    /// Selects the pages that were not copied yet; `nil` = all.
    var mark: DatabasePages.Mark?

    init(name: String, path: String, isDatabase: Bool) throws {
      self.name = name
      self.path = path
      database = isDatabase ? try DatabasePages(path: path) : nil
    }

    func description(bytes: Int) -> BackupObject.File {
      BackupObject.File(
        name: name, pageBytes: database?.pageBytes ?? DataFiles.pageBytes, bytes: bytes)
    }

    /// Reads a file that is no database.
    func whole() throws -> [UInt8] {
      do throws(SystemError) {
        return try WholeFile.read(path, limitBytes: DataFiles.limitBytes)
      } catch {
        guard error.code == EFBIG else { throw error }
        throw BackupError(
          .refused,
          "\(path) is larger than \(DataFiles.limitBytes >> 20) MiB, and no database of a relay. Move it out "
            + "of the data folder.")
      }
    }
  }

  /// The size of the pages of a file that is no database.
  static let pageBytes = 16_384
  /// Larger files that are no databases are refused.
  static let limitBytes = 64 << 20

  static let store = "relay.db"
  /// Databases, which may be empty while a relay creates them.
  private static let databases: Set<String> = [store, "accounts.db"]
  private static let derived: Set<String> = ["index.db", "lock", "reserve"]
  private static let derivedEnds = ["-wal", "-shm", "-journal", "-times", ".new"]

  let folder: String
  private(set) var files: [File] = []

  init(_ folder: String) throws {
    self.folder = folder
    try update()
  }

  /// Whether it can be the name of a file of a data folder.
  static func isName(_ name: Substring) -> Bool {
    !name.isEmpty && !name.hasPrefix(".") && !name.contains { $0 == "/" || $0.isNewline }
  }

  /// Looks for files that were added or removed.
  func update() throws {
    let names = (PrivateFiles.names(in: folder) ?? []).filter(isFile).sorted()
    guard names.contains(Self.store) else {
      throw BackupError(
        .refused,
        "There is no store in \(folder): \(folder)/\(Self.store) is missing or cannot be read. Use the "
          + "folder that the relay was started with, and its user.")
    }
    guard names.count <= BackupObject.fileLimit else {
      throw BackupError(
        .refused,
        "\(folder) has more than \(BackupObject.fileLimit) files. Move those away that are not the relay's."
      )
    }
    files = try names.map { name in
      let path = "\(folder)/\(name)"
      if let file = files.first(where: { $0.name == name }), try isStill(file) { return file }
      let start = try Self.start(of: path)
      let isDatabase = start == Self.databaseStart
      guard isDatabase || start.isEmpty || !Self.databases.contains(name) else {
        throw BackupError(
          .damaged,
          "\(path) is not a database any more: its beginning is damaged. Nothing damaged was stored. Restore what "
            + "was stored before.")
      }
      return try File(name: name, path: path, isDatabase: isDatabase)
    }
  }

  /// Whether a backup has the file of this name.
  static func isCopied(_ name: String) -> Bool {
    isName(name[...]) && !derived.contains(name) && !derivedEnds.contains(where: name.hasSuffix)
  }

  private func isFile(_ name: String) -> Bool {
    var status = stat()
    guard Self.isCopied(name), unsafe lstat("\(folder)/\(name)", &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFREG
  }

  private func isStill(_ file: File) throws -> Bool {
    guard let database = file.database else {
      return try Self.start(of: file.path) != Self.databaseStart
    }
    guard !database.hasMoved else {
      throw BackupError(
        .unavailable,
        "\(file.path) was replaced while it was being backed up. Start the backup again.")
    }
    return true
  }

  private static let databaseStart = Array("SQLite format 3\0".utf8)

  /// Returns the first bytes of a file. Must not be called for a database that is open: closing the descriptor
  /// releases its locks.
  private static func start(of path: String) throws -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemError.last("open \(path)") }
    defer { close(descriptor) }
    var start = [UInt8](repeating: 0, count: databaseStart.count)
    let count = unsafe read(descriptor, &start, start.count)
    return Array(start.prefix(max(0, count)))
  }

  /// The hashes that the files of the store have.
  var fileHashes: Set<String> {
    get throws {
      let database = files.first { $0.name == Self.store }?.database
      return try database?.read { (database) throws(SQLiteError) in try database.fileHashes() }
        ?? []
    }
  }

  /// The name of the store's first epoch.
  var storeName: String {
    get throws {
      let database = files.first { $0.name == Self.store }?.database
      return try database?.text("SELECT name FROM epochs ORDER BY number LIMIT 1") ?? "new"
    }
  }
}
