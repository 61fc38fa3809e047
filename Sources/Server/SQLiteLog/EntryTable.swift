internal import CSQLite
internal import SQLite
internal import Wire

/// The journal's entries as a table, one row each, however they are stored: those of older versions in
/// `entry_rows`, all others in `packs`.
///
/// Every statement reads `entries`, and may change it. `size` is the length of `body`, also where that is
/// damaged. `sound` is whether an entry has its checksum: what reads neither body nor epoch gets damaged
/// entries as well, and asks for it. Only `EntryWriter` knows more: it stores and deletes many at once.
final class EntryTable: VirtualTable {
  static let name = "entries"
  static let columns = """
    position, room, seq, epoch, at, identity, sender, id, kind, body, others, content
    """

  /// The last position in `entry_rows`, which gets no later ones.
  static let lastRow = "SELECT coalesce(max(position), 0) FROM entry_rows"

  /// Adds the table to a connection whose file has the current schema.
  static func add(to database: borrowing Database) throws(SQLiteError) {
    let declaration = """
      CREATE TABLE entries (
        position INTEGER, room INTEGER, seq INTEGER, epoch INTEGER, at INTEGER, identity INTEGER,
        sender TEXT, id TEXT, kind TEXT, body BLOB, others INTEGER, content INTEGER,
        size INTEGER HIDDEN, sound INTEGER HIDDEN)
      """
    try database.add(name, declaration: declaration) { EntryTable($0) }
  }

  private let connection: SQLiteConnection
  private var knownLastRow: Int64?
  private var spareReaders: [EntryCursor.Reader] = []
  private var writer: Writer?

  private init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The epochs and the bodies.
  let notedColumns: UInt64 = 1 << 3 | 1 << 9

  func makeCursor() -> any VirtualCursor { EntryCursor(self) }

  /// Returns the position up to which entries are in `entry_rows`; from the next one on they are in
  /// `packs`. It stays the same for a connection, also when the last rows are deleted.
  func lastRow() throws(SQLiteError) -> Int64 {
    if let knownLastRow { return knownLastRow }
    var select = try Statement(Self.lastRow, on: connection)
    let last = try select.step() ? select.integer(0) : 0
    knownLastRow = last
    return last
  }

  func takeReader() throws(SQLiteError) -> EntryCursor.Reader {
    if let reader = spareReaders.popLast() { return reader }
    return try EntryCursor.Reader(connection)
  }

  func giveBack(_ reader: EntryCursor.Reader) { spareReaders.append(reader) }

  func replace(_ old: Int64?, with new: [SQLiteValue]?) throws(SQLiteError) {
    if writer == nil {
      writer = try Writer.prepare(on: connection, lastRow: lastRow())
    }
    if let old { try writer?.packs.deleteEntries([old]) }
    if let new { try writer?.insert(new) }
  }

  /// Changes single entries.
  private struct Writer: ~Copyable {
    var packs: StoredPacks
    private var putRow: Statement

    static func prepare(
      on connection: SQLiteConnection, lastRow: Int64
    ) throws(SQLiteError) -> Writer {
      Writer(
        packs: try StoredPacks.prepare(on: connection, lastRow: lastRow),
        putRow: try Statement(
          """
          INSERT INTO entry_rows (\(EntryTable.columns))
          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
          """, on: connection))
    }

    private mutating func putRow(_ columns: [SQLiteValue]) throws(SQLiteError) {
      for (column, value) in zip(Int32(1)...12, columns) {
        switch column {
        case 7...9: try putRow.bind(column, String(decoding: value.bytes, as: UTF8.self))
        case 10: try putRow.bind(column, value.bytes)
        default: try putRow.bind(column, value.integer)
        }
      }
      try putRow.run()
    }

    mutating func insert(_ columns: [SQLiteValue]) throws(SQLiteError) {
      if columns[0].integer <= packs.lastRow {
        try putRow(columns)
        return
      }
      let numbers = EntryPack.Numbers(
        position: columns[0].integer, room: columns[1].integer, seq: columns[2].integer,
        epoch: columns[3].integer, at: columns[4].integer, identity: columns[5].integer,
        others: columns[10].integer, content: columns[11].integer)
      func text(_ column: Int) -> String { String(decoding: columns[column].bytes, as: UTF8.self) }
      func append(to pack: inout EntryPack) {
        pack.append(
          numbers, sender: text(6), id: text(7), kind: text(8), body: columns[9].bytes.span)
      }
      guard let old = try packs.pack(of: numbers.position), case let parts = old.parts(),
        old.first == numbers.position || parts.entries.last?.position ?? 0 >= numbers.position
      else {
        var pack = EntryPack(first: numbers.position, at: numbers.at)
        append(to: &pack)
        try packs.add(pack)
        return
      }
      // It lies between entries of one pack.
      var new = EntryPack(replacing: old)
      var isPending = true
      for place in parts.entries {
        guard place.position != numbers.position else {
          throw SQLiteError(
            extendedCode: SQLITE_CONSTRAINT, message: "entry \(place.position) exists already")
        }
        if isPending, place.position > numbers.position {
          append(to: &new)
          isPending = false
        }
        new.append(place.bytes, of: old)
      }
      if isPending { append(to: &new) }
      new.append(parts.rest, of: old)
      try packs.replace(by: new)
    }
  }
}
