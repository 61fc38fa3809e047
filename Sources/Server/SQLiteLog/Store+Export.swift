public import Relay
internal import SQLite
internal import Wire

extension Store {
  /// Exports the entries of a store, or of one of its rooms, as JSON lines in commit order and as
  /// readers see them: without trimmed entries and deleted content. Each line is the `message`
  /// object with `epoch`, and with `raw` if a `data` entry contains line breaks. The marks of the
  /// members of these rooms follow; see `MarksLine`.
  ///
  /// The relay's own rooms (`sys:`) are left out, unless `room` is one of them.
  /// - Parameter write: receives one line with its line break; an error that it throws ends the
  ///   export.
  /// - Throws: `StoreError`, or the error of `write`.
  public static func export(
    directory path: String, room: String? = nil, write: ([UInt8]) throws -> Void
  ) throws -> StoreCount {
    let directory = DataDirectory(path)
    let database = try Schema.openForReading(directory)
    do {
      try database.execute("BEGIN")
      defer { database.rollback() }
      // Deleted texts whose edits are not all overwritten yet.
      var redacted: [Int64: Set<Int64>] = [:]
      var selectRedactions = try Statement("SELECT room, target FROM redactions", on: database)
      while try selectRedactions.step() {
        redacted[selectRedactions.integer(0), default: []].insert(selectRedactions.integer(1))
      }
      var select = try Statement(
        """
        SELECT seq, at, sender, id, kind, body, rooms.name, epochs.name, room
        FROM entries JOIN rooms ON rooms.number = room JOIN epochs ON epochs.number = epoch
        WHERE seq >= rooms.first
        \(room == nil ? "ORDER BY entries.position" : "AND rooms.name = ?1 ORDER BY seq")
        """, on: database)
      if let room { try select.bind(1, room) }
      var rooms: Set<String> = []
      var count = StoreCount()
      var line: [UInt8] = []
      while try select.step() {
        let name = select.text(6)
        if room == nil, RoomName.isReserved(name) { continue }
        line.removeAll(keepingCapacity: true)
        var entry = try select.entry(in: name)
        if let deleted = redacted[select.integer(8)] { entry.redact(ifAbout: deleted) }
        ExportLine(entry: entry, epoch: select.text(7)).append(to: &line)
        try write(line)
        rooms.insert(name)
        count.entries += 1
      }
      if let room, rooms.isEmpty {
        throw StoreError(
          .environment,
          "The store \(directory.databasePath) has no room \(room). Omit --room to export all rooms."
        )
      }
      count.rooms = rooms.count
      var selectMarks = try Statement(
        """
        SELECT rooms.name, user, read, received, since
        FROM members JOIN rooms ON rooms.number = members.room
        ORDER BY rooms.name, user
        """, on: database)
      while try selectMarks.step() {
        let marks = MarksLine(
          room: selectMarks.text(0), user: selectMarks.text(1), read: selectMarks.integer(2),
          received: selectMarks.integer(3), since: selectMarks.integer(4))
        guard rooms.contains(marks.room) else { continue }
        line.removeAll(keepingCapacity: true)
        marks.append(to: &line)
        try write(line)
      }
      return count
    } catch let error as SQLiteError {
      throw StoreError(error, "read", path: directory.databasePath)
    }
  }
}
