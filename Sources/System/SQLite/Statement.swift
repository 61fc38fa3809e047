internal import CSQLite

/// A prepared statement (`sqlite3_stmt *`), reusable; finalized when it is deinitialized.
///
/// Parameters count from 1 and columns from 0, as in SQLite. Call `reset` after a run, so that the
/// statement does not keep a transaction open.
@safe package struct Statement: ~Copyable {
  private let handle: OpaquePointer
  /// The memory of `bind(from:texts:blob:)`.
  private var kept: UnsafeMutableRawBufferPointer
  /// Which damaged pages it reads, and where that is said; `nil` = none.
  private let tolerance: (PageTolerance, of: UnsafeMutablePointer<PageTolerance>)?

  /// `sqlite3_prepare_v3`, for a statement that is used often.
  package init(_ sql: String, on database: borrowing Database) throws(SQLiteError) {
    try self.init(sql, on: database.connection)
  }

  /// The same, on the connection of a virtual table.
  /// - Parameter tolerance: which damaged pages it reads.
  package init(
    _ sql: String, on connection: SQLiteConnection, tolerance: PageTolerance = .none
  ) throws(SQLiteError) {
    var handle: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
    guard code == SQLITE_OK, let prepared = unsafe handle else {
      throw unsafe SQLiteError(code, connection: connection.handle)
    }
    unsafe self.handle = prepared
    unsafe kept = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    unsafe self.tolerance =
      tolerance == .none
      ? nil : PageFileSystem.tolerance(of: connection).map { unsafe (tolerance, of: $0) }
  }

  deinit {
    unsafe sqlite3_finalize(handle)
    unsafe kept.deallocate()
  }

  package mutating func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_int64(handle, index, value))
  }

  package mutating func bind(_ index: Int32, _ text: String) throws(SQLiteError) {
    let code = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
      unsafe utf8.withMemoryRebound(to: CChar.self) { characters in
        unsafe csqlite_bind_text(handle, index, characters.baseAddress, UInt64(characters.count))
      }
    }
    if let code {
      try check(code)
    } else {
      try check(unsafe csqlite_bind_text(handle, index, text, UInt64(text.utf8.count)))
    }
  }

  package mutating func bind(_ index: Int32, _ blob: [UInt8]) throws(SQLiteError) {
    try check(
      unsafe blob.withUnsafeBytes { bytes in
        unsafe csqlite_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
      })
  }

  package mutating func bindNull(_ index: Int32) throws(SQLiteError) {
    try check(unsafe sqlite3_bind_null(handle, index))
  }

  /// Binds three texts and a blob to consecutive parameters, in memory that is reused for the next
  /// row: SQLite's own copies would be allocated and freed for each row.
  package mutating func bind(
    from index: Int32, texts first: String, _ second: String, _ third: String, blob: [UInt8]
  ) throws(SQLiteError) {
    let size = first.utf8.count + second.utf8.count + third.utf8.count + blob.count
    if unsafe kept.count < size {
      unsafe kept.deallocate()
      unsafe kept = .allocate(byteCount: max(1024, size * 2), alignment: 16)
    }
    var end = try bindKept(index, first, at: 0)
    end = try bindKept(index + 1, second, at: end)
    end = try bindKept(index + 2, third, at: end)
    unsafe blob.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(rebasing: kept[end...]).copyMemory(from: bytes)
    }
    try check(
      unsafe csqlite_bind_kept_blob(
        handle, index + 3, kept.baseAddress?.advanced(by: end), UInt64(blob.count)))
  }

  /// - Returns: the end of its copy.
  private func bindKept(
    _ index: Int32, _ text: String, at start: Int
  ) throws(SQLiteError) -> Int {
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: kept[start...])
    let copied: Void? = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
      unsafe target.copyMemory(from: UnsafeRawBufferPointer(utf8))
    }
    if copied == nil {
      for (offset, byte) in text.utf8.enumerated() { unsafe target[offset] = byte }
    }
    let count = text.utf8.count
    let characters = unsafe target.baseAddress?.assumingMemoryBound(to: CChar.self)
    try check(unsafe csqlite_bind_kept_text(handle, index, characters, UInt64(count)))
    return start + count
  }

  /// Binds words as a blob, each in little-endian order.
  package mutating func bind(_ index: Int32, _ words: ArraySlice<UInt64>) throws(SQLiteError) {
    try check(
      unsafe words.withUnsafeBytes { bytes in
        unsafe csqlite_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
      })
  }

  /// Advances to the next row, and returns whether there is one (`sqlite3_step`).
  package mutating func step() throws(SQLiteError) -> Bool {
    if let (tolerance, place) = unsafe tolerance { unsafe place.pointee = tolerance }
    let code = unsafe sqlite3_step(handle)
    if let place = unsafe tolerance?.of { unsafe place.pointee = .none }
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let error = unsafe SQLiteError(code, connection: sqlite3_db_handle(handle))
      reset()
      throw error
    }
  }

  /// Runs a statement without rows, and resets it.
  package mutating func run() throws(SQLiteError) {
    _ = try step()
    reset()
  }

  /// Ends the run (`sqlite3_reset`). An error of the last step has already been thrown.
  package mutating func reset() { unsafe sqlite3_reset(handle) }

  package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  package func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  package func text(_ column: Int32) -> String {
    unsafe String(decoding: buffer(column), as: UTF8.self)
  }

  package func blob(_ column: Int32) -> [UInt8] { unsafe Array(buffer(column)) }

  /// Calls `body` with a blob or a text's UTF-8, which is valid during the call.
  package func withBytes<Result>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    unsafe body(buffer(column))
  }

  /// Calls `body` with each word of a blob that `bind` created from words.
  package func forEachWord(_ column: Int32, _ body: (UInt64) -> Void) {
    let bytes = unsafe buffer(column)
    for index in 0..<bytes.count / 8 {
      body(unsafe bytes.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self))
    }
  }

  /// Valid until the next step; `sqlite3_column_blob` also returns a text's UTF-8.
  private func buffer(_ column: Int32) -> UnsafeRawBufferPointer {
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = unsafe sqlite3_column_bytes(handle, column)
    return unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count))
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK else {
      throw unsafe SQLiteError(code, connection: sqlite3_db_handle(handle))
    }
  }
}
