import Wire

/// A set of rooms by name: `*` stands for any sequence of characters, even an empty one and across `:` and `.`,
/// and `?` for one character; all others stand for themselves.
public struct RoomPattern: Equatable, Sendable {
  public let text: String

  public init(_ text: String) { self.text = text }

  public static let all = RoomPattern("*")

  /// Whether it names rooms of the relay, which `*` alone does not.
  public var namesReserved: Bool { RoomName.isReserved(text) }

  /// Whether a room could have a name that it matches.
  public var isValid: Bool {
    (1...RoomName.lengthLimit).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        (97...122).contains(byte) || (48...57).contains(byte) || "._:-*?".utf8.contains(byte)
      }
  }

  /// Whether it matches every room that another pattern matches, as far as both show that as texts.
  func covers(_ other: RoomPattern) -> Bool {
    // `*` takes what stands for other characters as well; `?` would take a `*` for one of them.
    let isUnsure =
      text.utf8.contains(UInt8(ascii: "?")) && other.text.utf8.contains(UInt8(ascii: "*"))
    return !isUnsure && matches(other.text)
  }

  /// Matches in time bounded by the product of the lengths: of several `*` only the last is
  /// retried, because the part before it has already matched as early as possible.
  public func matches(_ room: String) -> Bool {
    let (pattern, name) = (text.utf8.span, room.utf8.span)
    var (at, place) = (0, 0)
    var star: (pattern: Int, name: Int)?
    while place < name.count {
      if at < pattern.count, pattern[at] == UInt8(ascii: "*") {
        star = (at, place)
        at += 1
      } else if at < pattern.count,
        pattern[at] == UInt8(ascii: "?") || pattern[at] == name[place]
      {
        at += 1
        place += 1
      } else if let last = star {
        star = (last.pattern, last.name + 1)
        at = last.pattern + 1
        place = last.name + 1
      } else {
        return false
      }
    }
    while at < pattern.count, pattern[at] == UInt8(ascii: "*") { at += 1 }
    return at == pattern.count
  }
}
