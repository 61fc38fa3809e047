internal import Moderation
internal import Relay
internal import SQLite
internal import Wire

/// Reads the lines of an export, each page in a transaction of its own.
struct Exporter: ~Copyable {
  /// How many rows a transaction reads at most, and from how many bytes on it ends.
  private static let pageRows: Int64 = 1024
  private static let pageBytes = 1 << 20

  struct Room {
    var number: Int64
    /// The last exported entry.
    var seq: Int64
  }

  private(set) var rooms: [String: Room] = [:]
  private(set) var entries = 0
  /// `nil` = all rooms.
  private let room: String?
  private let database: Database
  private var position: Int64 = 0
  private let end: Int64
  private var selectRedactions: Statement
  private var selectEntries: Statement
  private var selectMembers: Statement

  static func prepare(
    _ database: consuming Database, room: String?
  ) throws(SQLiteError) -> Exporter {
    let end = try database.integer("SELECT \(Schema.lastPosition)")
    let selectRedactions = try Statement("SELECT room, target FROM redactions", on: database)
    let selectEntries = try Statement(
      """
      SELECT seq, at, sender, id, kind, body, rooms.name, epochs.name, room, entries.position,
        rooms.first
      FROM entries JOIN rooms ON rooms.number = room JOIN epochs ON epochs.number = epoch
      WHERE entries.position > ?1 AND entries.position <= ?2
      ORDER BY entries.position LIMIT \(pageRows)
      """, on: database)
    let selectMembers = try Statement(
      """
      SELECT user, read, received, since FROM members WHERE room = ?1 AND user > ?2
      ORDER BY user LIMIT \(pageRows)
      """, on: database)
    return Exporter(
      room: room, database: database, end: end, selectRedactions: selectRedactions,
      selectEntries: selectEntries, selectMembers: selectMembers)
  }

  private init(
    room: String?, database: consuming Database, end: Int64, selectRedactions: consuming Statement,
    selectEntries: consuming Statement, selectMembers: consuming Statement
  ) {
    self.room = room
    self.database = database
    self.end = end
    self.selectRedactions = selectRedactions
    self.selectEntries = selectEntries
    self.selectMembers = selectMembers
  }

  /// Returns the lines of the next entries, possibly none; `nil` after the last entry.
  mutating func nextEntries() throws(SQLiteError) -> [[UInt8]]? {
    guard position < end else { return nil }
    try database.execute("BEGIN")
    defer {
      selectEntries.reset()
      database.rollback()
    }
    let redacted = try redactions()
    try selectEntries.bind(1, position)
    try selectEntries.bind(2, end)
    var lines: [[UInt8]] = []
    var bytes = 0
    var rows: Int64 = 0
    while bytes < Self.pageBytes {
      guard try selectEntries.step() else {
        if rows < Self.pageRows { position = end }
        break
      }
      rows += 1
      position = selectEntries.integer(9)
      let (name, seq, first) = (
        selectEntries.text(6), selectEntries.integer(0), selectEntries.integer(10)
      )
      if seq < first { continue }
      if let room { if name != room { continue } } else if RoomName.isReserved(name) { continue }
      var line: [UInt8] = []
      if let last = rooms[name], first > last.seq + 1 {
        TrimLine(room: name, first: seq).append(to: &line)
      }
      var entry = try selectEntries.entry(in: name)
      if let deleted = redacted[selectEntries.integer(8)] { entry.redact(ifAbout: deleted) }
      ExportLine(entry: entry, epoch: selectEntries.text(7)).append(to: &line)
      bytes += line.count
      lines.append(line)
      entries += 1
      rooms[name] = Room(number: selectEntries.integer(8), seq: seq)
    }
    return lines
  }

  /// Returns a line for each room whose entries have all gone by their age: its numbers go on, and it
  /// keeps its members and rules. To be called after the last entry.
  mutating func emptyRooms() throws(SQLiteError) -> [[UInt8]] {
    var select = try Statement(
      "SELECT name, number, first FROM rooms WHERE first > 1 ORDER BY name", on: database)
    var lines: [[UInt8]] = []
    while try select.step() {
      let name = select.text(0)
      guard rooms[name] == nil, room.map({ $0 == name }) ?? !RoomName.isReserved(name) else {
        continue
      }
      var line: [UInt8] = []
      TrimLine(room: name, first: select.integer(2)).append(to: &line)
      lines.append(line)
      rooms[name] = Room(number: select.integer(1), seq: select.integer(2) - 1)
    }
    return lines
  }

