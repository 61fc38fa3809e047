import Wire

/// The rooms that a user may read and send to, as patterns over their names.
///
/// In a pattern `*` matches any sequence of characters, even an empty one and across `:` and `.`,
/// and `?` matches one character; all others match themselves. No pattern matches a direct message:
/// a user with access to them has no list at all, and access then follows from the names of these
/// rooms.
public struct Rights: Equatable, Sendable {
  /// Every room.
  public static let all = Rights()

  /// The patterns of rooms that may be joined and read; `nil` = all.
  public var join: [String]?
  /// The patterns of rooms that may be sent to; `nil` = all.
  public var send: [String]?

  public init(join: [String]? = nil, send: [String]? = nil) {
    self.join = join
    self.send = send
  }

  /// Whether the room may be joined, and its entries read in any other way.
  public func mayRead(_ room: String) -> Bool { Self.allows(join, room) }

  /// Whether entries may be sent to the room.
  public func maySend(_ room: String) -> Bool { Self.allows(send, room) }

  private static func allows(_ patterns: [String]?, _ room: String) -> Bool {
    guard let patterns else { return true }
    if RoomName.isDirect(room) { return false }
    return patterns.contains { matches($0.utf8.span, room.utf8.span) }
  }

  /// Matches in time bounded by the product of the lengths: of several `*` only the last is
  /// retried, because the part before it has already matched as early as possible.
  private static func matches(_ pattern: Span<UInt8>, _ name: Span<UInt8>) -> Bool {
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
