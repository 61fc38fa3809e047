internal import CSQLite
internal import SQLite
internal import Wire

/// The journal's entries as a table, one row each, however they are stored: those of older versions in
/// `entry_rows`, all others in `packs`.
///
/// Every statement reads `entries`, and may change it. Only `EntryWriter` knows more: it stores and
/// deletes many at once.
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
        sender TEXT, id TEXT, kind TEXT, body BLOB, others INTEGER, content INTEGER)
      """
    try database.add(name, declaration: declaration) { EntryTable($0) }
  }

  private let connection: SQLiteConnection
  private var knownLastRow: Int64?
  private var spareReaders: [Reader] = []
  private var writer: Writer?

  private init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The bodies.
  let notedColumns: UInt64 = 1 << 9

  func makeCursor() -> any VirtualCursor { EntryCursor(self) }

  /// Returns the position up to which entries are in `entry_rows`; from the next one on they are in
  /// `packs`. It stays the same for a connection, also when the last rows are deleted.
  fileprivate func lastRow() throws(SQLiteError) -> Int64 {
    if let knownLastRow { return knownLastRow }
    var select = try Statement(Self.lastRow, on: connection)
    let last = try select.step() ? select.integer(0) : 0
    knownLastRow = last
    return last
  }

  fileprivate func takeReader() throws(SQLiteError) -> Reader {
    if let reader = spareReaders.popLast() { return reader }
    return try Reader(connection)
  }

  fileprivate func giveBack(_ reader: Reader) { spareReaders.append(reader) }

  func replace(_ old: Int64?, with new: [SQLiteValue]?) throws(SQLiteError) {
    if writer == nil {
      writer = try Writer.prepare(on: connection, lastRow: lastRow())
    }
    if let old { try writer?.remove(old) }
    if let new { try writer?.insert(new) }
  }

  /// The statements of a cursor, used by one run at a time.
  fileprivate final class Reader {
    var rows: Statement
    var rowsBack: Statement
    /// The pack in which a position is.
    var pack: Statement
    var packs: Statement
    var packsBack: Statement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
      let select = "SELECT \(EntryTable.columns) FROM entry_rows WHERE position BETWEEN ?1 AND ?2"
      rows = try Statement("\(select) ORDER BY position", on: connection)
      rowsBack = try Statement("\(select) ORDER BY position DESC", on: connection)
      pack = try Statement(
        "SELECT first, content FROM packs WHERE first <= ?1 ORDER BY first DESC LIMIT 1",
        on: connection)
      packs = try Statement(
        "SELECT first, content FROM packs WHERE first > ?1 AND first <= ?2 ORDER BY first",
        on: connection)
      packsBack = try Statement(
        "SELECT first, content FROM packs WHERE first <= ?1 ORDER BY first DESC", on: connection)
    }

    func reset() {
      rows.reset()
      rowsBack.reset()
      pack.reset()
      packs.reset()
      packsBack.reset()
    }
  }

  /// Changes single entries.
  private struct Writer: ~Copyable {
    var select: Statement
    var put: Statement
    var delete: Statement
    var putRow: Statement
    var deleteRow: Statement
    let lastRow: Int64

    static func prepare(
      on connection: SQLiteConnection, lastRow: Int64
    ) throws(SQLiteError) -> Writer {
      Writer(
        select: try Statement(
          "SELECT first, content FROM packs WHERE first <= ?1 ORDER BY first DESC LIMIT 1",
          on: connection),
        put: try Statement(
          "INSERT OR REPLACE INTO packs (first, content) VALUES (?1, ?2)", on: connection),
        delete: try Statement("DELETE FROM packs WHERE first = ?1", on: connection),
        putRow: try Statement(
          """
          INSERT INTO entry_rows (\(EntryTable.columns))
          VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
          """, on: connection),
        deleteRow: try Statement("DELETE FROM entry_rows WHERE position = ?1", on: connection),
        lastRow: lastRow)
    }

    /// Returns the pack in which an entry is, or belongs.
    private mutating func pack(of position: Int64) throws(SQLiteError) -> EntryPackReader? {
      try select.bind(1, position)
      defer { select.reset() }
      guard try select.step() else { return nil }
      return try EntryPackReader(first: select.integer(0), select.blob(1))
    }

    private mutating func store(_ pack: EntryPack) throws(SQLiteError) {
      if pack.count == 0 {
        try delete.bind(1, pack.first)
        try delete.run()
      } else {
        try put.bind(1, pack.first)
        try put.bind(2, pack.bytes)
        try put.run()
      }
    }

    mutating func remove(_ position: Int64) throws(SQLiteError) {
      if position <= lastRow {
        try deleteRow.bind(1, position)
        try deleteRow.run()
        return
      }
      guard var old = try pack(of: position) else { return }
      var new = EntryPack(replacing: old)
      var hasChanged = false
      while let place = try old.nextPlace() {
        if place.position == position {
          hasChanged = true
        } else {
          new.append(place.bytes, of: old)
        }
      }
      if hasChanged { try store(new) }
    }

    private mutating func putRow(_ columns: [SQLiteValue]) throws(SQLiteError) {
      for (column, value) in zip(Int32(1)..., columns) {
        switch column {
        case 7...9: try putRow.bind(column, String(decoding: value.bytes, as: UTF8.self))
        case 10: try putRow.bind(column, value.bytes)
        default: try putRow.bind(column, value.integer)
        }
      }
      try putRow.run()
    }

    mutating func insert(_ columns: [SQLiteValue]) throws(SQLiteError) {
      if columns[0].integer <= lastRow {
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
      guard var old = try pack(of: numbers.position), let last = try old.last,
        last >= numbers.position
      else {
        var pack = EntryPack(first: numbers.position, at: numbers.at)
        append(to: &pack)
        try store(pack)
        return
      }
      // It lies between entries of one pack.
      var new = EntryPack(replacing: old)
      var isPending = true
      while let place = try old.nextPlace() {
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
      try store(new)
    }
  }
}

extension EntryPackReader {
  /// The position of the last entry.
  fileprivate var last: Int64? {
    get throws(SQLiteError) {
      var (rest, last) = (self, Int64?.none)
      while let place = try rest.nextPlace() { last = place.position }
      return last
    }
  }
}

private final class EntryCursor: VirtualCursor {
  private let table: EntryTable
  private var reader: EntryTable.Reader?
  private var keys: ClosedRange<Int64> = 0...0
  private var lastRow: Int64 = 0
  private var isDescending = false

  /// Where the current row is from, and the next is looked for.
  private enum Source {
    /// `entry_rows`, which comes before all packs.
    case rows
    /// The pack in which the first key is.
    case firstPack
    case packs
    case packsBack
  }

  private var source = Source.rows
  private var pack: EntryPackReader?
  /// Those rows of the pack that are still to come, the next one last, if the order is descending.
  private var backwards: [EntryPack.Row] = []
  private var row = EntryPack.Row()
  /// What `skip` has found.
  private var peeked: EntryPack.Row?
  /// Whether the statement reads texts. Others read damaged entries as well: a start, retention and the
  /// index need their numbers only.
  private var isChecked = true
  private var isAtEnd = true
  /// Whether no later row can be asked for.
  private var isLast = false

  init(_ table: EntryTable) { self.table = table }

  var key: Int64? { isAtEnd ? nil : row.numbers.position }

  func start(
    _ keys: ClosedRange<Int64>, isDescending: Bool, usesNoted: Bool
  ) throws(SQLiteError) {
    end()
    let reader = try table.takeReader()
    self.reader = reader
    lastRow = try table.lastRow()
    (self.keys, self.isDescending) = (keys, isDescending)
    isChecked = usesNoted
    if isDescending {
      try enter(.packsBack, reader)
    } else {
      try enter(keys.lowerBound <= lastRow ? .rows : .firstPack, reader)
    }
    (isAtEnd, isLast) = (false, false)
    try moveToNext()
  }

  func end() {
    isAtEnd = true
    pack = nil
    backwards = []
    guard let reader else { return }
    reader.reset()
    table.giveBack(reader)
    self.reader = nil
  }

  private func enter(_ next: Source, _ reader: EntryTable.Reader) throws(SQLiteError) {
    source = next
    (pack, peeked) = (nil, nil)
    switch next {
    case .rows:
      if isDescending {
        try reader.rowsBack.bind(1, keys.lowerBound)
        try reader.rowsBack.bind(2, keys.upperBound)
      } else {
        try reader.rows.bind(1, keys.lowerBound)
        try reader.rows.bind(2, keys.upperBound)
      }
    case .firstPack: try reader.pack.bind(1, keys.lowerBound)
    case .packs:
      try reader.packs.bind(1, keys.lowerBound)
      try reader.packs.bind(2, keys.upperBound)
    case .packsBack: try reader.packsBack.bind(1, keys.upperBound)
    }
  }

  func moveToNext() throws(SQLiteError) {
    while let reader, !isLast {
      if source == .rows {
        if try isDescending ? reader.rowsBack.step() : reader.rows.step() {
          row.numbers.position =
            isDescending ? reader.rowsBack.integer(0) : reader.rows.integer(0)
          return
        }
        if isDescending { break }
        try enter(.firstPack, reader)
      } else if try moveInPack() {
        return
      } else if try !moveToNextPack(reader) {
        if source == .firstPack {
          try enter(.packs, reader)
        } else if source == .packsBack, keys.lowerBound <= lastRow {
          try enter(.rows, reader)
        } else {
          break
        }
      }
    }
    end()
  }

  /// - Returns: whether there is another pack in which rows may be that are asked for.
  private func moveToNextPack(_ reader: EntryTable.Reader) throws(SQLiteError) -> Bool {
    switch source {
    case .rows: return false
    case .firstPack:
      guard pack == nil, try reader.pack.step() else { return false }
      let whole = try EntryPackReader(first: reader.pack.integer(0), reader.pack.blob(1))
      var pack = whole
      try pack.skip(before: keys.lowerBound)
      peeked = try pack.next(isChecked: isChecked)
      self.pack = pack
      // If the wanted entry is not there, another one may be taken for an earlier one.
      if isChecked, peeked?.numbers.position != keys.lowerBound {
        (self.pack, peeked) = (whole, nil)
      }
    case .packs:
      guard try reader.packs.step() else { return false }
      pack = try EntryPackReader(first: reader.packs.integer(0), reader.packs.blob(1))
    case .packsBack:
      // The packs before this one end before it begins.
      if let pack, pack.first <= keys.lowerBound { return false }
      guard try reader.packsBack.step() else { return false }
      var pack = try EntryPackReader(
        first: reader.packsBack.integer(0), reader.packsBack.blob(1))
      self.pack = pack
      backwards = []
      while let row = try pack.next(isChecked: isChecked) { backwards.append(row) }
    }
    return true
  }

  private func takeNext() throws(SQLiteError) -> EntryPack.Row? {
    if let row = peeked {
      peeked = nil
      return row
    }
    return try pack?.next(isChecked: isChecked)
  }

  /// Moves to the next row of the pack that is asked for.
  private func moveInPack() throws(SQLiteError) -> Bool {
    if isDescending {
      while let next = backwards.popLast() {
        guard keys.contains(next.numbers.position) else { continue }
        row = next
        return true
      }
      return false
    }
    while let next = try takeNext() {
      guard next.numbers.position >= keys.lowerBound else { continue }
      isLast = next.numbers.position >= keys.upperBound
      if next.numbers.position > keys.upperBound { break }
      row = next
      return true
    }
    return false
  }

  func write(_ column: Int32, to result: borrowing SQLiteResult) {
    guard source != .rows else {
      writeStored(column, to: result)
      return
    }
    switch column {
    case 0: result.set(row.numbers.position)
    case 1: result.set(row.numbers.room)
    case 2: result.set(row.numbers.seq)
    case 3: result.set(row.numbers.epoch)
    case 4: result.set(row.numbers.at)
    case 5: result.set(row.numbers.identity)
    case 6: writeText(row.sender, to: result)
    case 7: writeText(row.id, to: result)
    case 8:
      if row.kind == 0 {
        writeText(row.kindText, to: result)
      } else {
        var kind = EntryPack.kinds[row.kind]
        kind.withUTF8 { unsafe result.set(text: UnsafeRawBufferPointer($0)) }
      }
    case 9:
      unsafe pack?.bytes.withUnsafeBytes {
        unsafe result.set(blob: UnsafeRawBufferPointer(rebasing: $0[row.body]))
      }
    case 10: result.set(row.numbers.others)
    default: result.set(row.numbers.content)
    }
  }

  private func writeText(_ range: Range<Int>, to result: borrowing SQLiteResult) {
    unsafe pack?.bytes.withUnsafeBytes {
      unsafe result.set(text: UnsafeRawBufferPointer(rebasing: $0[range]))
    }
  }

  private func writeStored(_ column: Int32, to result: borrowing SQLiteResult) {
    guard let reader else { return }
    func copy(_ row: borrowing Statement) {
      switch column {
      case 6...8: unsafe row.withBytes(column) { unsafe result.set(text: $0) }
      case 9: unsafe row.withBytes(column) { unsafe result.set(blob: $0) }
      default: result.set(row.integer(column))
      }
    }
    if isDescending { copy(reader.rowsBack) } else { copy(reader.rows) }
  }
}
