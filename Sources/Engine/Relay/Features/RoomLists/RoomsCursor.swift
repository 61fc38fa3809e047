import Wire

/// The end of a page of `rooms`: the number of its paging, and, in case that no longer exists, the
/// last room of the page and the time of its last entry.
struct RoomsCursor: Equatable {
  /// Identifies one page of one connection.
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

  /// Parses `number@lastAt@room`; returns `nil` for anything else.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 3, let number = Self.number(parts[0]), let lastAt = Self.number(parts[1])
    else { return nil }
    room = String(Substring(parts[2]))
    self.number = UInt64(number)
    self.lastAt = lastAt
    guard RoomName.isValid(room) else { return nil }
  }

  /// Parses a number from 0 to 2^53 - 1.
  private static func number(_ digits: Substring.UTF8View) -> Int64? {
    guard (1...16).contains(digits.count), digits.allSatisfy({ 0x30...0x39 ~= $0 }),
      let number = Int64(Substring(digits)), number <= Entry.sequenceLimit
    else { return nil }
    return number
  }

  var text: String { "\(number)@\(lastAt)@\(room)" }
}

/// The progress of a connection through the pages of `rooms`. A room with a new entry moves to the
/// front of the list; if it was not listed yet, it is noted here when it moves, and comes with the
/// next page. So each room is listed exactly once.
struct RoomsPaging {
  /// The number of the valid cursor; 0 before the first page.
  var number: UInt64 = 0
  /// The first room in the user's list that was not on a page; none at the end.
  var next: OptionalSlot<WatchedRoom>
  /// Rooms that moved or were added before they were listed, the latest last.
  var missed: [Slot<WatchedRoom>] = []
  /// The rooms on the page that is being made; `nil` for those removed meanwhile.
  var page: [Slot<WatchedRoom>?] = []

  var isAtEnd: Bool { next.isNone && missed.isEmpty }
}
