/// A room as an operator's list shows it.
public struct RoomListing: Equatable, Sendable {
  public var name: String
  public var members: Int
  /// The number of kept entries, and the size of what they have.
  public var entries: Int
  public var bytes: Int64
  /// The time of the last one, in milliseconds since 1970.
  public var lastAt: Int64?

  public init(name: String, members: Int, entries: Int, bytes: Int64, lastAt: Int64?) {
    self.name = name
    self.members = members
    self.entries = entries
    self.bytes = bytes
    self.lastAt = lastAt
  }
}
