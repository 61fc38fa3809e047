internal import CSQLite

extension Database {
  /// Rewrites a database's write-ahead log in place, byte for byte, and syncs it. Must be called
  /// before the database is opened, by its only writer.
  ///
  /// After a failed sync, Linux treats pages as written that are not on the medium, and so does
  /// every later sync (<https://wiki.postgresql.org/wiki/Fsync_Errors>). The log left by the
  /// previous process may contain such pages: SQLite would read them and move them to the database
  /// file, and a power loss in between would leave a mixture that cannot be repaired. Rewriting
  /// bytes that are already on the medium is safe, wherever it is interrupted.
  package static func writeLogAgain(path: String, vfs name: String?) throws(SQLiteError) {
    guard let vfs = unsafe vfs(name), let open = unsafe vfs.pointee.xOpen,
      let access = unsafe vfs.pointee.xAccess
    else { return }
    let logPath = "\(path)-wal"
    func check(_ code: Int32) throws(SQLiteError) {
      guard code == SQLITE_OK else {
        throw SQLiteError(
          extendedCode: code,
          message: "\(logPath) cannot be written again: \(SQLiteError.meaning(of: code))")
      }
    }
    // A log without its database is useless: SQLite deletes it without reading it.
    for needed in [path, logPath] {
      var exists: Int32 = 0
      try check(unsafe access(vfs, needed, SQLITE_ACCESS_EXISTS, &exists))
      guard exists != 0 else { return }
    }

    let slot = UnsafeMutableRawPointer.allocate(
      byteCount: Int(unsafe vfs.pointee.szOsFile), alignment: 16)
    defer { unsafe slot.deallocate() }
    let file = unsafe slot.bindMemory(to: sqlite3_file.self, capacity: 1)
    // SQLite reads this field even if opening fails.
    unsafe file.pointee.pMethods = nil
    // SQLite's own VFS accepts less than 128 KiB at once.
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { unsafe chunk.deallocate() }
    // SQLite keeps a pointer to the name while the file is open.
    var code = SQLITE_OK
    unsafe logPath.withCString { logPath in
      unsafe code = open(vfs, logPath, file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_WAL, nil)
      if code == SQLITE_OK { unsafe code = writeAgain(file, chunk) }
      if let methods = unsafe file.pointee.pMethods { _ = unsafe methods.pointee.xClose(file) }
    }
    try check(code)
  }

  private static func writeAgain(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ chunk: UnsafeMutableRawBufferPointer
  ) -> Int32 {
    guard let methods = unsafe file.pointee.pMethods?.pointee else { return SQLITE_CANTOPEN }
    var bytes: sqlite3_int64 = 0
    var code = unsafe methods.xFileSize(file, &bytes)
    var offset: sqlite3_int64 = 0
    while code == SQLITE_OK, offset < bytes {
      let count = Int32(min(bytes - offset, sqlite3_int64(chunk.count)))
      unsafe code = methods.xRead(file, chunk.baseAddress, count, offset)
      if code == SQLITE_OK {
        unsafe code = methods.xWrite(file, chunk.baseAddress, count, offset)
      }
      offset += sqlite3_int64(count)
    }
    return code == SQLITE_OK ? unsafe methods.xSync(file, SQLITE_SYNC_NORMAL) : code
  }
}
