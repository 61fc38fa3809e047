import Platform

/// The list of files at the end of a ZIP archive (APPNOTE.TXT 6.3, 4.3.12 to 4.3.16), with ZIP64. The
/// files are found by it alone, and nothing is written to the disk, so their names can be any.
struct ZipArchive {
  struct Entry {
    var isDeflated: Bool
    var checksum: UInt32
    var packedBytes: Int
    var bytes: Int
    /// Where its local header begins.
    var offset: Int
  }

  let file: OpenFile
  private(set) var entries: [String: Entry] = [:]

  static let signature: [UInt8] = [0x50, 0x4B]
  private static let endBytes = 22
  private static let commentLimitBytes = 65_535

  init(_ file: OpenFile) throws(UnreadableExport) {
    self.file = file
    let (count, size, offset) = try Self.findDirectory(in: file)
    guard size <= ImportLimits.zipDirectoryBytes, count <= ImportLimits.files else {
      throw UnreadableExport(
        file.path, "lists more than \(ImportLimits.files) files, or a list that is too long")
    }
    let directory = try file.read(at: offset, count: size)
    guard directory.count == size else { throw Self.damaged(file) }
    var at = 0
    var total = 0
    for _ in 0..<count {
      let (name, entry, end) = try Self.entry(in: directory, at: at, file)
      at = end
      if name.hasSuffix("/") { continue }
      // Several entries for one place, as in a bomb, add up as well.
      total += entry.bytes
      guard total <= max(ImportLimits.zipExpansionFloorBytes, file.size) * ImportLimits.zipExpansion
      else {
        throw UnreadableExport(
          file.path,
          "would be more than \(ImportLimits.zipExpansion) times as large when it is unpacked")
      }
      entries[name] = entry
    }
  }

  private static func damaged(_ file: OpenFile) -> UnreadableExport {
    UnreadableExport(file.path, "is a damaged ZIP archive; download or copy it again")
  }

  /// Returns the number of entries, the length of the list, and where it begins.
  private static func findDirectory(
    in file: OpenFile
  ) throws(UnreadableExport) -> (count: Int, size: Int, offset: Int) {
    let start = max(0, file.size - endBytes - commentLimitBytes)
    let tail = try file.read(at: start, count: file.size - start)
    var at = tail.count - endBytes
    while at >= 0, tail.number(at, 4) != 0x0605_4B50 { at -= 1 }
    guard at >= 0 else { throw damaged(file) }
    guard let count = tail.number(at + 10, 2), let size = tail.number(at + 12, 4),
      let offset = tail.number(at + 16, 4)
    else { throw damaged(file) }
    if count < 0xFFFF, size < 0xFFFF_FFFF, offset < 0xFFFF_FFFF { return (count, size, offset) }
    // The locator of ZIP64 is right before it.
    guard tail.number(at - 20, 4) == 0x0706_4B50, let place = tail.number(at - 12, 8) else {
      return (count, size, offset)
    }
    let end = try file.read(at: place, count: 56)
    guard end.number(0, 4) == 0x0606_4B50, let count = end.number(32, 8),
      let size = end.number(40, 8), let offset = end.number(48, 8)
    else { throw damaged(file) }
    return (count, size, offset)
  }

  private static func entry(
    in directory: [UInt8], at start: Int, _ file: OpenFile
  ) throws(UnreadableExport) -> (name: String, entry: Entry, end: Int) {
    guard directory.number(start, 4) == 0x0201_4B50, let flags = directory.number(start + 8, 2),
      let method = directory.number(start + 10, 2), let checksum = directory.number(start + 16, 4),
      var packed = directory.number(start + 20, 4), var bytes = directory.number(start + 24, 4),
      let nameBytes = directory.number(start + 28, 2),
      let extraBytes = directory.number(start + 30, 2),
      let commentBytes = directory.number(start + 32, 2),
      var offset = directory.number(start + 42, 4)
    else { throw damaged(file) }
    let nameEnd = start + 46 + nameBytes
    let extraEnd = nameEnd + extraBytes
    guard extraEnd + commentBytes <= directory.count else { throw damaged(file) }
    let name = String(decoding: directory[(start + 46)..<nameEnd], as: UTF8.self)
    // The fields that do not fit are in the extra field 1, in this order.
    var at = nameEnd
    while let id = directory.number(at, 2), let length = directory.number(at + 2, 2), at < extraEnd
    {
      var field = at + 4
      at = field + length
      guard id == 1, at <= extraEnd else { continue }
      for (index, value) in [bytes, packed, offset].enumerated() where value == 0xFFFF_FFFF {
        guard field + 8 <= at, let wide = directory.number(field, 8) else { throw damaged(file) }
        field += 8
        switch index {
        case 0: bytes = wide
        case 1: packed = wide
        default: offset = wide
        }
      }
    }
    guard flags & 1 == 0 else {
      throw UnreadableExport(
        "\(file.path), \(name)", "is encrypted; unpack it, and pack it without")
    }
    guard method == 0 || method == 8 else {
      throw UnreadableExport(
        "\(file.path), \(name)",
        "is packed by the method \(method); unpack it, and pack it by deflate"
      )
    }
    let limit = Int.max / 4
    guard packed <= file.size, offset <= file.size, bytes < limit else { throw damaged(file) }
    return (
      name,
      Entry(
        isDeflated: method == 8, checksum: UInt32(truncatingIfNeeded: checksum),
        packedBytes: packed, bytes: bytes, offset: offset),
      extraEnd + commentBytes
    )
  }

  /// Returns where the content of an entry begins.
  func contentOffset(of entry: Entry) throws(UnreadableExport) -> Int {
    let header = try file.read(at: entry.offset, count: 30)
    guard header.number(0, 4) == 0x0403_4B50, let name = header.number(26, 2),
      let extra = header.number(28, 2)
    else { throw Self.damaged(file) }
    return entry.offset + 30 + name + extra
  }
}

extension [UInt8] {
  /// Returns a number whose lowest byte comes first; `nil` where there is none, or none that fits.
  fileprivate func number(_ at: Int, _ count: Int) -> Int? {
    guard at >= 0, at + count <= self.count else { return nil }
    let value = self[at..<(at + count)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Int(exactly: value)
  }
}
