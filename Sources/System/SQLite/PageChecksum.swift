/// The checksum at the end of each page of a file, behind the part that SQLite uses (its "reserved
/// bytes"): a page that has changed on the disk is not taken for data.
///
/// | bytes | |
/// | --- | --- |
/// | 4 | `mark` |
/// | 8 | the sum of the page's number and all bytes before these, two little-endian halves |
///
/// The sum is that of SQLite's write-ahead log
/// (<https://sqlite.org/fileformat2.html#checksum_algorithm>), of eight parts side by side, and then of their
/// sums: each step is a bijection of both halves, so that no change of a single word goes unnoticed. Words are
/// little-endian.
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
    let end = page.count - sumBytes
    var place = 0
    // Eight sums side by side, each of every eighth pair of words.
    var firsts = SIMD8<UInt32>(
      repeating: UInt32(truncatingIfNeeded: offset / Int64(page.count) + 1))
    var seconds = SIMD8<UInt32>(repeating: 0)
    while place + 64 <= end {
      let words = unsafe page.loadUnaligned(fromByteOffset: place, as: SIMD8<UInt32>.self)
      let others = unsafe page.loadUnaligned(fromByteOffset: place + 32, as: SIMD8<UInt32>.self)
      firsts = firsts &+ words &+ seconds
      seconds = seconds &+ others &+ firsts
      place += 64
    }
    var (first, second) = (UInt32(0), UInt32(0))
    func add(_ word: UInt32, _ other: UInt32) {
      first = first &+ word &+ second
      second = second &+ other &+ first
    }
    for lane in 0..<8 { add(firsts[lane], seconds[lane]) }
    while place < end {
      let word = unsafe UInt64(littleEndian: page.load(fromByteOffset: place, as: UInt64.self))
      add(UInt32(truncatingIfNeeded: word), UInt32(truncatingIfNeeded: word >> 32))
      place += 8
    }
    return UInt64(first) | UInt64(second) << 32
  }
}
