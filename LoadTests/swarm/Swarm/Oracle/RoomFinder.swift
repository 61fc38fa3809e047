import Mixing

/// Finds a room by its name's bytes as they stand in a frame, without making a string of them.
struct RoomFinder: Sendable {
  /// All names, one behind the other.
  private var names: [UInt8] = []
  private var ends: [Int] = []
  /// Open addressing, at most half full; -1 where nothing is.
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

  /// - Returns: its index; `nil` if there is none.
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

  /// The room of a frame that looks as an entry does, as our relay writes it: its `room` comes
  /// second, and has no escapes. For others it is no use to guess.
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

  /// Folded: the low bits are what the table looks at.
  private static func hash(_ name: Span<UInt8>) -> UInt64 {
    let hash = FNV1a.hash(name)
    return (hash ^ hash >> 32) & 0x7FFF_FFFF
  }
}
