internal import CSQLite

/// A file that a connection has open (`sqlite3_file`). Opening it once more would be wrong: closing that
/// descriptor would release the locks of the connection.
@safe struct OpenFile {
  enum Role {
    case database
    case log

    fileprivate var operation: Int32 {
      switch self {
      case .database: SQLITE_FCNTL_FILE_POINTER
      case .log: SQLITE_FCNTL_JOURNAL_POINTER
      }
    }
  }

  private let file: UnsafeMutablePointer<sqlite3_file>
  private let methods: UnsafePointer<sqlite3_io_methods>

  /// `nil` if the connection does not have it open.
  init?(_ role: Role, of connection: SQLiteConnection) {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard
      unsafe sqlite3_file_control(connection.handle, "main", role.operation, &file) == SQLITE_OK,
      let file = unsafe file, let methods = unsafe file.pointee.pMethods
    else { return nil }
    unsafe self.file = file
    unsafe self.methods = methods
  }

  /// Reads bytes (`xRead`). Pages of a database file with checksums are checked.
  /// - Returns: whether the file has that many.
  func read(_ bytes: inout [UInt8], at offset: Int64) throws(SQLiteError) -> Bool {
    let code = unsafe bytes.withUnsafeMutableBytes {
      unsafe methods.pointee.xRead(file, $0.baseAddress, Int32($0.count), offset)
    }
    // SQLITE_IOERR_SHORT_READ is a macro that Swift does not import.
    if code == SQLITE_IOERR | (2 << 8) { return false }
    guard code == SQLITE_OK else {
      throw SQLiteError(
        extendedCode: code,
        message: code == SQLiteError.damagedPage
          ? "page \(offset / Int64(bytes.count) + 1) does not have its checksum"
          : SQLiteError.meaning(of: code))
    }
    return true
  }
}
