import Wire

/// The rooms that a user may read and send to, as patterns over their names (`RoomPattern`).
///
/// No pattern matches a direct message: a user with access to them has no list at all, and access then
/// follows from the names of these rooms.
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
    return patterns.contains { RoomPattern($0).matches(room) }
  }
}
