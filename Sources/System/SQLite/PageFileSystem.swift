internal import CSQLite
internal import Glibc

/// A SQLite VFS (`sqlite3_vfs`) on top of the system's that leaves no bytes of deleted rows in a
/// database file, and checks each page that it reads from one that has checksums (`PageChecksum`).
///
/// With `PRAGMA secure_delete = ON` SQLite overwrites the bytes of deleted rows, and pages that
/// become free. But when it moves rows between pages, to balance the tree, their old bytes remain
/// in the gap between a page's cell pointers and its cells: measured, the text of about one in 500
/// rows that are deleted later. This VFS overwrites that gap when a page is written. The gap is
/// never read: SQLite allocates new cells from it.
///
/// In WAL mode only checkpoints write a database file, so that commits have no extra cost. The pages in
/// a write-ahead log have SQLite's checksums.
package enum PageFileSystem {
  /// The name that it is registered under; `nil` if SQLite has no VFS.
  package static let name: String? = register()

  private static let registeredName = "relay-pages"

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
    unsafe (PageFileSystem.base, PageFileSystem.own) = (base, vfs)
    unsafe vfs.pointee.xOpen = { vfs, path, file, flags, outFlags in
      guard let base = unsafe PageFileSystem.base, let open = unsafe base.pointee.xOpen else {
        return SQLITE_CANTOPEN
      }
      let code = unsafe open(vfs, path, file, flags, outFlags)
      guard code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file,
        let methods = unsafe file.pointee.pMethods
      else { return code }
      let tail = unsafe FileTail.of(file, base)
      unsafe tail.initialize(
        to: FileTail(original: methods, path: path, methods: methods.pointee))
      // Without xFetch: mapped memory would not be checked.
      unsafe tail.pointee.methods.iVersion = min(2, methods.pointee.iVersion)
      unsafe tail.pointee.methods.xRead = { file, content, count, offset in
        guard let file = unsafe file, let base = unsafe PageFileSystem.base else {
          return SQLITE_IOERR
        }
        return unsafe PageFileSystem.read(FileTail.of(file, base), file, content, count, offset)
      }
      unsafe tail.pointee.methods.xWrite = { file, content, count, offset in
        guard let file = unsafe file, let base = unsafe PageFileSystem.base else {
          return SQLITE_IOERR
        }
        return unsafe PageFileSystem.write(FileTail.of(file, base), file, content, count, offset)
      }
      let own = unsafe UnsafeRawPointer(tail).advanced(
        by: MemoryLayout<FileTail>.offset(of: \FileTail.methods) ?? 0)
      unsafe file.pointee.pMethods = own.assumingMemoryBound(to: sqlite3_io_methods.self)
      return code
    }
    return unsafe sqlite3_vfs_register(vfs, 0) == SQLITE_OK ? registeredName : nil
  }

  private nonisolated(unsafe) static var base: UnsafeMutablePointer<sqlite3_vfs>?
  private nonisolated(unsafe) static var own: UnsafeMutablePointer<sqlite3_vfs>?

  /// The part of an open database file's state that follows the system VFS's own part.
  @unsafe private struct FileTail {
    let original: UnsafePointer<sqlite3_io_methods>
    /// The file's path, which SQLite keeps as long as the file is open.
    let path: UnsafePointer<CChar>?
    /// The same methods, except for reading and writing.
    var methods: sqlite3_io_methods
    /// Whether the pages have checksums, as far as is known.
    var hasChecksums = false
    var tolerance = PageTolerance.none

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

  /// Returns where a connection's tolerance of damaged pages is, as long as it is open; `nil` if it uses
  /// another VFS.
  static func tolerance(of connection: SQLiteConnection) -> UnsafeMutablePointer<PageTolerance>? {
    var vfs: UnsafeMutablePointer<sqlite3_vfs>?
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard
      unsafe sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_VFS_POINTER, &vfs)
        == SQLITE_OK, let vfs = unsafe vfs, unsafe vfs == own,
      unsafe sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        == SQLITE_OK, let file = unsafe file, let base = unsafe base
    else { return nil }
    let tail = unsafe UnsafeMutableRawPointer(FileTail.of(file, base))
    return unsafe tail.advanced(by: MemoryLayout<FileTail>.offset(of: \FileTail.tolerance) ?? 0)
      .assumingMemoryBound(to: PageTolerance.self)
  }

  private static func read(
    _ tail: UnsafeMutablePointer<FileTail>, _ file: UnsafeMutablePointer<sqlite3_file>,
    _ content: UnsafeMutableRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    guard let plain = unsafe tail.pointee.original.pointee.xRead else { return SQLITE_IOERR }
    let code = unsafe plain(file, content, count, offset)
    guard code == SQLITE_OK, let content = unsafe content else { return code }
    let bytes = unsafe UnsafeRawBufferPointer(start: content, count: Int(count))
    if offset == 0, unsafe PageChecksum.isDeclared(by: bytes) {
      unsafe tail.pointee.hasChecksums = true
    }
    guard unsafe PageChecksum.isPage(bytes, at: offset),
      unsafe tail.pointee.hasChecksums || PageChecksum.isMarked(bytes),
      unsafe !PageChecksum.isSound(bytes, at: offset),
      unsafe !tail.pointee.tolerance.accepts(bytes)
    else { return SQLITE_OK }
    return SQLiteError.damagedPage
  }

  private static func write(
    _ tail: UnsafeMutablePointer<FileTail>, _ file: UnsafeMutablePointer<sqlite3_file>,
    _ content: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
  ) -> Int32 {
    guard let plain = unsafe tail.pointee.original.pointee.xWrite else { return SQLITE_IOERR }
    guard let content = unsafe content else { return unsafe plain(file, content, count, offset) }
    let page = unsafe UnsafeRawBufferPointer(start: content, count: Int(count))
    if offset == 0, page.count >= 100 {
      unsafe tail.pointee.hasChecksums = PageChecksum.isDeclared(by: page)
    }
    let isPage = unsafe PageChecksum.isPage(page, at: offset)
    if isPage, let path = unsafe tail.pointee.path {
      let code = unsafe PageTimes.record(offset / Int64(page.count) + 1, of: path)
      guard code == SQLITE_OK else { return code }
    }
    let hasChecksum = unsafe tail.pointee.hasChecksums && isPage
    guard unsafe hasChecksum || gap(in: page) != nil else {
      return unsafe plain(file, content, count, offset)
    }
    return unsafe withUnsafeTemporaryAllocation(byteCount: page.count, alignment: 16) { copy in
      unsafe copy.copyMemory(from: page)
      unsafe finish(copy, hasChecksum: hasChecksum, at: offset)
      return unsafe plain(file, copy.baseAddress, count, offset)
    }
  }

  /// Makes of a page's content what a database file has of it.
  static func finish(_ page: UnsafeMutableRawBufferPointer, hasChecksum: Bool, at offset: Int64) {
    for index in unsafe gap(in: UnsafeRawBufferPointer(page)) ?? 0..<0 { unsafe page[index] = 0 }
    if hasChecksum { unsafe PageChecksum.stamp(page, at: offset) }
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

/// Which pages a statement reads although their checksums do not match: those whose content has
/// checksums of its own. A page that leads to others is never among them when something is written.
package enum PageTolerance: Sendable {
  case none
  case leaves
  /// For statements that only read.
  case leavesAndOverflows

  fileprivate func accepts(_ page: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .none: false
    case .leaves: unsafe page[0] == 13
    // An overflow page begins with a page number: see `gap`.
    case .leavesAndOverflows: unsafe page[0] == 13 || page[0] == 0
    }
  }
}
