internal import CSQLite
internal import CZlib
internal import Relay
internal import SQLite
internal import Wire

/// The format of a row of the table `packs`: consecutive entries, about a page's quarter of them.
///
/// | bytes | |
/// | --- | --- |
/// | 1 | the version of the format, 1 |
/// | varint | a time, in milliseconds since 1970 |
///
/// and for each entry, by ascending position:
///
/// | bytes | |
/// | --- | --- |
/// | 4 | the length of what follows, without the checksum, little-endian |
/// | varints | position after the pack's first, room, seq, epoch, time after the pack's, others, content |
/// | 8 | identity, little-endian |
/// | 1 | kind: its number in `kinds`, or 0 and then a text |
/// | texts | sender, id; each a varint and its UTF-8 |
/// | rest | body |
/// | 4 | the CRC-32 of the pack's first position, its beginning and all this, little-endian |
///
/// A varint is LEB128 of the zigzag encoding: seven bits a byte, small numbers of either sign short.
struct EntryPack {
  /// The size up to which a pack gets more entries: four such rows fill a page.
  static let fullBytes = 4000
  /// What an entry takes beside its texts, typically.
  static let numbersBytes = 40
  static let version: UInt8 = 1
  /// A released kind keeps its number.
  static let kinds = ["", "text", "data", "edit", "delete", "react"]

  /// The columns of an entry, apart from its texts.
  struct Numbers {
    var position: Int64 = 0
    var room: Int64 = 0
    var seq: Int64 = 0
    var epoch: Int64 = 0
    var at: Int64 = 0
    var identity: Int64 = 0
    /// The distances in `seq`; see `Schema`.
    var others: Int64 = 0
    var content: Int64 = 0
  }

  /// An entry in the bytes of a pack.
  struct Row {
    var numbers = Numbers()
    /// The number of its kind; 0 = the text `kindText`.
    var kind = 0
    var kindText = 0..<0
    var sender = 0..<0
    var id = 0..<0
    var body = 0..<0
    /// All its bytes.
    var bytes = 0..<0
  }

  /// The position that the row of the table has as its key.
  let first: Int64
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0
  private let base: Int64
  /// The checksum of the first position and of what precedes the entries.
  private let seed: UInt

  /// - Parameter at: the time of its first entry.
  init(first: Int64, at: Int64) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.fullBytes + 1024)
    bytes.append(Self.version)
    bytes.append(addingCapacity: 10) { $0.append(varint: at) }
    self.first = first
    base = at
    seed = Self.seed(first, bytes.span)
    self.bytes = bytes
  }

  /// Begins a pack that takes the rows of another.
  init(replacing pack: EntryPackReader) {
    first = pack.first
    base = pack.base
    seed = pack.seed
    bytes = Array(pack.bytes[..<pack.start])
  }

  /// Adds an entry, whose position is larger than that of the one before.
  @inline(__always)
  mutating func append(
    _ numbers: Numbers, sender: String, id: String, kind: String, body: Span<UInt8>
  ) {
    let start = bytes.count
    let size =
      4 + 7 * 10 + 8 + 1 + 4 * 10 + sender.utf8.count + id.utf8.count + kind.utf8.count
      + body.count + 4
    bytes.append(addingCapacity: size) { output in
      output.append(littleEndian: 0, bytes: 4)
      output.append(varint: numbers.position &- first)
      output.append(varint: numbers.room)
      output.append(varint: numbers.seq)
      output.append(varint: numbers.epoch)
      output.append(varint: numbers.at &- base)
      output.append(varint: numbers.others)
      output.append(varint: numbers.content)
      output.append(littleEndian: UInt64(bitPattern: numbers.identity), bytes: 8)
      let number = Self.kinds.firstIndex(of: kind) ?? 0
      output.append(UInt8(number))
      if number == 0 { output.append(counted: kind) }
      output.append(counted: sender)
      output.append(counted: id)
      output.append(copying: body)
    }
    let length = bytes.count - start - 4
    for byte in 0..<4 { bytes[start + byte] = UInt8(truncatingIfNeeded: length >> (8 * byte)) }
    let sum = Self.checksum(bytes.span.extracting(start..<bytes.count), from: seed)
    bytes.append(addingCapacity: 4) { $0.append(littleEndian: UInt64(sum), bytes: 4) }
    count += 1
  }

  /// Adds an entry of another pack with the same first position, or its damaged rest if it has one.
  mutating func append(_ row: Range<Int>, of pack: EntryPackReader) {
    guard !row.isEmpty else { return }
    bytes += pack.bytes[row]
    count += 1
  }

  /// - Parameter start: what precedes the entries.
  static func seed(_ first: Int64, _ start: Span<UInt8>) -> UInt {
    checksum(start, from: UInt(UInt32(truncatingIfNeeded: first)))
  }

  static func checksum(_ bytes: Span<UInt8>, from seed: UInt) -> UInt {
    unsafe bytes.withUnsafeBytes { buffer in
      unsafe crc32_z(
        seed, buffer.baseAddress?.assumingMemoryBound(to: UInt8.self), buffer.count)
    }
  }
}

/// Reads the entries of a pack, one after the other.
struct EntryPackReader {
  let first: Int64
  let bytes: [UInt8]
  /// Where the entries begin.
  let start: Int
  let base: Int64
  let seed: UInt
  private var offset: Int

  init(first: Int64, _ bytes: [UInt8]) throws(SQLiteError) {
    self.first = first
    self.bytes = bytes
    var fields = Fields(bytes: bytes, offset: 0, end: bytes.count)
    guard fields.byte() == EntryPack.version, let base = fields.varint() else {
      throw Self.damage(first)
    }
    self.base = base
    start = fields.offset
    offset = fields.offset
    seed = EntryPack.seed(first, bytes.span.extracting(0..<fields.offset))
  }

