/// What an import of another chat's export adds, changes and leaves out, for the operator.
public struct ImportReport: Sendable {
  struct Room: Sendable {
    var foreign: String
    var room: String
    var entries: Int64
    var members: Int
    var access: String
  }

  private var rooms: [Room] = []
  private var leftOut: [(room: String, reason: String)] = []
  var messages = 0
  var people = 0
  /// Those whose users are called otherwise than there.
  var renamed: [(name: String, user: String)] = []
  /// Names of the table of people that the export does not have.
  var unusedNames: [String] = []
  var omissions = Omissions()
  /// Rooms that the operator has named and that the export does not have.
  var missing: [String] = []
  /// Replies to messages that are not imported.
  var lostReplies = 0
  var lostReactions = 0
  private(set) var foreignNames: Set<String> = []

  mutating func add(_ room: Room) {
    rooms.append(room)
    foreignNames.formUnion([room.foreign, room.room])
  }

  mutating func leaveOut(_ room: String, because reason: String) {
    leftOut.append((room, reason))
    foreignNames.insert(room)
  }

  /// Whether nothing is added.
  public var isEmpty: Bool { rooms.isEmpty }

  /// One line for each room, each person with another name, and each reason.
  public var text: String {
    var lines = ["Rooms: \(rooms.count), messages: \(messages)"]
    lines += list(rooms) { room in
      let name = room.foreign == room.room ? room.room : "\(room.foreign) as \(room.room)"
      return "\(name), \(room.access), entries: \(room.entries), members: \(room.members)"
    }
    lines.append("People: \(people), under another name: \(renamed.count)")
    lines += list(renamed) { "\($0.name) as \($0.user)" }
    if !unusedNames.isEmpty {
      lines.append("Names of the table that the export does not have: \(unusedNames.count)")
      lines += list(unusedNames) { $0 }
    }
    if !leftOut.isEmpty || !missing.isEmpty {
      lines.append("Rooms that are left out: \(leftOut.count + missing.count)")
      lines += list(leftOut) { "\($0.room): \($0.reason)" }
      lines += list(missing) { "\($0): the export has no such room" }
    }
    var lost = omissions
    if lostReplies > 0 { lost.add("replies without what they reply to", count: lostReplies) }
    if lostReactions > 0 { lost.add("reactions that are no emoji", count: lostReactions) }
    if !lost.isEmpty {
      lines.append("Left out of what was read:")
      lines += list(lost.lines) { $0 }
    }
    return lines.map { Self.shown($0) + "\n" }.joined()
  }

  private func list<Element>(
    _ elements: [Element], _ line: (Element) -> String
  ) -> [String] {
    let limit = ImportLimits.reportLines
    let more = elements.count > limit ? ["  and \(elements.count - limit) more"] : []
    return elements.prefix(limit).map { "  \(line($0))" } + more
  }

  /// Names come from an export: they must not move the cursor of a terminal, or change the direction of the text.
  private static func shown(_ line: String) -> String {
    String(
      String.UnicodeScalarView(
        line.unicodeScalars.filter {
          $0.properties.generalCategory != .control && !$0.properties.isBidiControl
        }))
  }
}