  /// Returns the deleted texts whose edits are not all overwritten yet.
  private mutating func redactions() throws(SQLiteError) -> [Int64: Set<Int64>] {
    defer { selectRedactions.reset() }
    var redacted: [Int64: Set<Int64>] = [:]
    while try selectRedactions.step() {
      redacted[selectRedactions.integer(0), default: []].insert(selectRedactions.integer(1))
    }
    return redacted
  }

  /// Returns the lines of a room's rules, and of what users are in it: at most some ten thousand.
  mutating func rules(ofRoom name: String) throws(SQLiteError) -> [[UInt8]] {
    guard let room = rooms[name] else { return [] }
    var lines: [[UInt8]] = []
    var line: [UInt8] = []
    var select = try Statement(
      "SELECT \(RulesStatements.columns) FROM rules WHERE room = ?1", on: database)
    try select.bind(1, room.number)
    guard try select.step(), let rules = try select.rules(from: 0, ofRoom: room.number) else {
      return []
    }
    RulesLine(room: name, settings: rules.settingsBody).append(to: &line)
    lines.append(line)
    var selectStandings = try Statement(
      "SELECT \(RulesStatements.standingColumns), user FROM standings WHERE room = ?1 ORDER BY user",
      on: database)
    try selectStandings.bind(1, room.number)
    while try selectStandings.step() {
      let standing = try selectStandings.standing(from: 0, ofRoom: room.number)
      // What was decided after the last exported entry is left out, as that entry is.
      guard standing.since <= room.seq else { continue }
      line.removeAll()
      StandingLine(room: name, user: selectStandings.text(5), standing: standing).append(to: &line)
      lines.append(line)
    }
    return lines
  }

  /// Returns the line of what a direct room has besides its entries; `nil` if it has nothing.
  private mutating func direct(_ name: String) throws(SQLiteError) -> [UInt8]? {
    guard RoomName.isDirect(name), let room = rooms[name] else { return nil }
    var select = try Statement("SELECT state FROM directs WHERE room = ?1", on: database)
    try select.bind(1, room.number)
    guard try select.step() else { return nil }
    var line: [UInt8] = []
    DirectLine(room: name, state: try select.direct(0, ofRoom: room.number)).append(to: &line)
    return line
  }

  /// Returns the lines of the direct rooms, and of all blocks between users and bans, or of the blocks of one
  /// direct room: of one moment, since hidden entries without their block would stay hidden.
  /// - Parameter only: the room; `nil` = all.
  mutating func blocking(only: String?) throws(SQLiteError) -> [[UInt8]] {
    try database.execute("BEGIN")
    defer { database.rollback() }
    var lines: [[UInt8]] = []
    for room in rooms.keys.sorted() { if let line = try direct(room) { lines.append(line) } }
    for change in try BlockStatements.changes(in: database)
    where only == nil || only == RoomName.direct(change.user, change.blocked) {
      var line: [UInt8] = []
      BlockLine(change).append(to: &line)
      lines.append(line)
    }
    for change in only == nil ? try BlockStatements.bans(in: database) : [] {
      var line: [UInt8] = []
      BanLine(change).append(to: &line)
      lines.append(line)
    }
    return lines
  }

  /// Returns the lines of the files that entries name: of all rooms, or of one.
  mutating func files(only: String?) throws(SQLiteError) -> [[UInt8]] {
    var lookups = try FileLookups.prepare(on: database)
    var select = try Statement(
      "SELECT DISTINCT file FROM file_entries WHERE ?1 = 0 OR room = ?1 ORDER BY file", on: database
    )
    try select.bind(1, only.flatMap { rooms[$0]?.number } ?? 0)
    var lines: [[UInt8]] = []
    while try select.step() {
      guard let file = try lookups.file(select.text(0)) else { continue }
      var line: [UInt8] = []
      FileLine(file).append(to: &line)
      lines.append(line)
    }
    return lines
  }

  /// Returns the lines of the next members of a room; `nil` after the last. The marks may be younger
  /// than the last exported entry, and end with it.
  mutating func marks(
    ofRoom name: String, after user: inout String
  ) throws(SQLiteError) -> [[UInt8]]? {
    guard let room = rooms[name] else { return nil }
    try selectMembers.bind(1, room.number)
    try selectMembers.bind(2, user)
    defer { selectMembers.reset() }
    var lines: [[UInt8]] = []
    while try selectMembers.step() {
      user = selectMembers.text(0)
      let marks = MarksLine(
        room: name, user: user, read: min(selectMembers.integer(1), room.seq),
        received: min(selectMembers.integer(2), room.seq),
        since: min(selectMembers.integer(3), room.seq))
      var line: [UInt8] = []
      marks.append(to: &line)
      lines.append(line)
    }
    return lines.isEmpty ? nil : lines
  }
}
