import Mixing

/// Finds a room by the bytes of its name in a frame, without creating a string.
struct RoomFinder: Sendable {
  /// All names, concatenated.
  private var names: [UInt8] = []
  private var ends: [Int] = []
  /// A hash table with open addressing, at most half full; -1 is empty.
  private var slots: [Int32]

  init(_ rooms: [String]) {
    var size = 2
    while size < rooms.count * 2 { size *= 2 }
    slots = Array(repeating: -1, count: size)
    for (index, room) in rooms.enumerated() {
      let start = names.count
      names += Array(room.utf8)
      ends.append(names.count)
      var slot = Int(Self.hash(names.span.extracting(start..<names.count))) & (size - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (size - 1) }
      slots[slot] = Int32(index)
    }
  }

  /// - Returns: The room's index; `nil` if there is none.
  func room(_ name: Span<UInt8>) -> Int? {
    var slot = Int(Self.hash(name)) & (slots.count - 1)
    while slots[slot] >= 0 {
      let index = Int(slots[slot])
      let start = index > 0 ? ends[index - 1] : 0
      if isEqual(name, start..<ends[index]) { return index }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Returns the room of a frame that is formatted like this relay's entries: `room` is the second
  /// member and has no escapes. For other frames it returns `nil`.
  func room(ofFrame frame: Span<UInt8>) -> Int? {
    let front: StaticString = "{\"type\":\"message\",\"room\":\""
    let length = front.utf8CodeUnitCount
    guard frame.count > 4 else { return nil }
    let headerBytes = frame[1] < 126 ? 2 : frame[1] == 126 ? 4 : 10
    let start = headerBytes + length
    guard frame.count > start else { return nil }
    for index in 0..<length {
      let byte = unsafe front.utf8Start[index]
      guard frame[headerBytes + index] == byte else { return nil }
    }
    var end = start
    while end < frame.count, frame[end] != UInt8(ascii: "\"") { end += 1 }
    return end < frame.count ? room(frame.extracting(start..<end)) : nil
  }

  private func isEqual(_ name: Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard name.count == range.count else { return false }
    for index in 0..<name.count where name[index] != names[range.lowerBound + index] {
      return false
    }
    return true
  }

  /// Folded, because the table uses the low bits.
  private static func hash(_ name: Span<UInt8>) -> UInt64 {
    let hash = FNV1a.hash(name)
    return (hash ^ hash >> 32) & 0x7FFF_FFFF
  }
}