  /// Moves past the entries before a position, without checking them.
  mutating func skip(before position: Int64) throws(SQLiteError) {
    var rest = self
    while let place = try rest.nextPlace(), place.position < position { self = rest }
  }

  /// Returns the position and the bytes of the next entry, unchecked; `nil` after the last.
  mutating func nextPlace() throws(SQLiteError) -> (position: Int64, bytes: Range<Int>)? {
    if offset == bytes.count { return nil }
    var fields = Fields(bytes: bytes, offset: offset, end: bytes.count)
    guard let length = fields.fixed(4).map({ Int($0) }),
      length <= bytes.count - fields.offset - 4, case let end = fields.offset + length + 4,
      let distance = fields.varint()
    else { throw Self.damage(first) }
    defer { offset = end }
    return (first &+ distance, offset..<end)
  }

  /// Returns all entries that can be told apart, in order, and the damaged rest, which is empty in a sound
  /// pack: what changes a pack leaves it as it is.
  func parts() -> (entries: [(position: Int64, bytes: Range<Int>)], rest: Range<Int>) {
    var reader = self
    reader.offset = start
    var entries: [(position: Int64, bytes: Range<Int>)] = []
    // Damage is its only error, and leaves the offset where it begins.
    while let entry = try? reader.nextPlace() { entries.append(entry) }
    return (entries, reader.offset..<bytes.count)
  }

  static func damage(_ position: Int64) -> SQLiteError {
    SQLiteError(
      extendedCode: SQLiteError.damagedTable,
      message: "the entries from position \(position) on are damaged")
  }

  /// Returns the next entry; `nil` after the last.
  /// - Parameter isChecked: whether its checksum must be right.
  mutating func next(isChecked: Bool = true) throws(SQLiteError) -> EntryPack.Row? {
    try nextPlace().map { (place) throws(SQLiteError) in try row(at: place, isChecked: isChecked) }
  }

  /// - Parameters:
  ///   - place: of `nextPlace` or `parts`.
  ///   - isChecked: as in `next`.
  func row(
    at place: (position: Int64, bytes: Range<Int>), isChecked: Bool = true
  ) throws(SQLiteError) -> EntryPack.Row {
    let (start, end) = (place.bytes.lowerBound, place.bytes.upperBound - 4)
    if isChecked, !isSound(place.bytes) { throw Self.damage(first) }
    // After the length.
    var fields = Fields(bytes: bytes, offset: start + 4, end: end)
    guard fields.varint() != nil, let room = fields.varint(), let seq = fields.varint(),
      let epoch = fields.varint(), let at = fields.varint(), let others = fields.varint(),
      let content = fields.varint(), let identity = fields.fixed(8), let kind = fields.byte(),
      kind < EntryPack.kinds.count, let kindText = kind == 0 ? fields.counted() : 0..<0,
      let sender = fields.counted(), let id = fields.counted()
    else { throw Self.damage(first) }
    return EntryPack.Row(
      numbers: EntryPack.Numbers(
        position: place.position, room: room, seq: seq, epoch: epoch, at: base &+ at,
        identity: Int64(bitPattern: identity), others: others, content: content),
      kind: Int(kind), kindText: kindText, sender: sender, id: id, body: fields.offset..<end,
      bytes: place.bytes)
  }

  /// Whether a row has its checksum.
  func isSound(_ row: EntryPack.Row) -> Bool { isSound(row.bytes) }

  private func isSound(_ row: Range<Int>) -> Bool {
    let end = row.upperBound - 4
    var sum = Fields(bytes: bytes, offset: end, end: bytes.count)
    let found = EntryPack.checksum(bytes.span.extracting(row.lowerBound..<end), from: seed)
    return sum.fixed(4) == UInt64(found)
  }

  /// Reads fields; `nil` at the end.
  private struct Fields {
    let bytes: [UInt8]
    var offset: Int
    var end: Int

    mutating func byte() -> UInt8? {
      guard offset < end else { return nil }
      defer { offset += 1 }
      return bytes[offset]
    }

    mutating func varint() -> Int64? {
      var value: UInt64 = 0
      var shift: UInt64 = 0
      while shift < 64, let byte = byte() {
        value |= UInt64(byte & 0x7F) << shift
        if byte < 0x80 {
          return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
        }
        shift += 7
      }
      return nil
    }

    mutating func fixed(_ count: Int) -> UInt64? {
      guard end - offset >= count else { return nil }
      var value: UInt64 = 0
      for index in 0..<count { value |= UInt64(bytes[offset + index]) << UInt64(8 * index) }
      offset += count
      return value
    }

    mutating func counted() -> Range<Int>? {
      guard let count = varint(), count >= 0, count <= end - offset else { return nil }
      defer { offset += Int(count) }
      return offset..<offset + Int(count)
    }
  }
}

extension OutputSpan<UInt8> {
  @inline(__always)
  fileprivate mutating func append(varint value: Int64) {
    var rest = UInt64(bitPattern: value << 1 ^ value >> 63)
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  fileprivate mutating func append(littleEndian value: UInt64, bytes count: Int) {
    for byte in 0..<count { append(UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))) }
  }

  @inline(__always)
  fileprivate mutating func append(counted text: String) {
    append(varint: Int64(text.utf8.count))
    append(copying: text.utf8.span)
  }

  @inline(__always)
  fileprivate mutating func append(copying bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { source in
      unsafe withUnsafeMutableBufferPointer { buffer, count in
        precondition(source.count <= buffer.count - count, "the caller has reserved enough")
        guard let from = source.baseAddress, let start = buffer.baseAddress else { return }
        unsafe (start + count).initialize(from: from, count: source.count)
        count += source.count
      }
    }
  }
}
