/// The checksum at the end of each page of a file, behind the part that SQLite uses (its "reserved
/// bytes"): a page that has changed on the disk is not taken for data.
///
/// | bytes | |
/// | --- | --- |
/// | 4 | `mark` |
/// | 8 | the sum of the page's number and all bytes before these, two little-endian halves |
///
/// The sum is that of SQLite's write-ahead log
/// (<https://sqlite.org/fileformat2.html#checksum_algorithm>): each step is a bijection of both halves, so
/// that no change of a single word goes unnoticed. It takes a third of the instructions of zlib's CRC-32.
enum PageChecksum {
  /// How many bytes of a page it takes.
  static let bytes = 12
  private static let mark: UInt32 = 0x4D55_5352
  private static let sumBytes = 8

  /// Writes the checksum of a page into it.
  /// - Parameter offset: that of the page in the file.
  static func stamp(_ page: UnsafeMutableRawBufferPointer, at offset: Int64) {
    unsafe page.storeBytes(of: mark.littleEndian, toByteOffset: page.count - bytes, as: UInt32.self)
    let sum = unsafe sum(of: UnsafeRawBufferPointer(page), at: offset)
    unsafe page.storeBytes(
      of: sum.littleEndian, toByteOffset: page.count - sumBytes, as: UInt64.self)
  }

  /// Whether a page has the mark of checksums: another sign of them than the file's header, so that
  /// damage of either does not hide that of pages.
  static func isMarked(_ page: UnsafeRawBufferPointer) -> Bool {
    unsafe page.load(fromByteOffset: page.count - bytes, as: UInt32.self) == mark.littleEndian
  }

  static func isSound(_ page: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
    let stored = unsafe page.load(fromByteOffset: page.count - sumBytes, as: UInt64.self)
    return unsafe isMarked(page) && UInt64(littleEndian: stored) == sum(of: page, at: offset)
  }

  /// Whether the header at the beginning of a database file says that its pages have checksums
  /// (<https://sqlite.org/fileformat.html#the_database_header>).
  static func isDeclared(by header: UnsafeRawBufferPointer) -> Bool {
    guard header.count >= 100 else { return false }
    return unsafe header.starts(with: "SQLite format 3\0".utf8) && header[20] == UInt8(bytes)
  }

  /// Whether these bytes are a page, as opposed to a part of one.
  static func isPage(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Bool {
    let count = bytes.count
    return count >= 512 && count & (count - 1) == 0 && offset & Int64(count - 1) == 0
  }

  private static func sum(of page: UnsafeRawBufferPointer, at offset: Int64) -> UInt64 {
    var first = UInt32(truncatingIfNeeded: offset / Int64(page.count) + 1)
    var second: UInt32 = 0
    var place = 0
    while place < page.count - sumBytes {
      let word = unsafe UInt64(littleEndian: page.load(fromByteOffset: place, as: UInt64.self))
      first = first &+ UInt32(truncatingIfNeeded: word) &+ second
      second = second &+ UInt32(truncatingIfNeeded: word >> 32) &+ first
      place += 8
    }
    return UInt64(first) | UInt64(second) << 32
  }
}
