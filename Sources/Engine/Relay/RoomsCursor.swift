import Wire

/// Where a page of `rooms` ends: which paging it belongs to, and for when that has gone, the last room
/// of the page and when its last entry was made.
struct RoomsCursor: Equatable {
  /// Names one page of one connection.
  var number: UInt64
  /// In milliseconds since 1970, from 0 to 2^53 - 1.
  private(set) var lastAt: Int64
  /// A valid name; the user may no longer belong to the room.
  var room: String

  init(number: UInt64, lastAt: Int64, room: String) {
    self.number = number
    self.lastAt = min(max(lastAt, 0), Entry.sequenceLimit)
    self.room = room
  }

  /// Reads `number@lastAt@room`; `nil` where it is anything else.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 3, let number = Self.number(parts[0]), let lastAt = Self.number(parts[1])
    else { return nil }
    room = String(Substring(parts[2]))
    self.number = UInt64(number)
    self.lastAt = lastAt
    guard RoomName.isValid(room) else { return nil }
  }

  /// From 0 to 2^53 - 1.
  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard (1...16).contains(digits.count), digits.allSatisfy({ 0x30...0x39 ~= $0 }),
      let number = Int64(Substring(digits)), number <= Entry.sequenceLimit
    else { return nil }
    return number
  }

  var text: String { "\(number)@\(lastAt)@\(room)" }
}

/// A connection's way through the rooms, a page at a time. What has an entry meanwhile moves to the
/// front of the list, so that each room comes exactly once: what was not yet listed is noted here when
/// it moves, and comes with the next page.
struct RoomsPaging {
  /// That of the cursor that goes on; 0 before the first page.
  var number: UInt64 = 0
  /// The first in the user's list that was not on a page; none at its end.
  var next: Link<WatchedRoom>
  /// What moved or came before it was listed, the latest last.
  var missed: [Slot<WatchedRoom>] = []
  /// What is on the page that is being made; `nil` for what has gone meanwhile.
  var page: [Slot<WatchedRoom>?] = []

  var isAtEnd: Bool { next.isNone && missed.isEmpty }
}
