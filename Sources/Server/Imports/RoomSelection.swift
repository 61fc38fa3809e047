import Wire

/// The rooms of `--rooms`: all, or those that it names, with their names here.
public struct RoomSelection: Sendable {
  private var rooms: [String: String?] = [:]

  /// All rooms.
  public init() {}

  /// - Parameter words: `NAME`, or `NAME=ROOM`.
  /// - Throws: what is wrong with them, as a sentence.
  public init(_ words: [String]) throws(UnreadableExport) {
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let room = parts.count == 2 ? String(parts[1]) : nil
      let isRoom = room.map {
        RoomName.isValid($0) && !RoomName.isDirect($0) && !RoomName.isReserved($0)
      }
      guard isRoom != false, !parts[0].isEmpty else {
        throw UnreadableExport(
          "--rooms", "has \"\(word)\", whose part after = is no name of a room: a-z 0-9 . _ : -")
      }
      rooms[String(parts[0])] = .some(room)
    }
  }

  var names: [String] { rooms.keys.sorted() }

  /// Returns the name of a room here; `nil` if it is not selected.
  /// - Parameter folded: its name unless the selection has another.
  func room(_ name: String, folded: String) -> String? {
    if rooms.isEmpty { return folded }
    guard let room = rooms[name] ?? rooms[folded] else { return nil }
    return room ?? folded
  }

  /// Whether the selection names a room, so that the operator knows of it.
  func names(_ name: String) -> Bool { rooms[name] != nil }
}
