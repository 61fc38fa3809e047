internal import CSQLite
internal import Glibc

/// A SQLite VFS (`sqlite3_vfs`) on top of the system's that leaves no bytes of deleted rows in a
/// database file.
///
/// With `PRAGMA secure_delete = ON` SQLite overwrites the bytes of deleted rows, and pages that
/// become free. But when it moves rows between pages, to balance the tree, their old bytes remain
/// in the gap between a page's cell pointers and its cells: measured, the text of about one in 500
/// rows that are deleted later. This VFS overwrites that gap when a page is written. The gap is
/// never read: SQLite allocates new cells from it.
///
/// In WAL mode only checkpoints write a database file, so that commits have no extra cost.
package enum ErasingFileSystem {
  /// The name to pass to `Database.init`; `nil`, which means the system's VFS, if SQLite has none.
  package static let name: String? = register()

  private static let registeredName = "relay-erasing"

  private static func register() -> String? {
    guard let base = unsafe Database.vfs(nil), let name = unsafe strdup(registeredName) else {
      return nil
    }
    // Both live as long as the process.
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe vfs.initialize(to: base.pointee)
    unsafe vfs.pointee.zName = UnsafePointer(name)
    unsafe vfs.pointee.pNext = nil
    unsafe vfs.pointee.szOsFile = Int32(FileTail.offset(base) + MemoryLayout<FileTail>.stride)
    unsafe ErasingFileSystem.base = base
    unsafe vfs.pointee.xOpen = { vfs, path, file, flags, outFlags in
      guard let base = unsafe ErasingFileSystem.base, let open = unsafe base.pointee.xOpen else {
        return SQLITE_CANTOPEN
      }
      let code = unsafe open(vfs, path, file, flags, outFlags)
      guard code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file,
        let methods = unsafe file.pointee.pMethods
      else { return code }
      let tail = unsafe FileTail.of(file, base)
      unsafe tail.initialize(to: FileTail(original: methods, methods: methods.pointee))
      unsafe tail.pointee.methods.xWrite = { file, content, count, offset in
        guard let file = unsafe file, let base = unsafe ErasingFileSystem.base else {
          return SQLITE_IOERR
        }
        return unsafe ErasingFileSystem.write(
          file, FileTail.of(file, base).pointee.original, content, count, offset)
      }
      let own = unsafe UnsafeRawPointer(tail).advanced(
        by: MemoryLayout<FileTail>.offset(of: \FileTail.methods) ?? 0)
      unsafe file.pointee.pMethods = own.assumingMemoryBound(to: sqlite3_io_methods.self)
      return code
    }
    return unsafe sqlite3_vfs_register(vfs, 0) == SQLITE_OK ? registeredName : nil
  }

  private nonisolated(unsafe) static var base: UnsafeMutablePointer<sqlite3_vfs>?

  /// The part of an open database file's state that follows the system VFS's own part.
  @unsafe private struct FileTail {
    let original: UnsafePointer<sqlite3_io_methods>
    /// The same methods, except for writing.
    var methods: sqlite3_io_methods

    static func offset(_ base: UnsafeMutablePointer<sqlite3_vfs>) -> Int {
      (Int(unsafe base.pointee.szOsFile) + 15) & ~15
    }

    static func of(
      _ file: UnsafeMutablePointer<sqlite3_file>, _ base: UnsafeMutablePointer<sqlite3_vfs>
    ) -> UnsafeMutablePointer<FileTail> {
      unsafe UnsafeMutableRawPointer(file).advanced(by: offset(base))
        .assumingMemoryBound(to: FileTail.self)
    }
  }

  private static func write(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ methods: UnsafePointer<sqlite3_io_methods>,
    _ content: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    guard let plain = unsafe methods.pointee.xWrite else { return SQLITE_IOERR }
    guard let content = unsafe content else { return unsafe plain(file, content, count, offset) }
    let page = unsafe UnsafeRawBufferPointer(start: content, count: Int(count))
    guard let gap = unsafe Self.gap(in: page) else {
      return unsafe plain(file, content, count, offset)
    }
    return unsafe withUnsafeTemporaryAllocation(byteCount: page.count, alignment: 16) { copy in
      unsafe copy.copyMemory(from: page)
      for index in gap { unsafe copy[index] = 0 }
      return unsafe plain(file, copy.baseAddress, count, offset)
    }
  }

  /// Returns the gap in a leaf page of a table or an index, according to its header
  /// (<https://sqlite.org/fileformat.html#b_tree_pages>); `nil` for other pages and for partial
  /// pages.
  ///
  /// Other pages cannot be mistaken for leaves: overflow and free pages begin with a page number,
  /// whose first byte is 0 in files smaller than 160 GiB, and pointer-map pages begin with 1 to 5.
  private static func gap(in page: UnsafeRawBufferPointer) -> Range<Int>? {
    guard page.count >= 512, page.count & (page.count - 1) == 0 else { return nil }
    guard unsafe page[0] == 13 || page[0] == 10 else { return nil }
    func word(_ at: Int) -> Int { unsafe Int(page[at]) << 8 | Int(page[at + 1]) }
    let end = word(5) == 0 ? 65536 : word(5)
    let start = 8 + 2 * word(3)
    return start < end && end <= page.count ? start..<end : nil
  }
}
