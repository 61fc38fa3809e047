public import Relay
internal import SQLite

/// What operators list. Works while a relay runs.
extension Store {
  /// Whether a folder has a store.
  public static func exists(folder path: String) -> Bool { DataFolder(path).hasDatabase }

  /// Returns all rooms, in the order of their names. Reads the whole journal.
  public static func rooms(folder path: String) throws(StoreError) -> [RoomListing] {
    let folder = DataFolder(path)
    let database = try Schema.openForReading(folder)
    do throws(SQLiteError) {
      var select = try Statement(
        """
        SELECT name, (SELECT count(*) FROM members WHERE room = number), count(seq),
          coalesce(sum(length(body)), 0), max(at)
        FROM rooms LEFT JOIN entries ON entries.room = number AND seq >= first
        GROUP BY number ORDER BY name
        """, on: database)
      var rooms: [RoomListing] = []
      while try select.step() {
        rooms.append(
          RoomListing(
            name: select.text(0), members: Int(select.integer(1)), entries: Int(select.integer(2)),
            bytes: select.integer(3), lastAt: select.isNull(4) ? nil : select.integer(4)))
      }
      return rooms
    } catch {
      throw StoreError(error, "read", path: folder.databasePath)
    }
  }

  /// Returns the users that operators have banned.
  public static func bans(folder path: String) throws(StoreError) -> [BanChange] {
    let folder = DataFolder(path)
    let database = try Schema.openForReading(folder)
    do throws(SQLiteError) { return try BlockStatements.bans(in: database) } catch {
      throw StoreError(error, "read", path: folder.databasePath)
    }
  }
}
