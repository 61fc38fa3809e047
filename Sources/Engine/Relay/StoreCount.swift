/// How many rooms and entries a store holds, or an import has added.
public struct StoreCount: Equatable, Sendable, CustomStringConvertible {
  public var rooms = 0
  public var entries = 0

  public init(rooms: Int = 0, entries: Int = 0) {
    self.rooms = rooms
    self.entries = entries
  }

  public var description: String {
    "\(rooms.counted("room")), \(entries.counted("entry", "entries"))"
  }
}
