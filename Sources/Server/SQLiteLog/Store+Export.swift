public import Relay
internal import SQLite

extension Store {
  /// Exports the entries of a store, or of one of its rooms, as JSON lines in commit order and as
  /// readers see them: without trimmed entries and deleted content. Each line is the `message`
  /// object with `epoch`, and with `raw` if a `data` entry contains line breaks. The marks of the
  /// members of these rooms follow; see `MarksLine`.
  ///
  /// Reads up to the last entry at the start, page by page: `write` may take any time, and no
  /// transaction is open meanwhile, since the write-ahead log of a running relay could not restart.
  /// If entries of a room are trimmed before they are read, a `TrimLine` says so.
  ///
  /// The relay's own rooms (`sys:`) are left out, unless `room` is one of them.
  /// Blocks and bans are the last lines; of one direct room, the blocks between its users.
  /// - Parameter write: receives one line with its line break; an error that it throws ends the
  ///   export.
  /// - Throws: `StoreError`, or the error of `write`.
  public static func export(
    folder path: String, room: String? = nil, write: ([UInt8]) throws -> Void
  ) throws -> StoreCount {
    let folder = DataFolder(path)
    let database = try Schema.openForReading(folder)
    do {
      var exporter = try Exporter.prepare(database, room: room)
      while let lines = try exporter.nextEntries() { for line in lines { try write(line) } }
      for line in try exporter.emptyRooms() { try write(line) }
      if let room, exporter.rooms.isEmpty {
        throw StoreError(
          .configuration,
          "The store \(folder.databasePath) has no room \(room). Omit --room to export all rooms."
        )
      }
      for room in exporter.rooms.keys.sorted() {
        var user = ""
        while let lines = try exporter.marks(ofRoom: room, after: &user) {
          for line in lines { try write(line) }
        }
      }
      for room in exporter.rooms.keys.sorted() {
        for line in try exporter.rules(ofRoom: room) { try write(line) }
      }
      for line in try exporter.blocking(only: room) { try write(line) }
      for line in try exporter.files(only: room) { try write(line) }
      return StoreCount(rooms: exporter.rooms.count, entries: exporter.entries)
    } catch let error as SQLiteError {
      throw StoreError(error, "read", path: folder.databasePath)
    }
  }
}
