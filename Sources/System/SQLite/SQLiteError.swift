internal import CSQLite
internal import Glibc

/// An error of SQLite: its extended result code, and its message.
package struct SQLiteError: Error, CustomStringConvertible {
  /// See <https://sqlite.org/rescode.html>.
  package var extendedCode: Int32
  package var message: String
  /// The `errno` of the failed system call; 0 if none is known.
  package var systemError: Int32
  /// The file of which a page does not have its checksum (`PageChecksum`), if that is the error.
  package private(set) var damagedFile: String?

  package init(extendedCode: Int32, message: String, systemError: Int32 = 0) {
    self.extendedCode = extendedCode
    self.message = message
    self.systemError = systemError
  }

  /// Uses the connection's message for its last call.
  package init(_ code: Int32, connection: OpaquePointer?) {
    guard let connection = unsafe connection else {
      self.init(extendedCode: code, message: Self.meaning(of: code))
      return
    }
    let extended = unsafe sqlite3_extended_errcode(connection)
    var message = unsafe String(cString: sqlite3_errmsg(connection))
    let errno = unsafe sqlite3_system_errno(connection)
    if errno != 0, [SQLITE_FULL, SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF) {
      message += " (\(unsafe String(cString: strerror(errno))))"
    }
    self.init(
      extendedCode: extended & 0xFF == code & 0xFF ? extended : code, message: message,
      systemError: errno)
    if extended == Self.damagedPage {
      let file = unsafe sqlite3_db_filename(connection, "main").map { unsafe String(cString: $0) }
      damagedFile = file ?? ""
      let name = file?.split(separator: "/").last ?? "the file"
      self.message = "a page of \(name) does not have its checksum"
    }
  }

  /// The primary result code.
  package var code: Int32 { extendedCode & 0xFF }

  /// Whether the file is damaged, as opposed to an error of its environment.
  package var isCorruption: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

  /// Whether a virtual table, such as an index of FTS5, contradicts itself (SQLITE_CORRUPT_VTAB, a
  /// macro that Swift does not import).
  package var isDamagedTable: Bool { extendedCode == Self.damagedTable }
  package static let damagedTable = SQLITE_CORRUPT | (1 << 8)

  /// A page does not have its checksum (`PageChecksum`); a code that SQLite does not use.
  static let damagedPage = SQLITE_CORRUPT | (64 << 8)

  /// Whether another connection held a lock for longer than the busy timeout.
  package var isBusy: Bool { code == SQLITE_BUSY }

  /// Whether `fsync` failed (SQLITE_IOERR_FSYNC, a macro that Swift does not import).
  package var isFailedSync: Bool { extendedCode == SQLITE_IOERR | (4 << 8) }

  /// Whether there was no space. SQLite reports a shared-memory file that cannot grow as an I/O error.
  package var isFull: Bool {
    code == SQLITE_FULL || extendedCode == SQLITE_IOERR | (19 << 8)
      || systemError == ENOSPC || systemError == EDQUOT
  }

  package var description: String { "\(message) [SQLite \(extendedCode)]" }

  package static func meaning(of code: Int32) -> String {
    unsafe String(cString: sqlite3_errstr(code))
  }
}
