internal import CSQLite

extension Database {
  /// Writes a database's write-ahead log once more, byte for byte where it lies, and syncs it; to be
  /// done before the database is opened, by the only one that writes it.
  ///
  /// After a sync that failed Linux takes pages for written that are not on the medium, and so does
  /// every later sync (<https://wiki.postgresql.org/wiki/Fsync_Errors>). What the process before this
  /// one left in the log may be of that kind: SQLite would read it, move it into the database file,
  /// and a loss of power meanwhile would leave a mixture that nothing mends. Bytes that are on the
  /// medium already lose nothing by being written again, wherever that is cut short.
  package static func writeLogAgain(path: String, vfs name: String?) throws(SQLiteError) {
    let found =
      if let name { unsafe sqlite3_vfs_find(name) } else { unsafe sqlite3_vfs_find(nil) }
    guard let vfs = unsafe found, let open = unsafe vfs.pointee.xOpen,
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
    // A log without its database is of no use: SQLite deletes it, and does not open it.
    for needed in [path, logPath] {
      var exists: Int32 = 0
      try check(unsafe access(vfs, needed, SQLITE_ACCESS_EXISTS, &exists))
      guard exists != 0 else { return }
    }

    let slot = UnsafeMutableRawPointer.allocate(
      byteCount: Int(unsafe vfs.pointee.szOsFile), alignment: 16)
    defer { unsafe slot.deallocate() }
    let file = unsafe slot.bindMemory(to: sqlite3_file.self, capacity: 1)
    // SQLite looks at it also where opening fails.
    unsafe file.pointee.pMethods = nil
    // SQLite's own file system takes less than 128 KiB at once.
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { unsafe chunk.deallocate() }
    // The name is kept by SQLite for as long as the file is open.
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
