import Wire

/// Which rooms somebody may read and send to, as patterns over their names.
///
/// In a pattern `*` stands for any run of characters, also an empty one and across `:` and `.`, and
/// `?` for one; everything else for itself. No pattern matches a direct message: who is to have these
/// is given no list at all, and their names then say whose they are.
public struct Rights: Equatable, Sendable {
  /// Every room.
  public static let all = Rights()

  /// Of the rooms that may be joined and read; `nil` = all.
  public var join: [String]?
  /// Of the rooms that may be sent to; `nil` = all.
  public var send: [String]?

  public init(join: [String]? = nil, send: [String]? = nil) {
    self.join = join
    self.send = send
  }

  /// Whether the room may be joined, and its entries seen in any other way.
  public func mayRead(_ room: String) -> Bool { Self.allows(join, room) }

  /// Whether entries may be sent to the room.
  public func maySend(_ room: String) -> Bool { Self.allows(send, room) }

  private static func allows(_ patterns: [String]?, _ room: String) -> Bool {
    guard let patterns else { return true }
    if RoomName.isDirect(room) { return false }
    return patterns.contains { matches($0.utf8.span, room.utf8.span) }
  }

  /// In time bounded by the product of the lengths: of several `*` only the last one is ever tried
  /// again, since what stands before it has matched as early as it can.
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
