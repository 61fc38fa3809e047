import CSQLite

/// The database file, changed with SQLite as anyone can, bypassing the relay.
@safe final class SQL {
  private let handle: OpaquePointer

  init(_ path: String) throws {
    var handle: OpaquePointer?
    guard unsafe sqlite3_open(path, &handle) == SQLITE_OK, let opened = unsafe handle else {
      throw Failed(message: path)
    }
    unsafe self.handle = opened
  }

  deinit { unsafe sqlite3_close(handle) }

  struct Failed: Error {
    var message: String
  }

  func run(_ statements: String) throws {
    guard unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else {
      throw Failed(message: unsafe String(cString: sqlite3_errmsg(handle)))
    }
  }

  func integer(_ query: String) throws -> Int64 {
    var statement: OpaquePointer?
    guard unsafe sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK,
      unsafe sqlite3_step(statement) == SQLITE_ROW
    else { throw Failed(message: query) }
    defer { unsafe sqlite3_finalize(statement) }
    return unsafe sqlite3_column_int64(statement, 0)
  }
}
