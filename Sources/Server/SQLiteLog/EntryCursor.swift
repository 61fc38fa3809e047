internal import SQLite

/// A position in an `EntryTable`.
final class EntryCursor: VirtualCursor {
  /// The statements of a cursor, used by one run at a time.
  final class Reader {
    var rows: Statement
    var rowsBack: Statement
    var packs: Statement
    var packsBack: Statement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
      let select = "SELECT \(EntryTable.columns) FROM entry_rows WHERE position BETWEEN ?1 AND ?2"
      rows = try Statement("\(select) ORDER BY position", on: connection)
      rowsBack = try Statement("\(select) ORDER BY position DESC", on: connection)
      packs = try Statement(
        "SELECT first, content FROM packs WHERE first > ?1 AND first <= ?2 ORDER BY first",
        on: connection, tolerance: .leavesAndOverflows)
      packsBack = try Statement(
        StoredPacks.selectBack, on: connection, tolerance: .leavesAndOverflows)
    }

    func reset() {
      rows.reset()
      rowsBack.reset()
      packs.reset()
      packsBack.reset()
    }
  }

  private let table: EntryTable
  private var reader: Reader?
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
  /// Whether the statement reads texts or epochs. Others read damaged entries as well: a start, retention
  /// and the index can do without them.
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

  private func enter(_ next: Source, _ reader: Reader) throws(SQLiteError) {
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
    case .firstPack: try reader.packsBack.bind(1, keys.lowerBound)
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
  private func moveToNextPack(_ reader: Reader) throws(SQLiteError) -> Bool {
    switch source {
    case .rows: return false
    case .firstPack:
      guard pack == nil, try reader.packsBack.step() else { return false }
      let whole = try reader.packsBack.pack()
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
      pack = try reader.packs.pack()
    case .packsBack:
      // The packs before this one end before it begins.
      if let pack, pack.first <= keys.lowerBound { return false }
      guard try reader.packsBack.step() else { return false }
      var pack = try reader.packsBack.pack()
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
    case 11: result.set(row.numbers.content)
    case 12: result.set(Int64(row.body.count))
    default: result.set(isChecked || pack?.isSound(row) ?? false ? 1 : 0)
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
      case 12: unsafe row.withBytes(9) { result.set(Int64($0.count)) }
      case 13: result.set(1)
      default: result.set(row.integer(column))
      }
    }
    if isDescending { copy(reader.rowsBack) } else { copy(reader.rows) }
  }
}

extension Statement {
  /// Returns the pack of a row; its columns are first and content.
  func pack() throws(SQLiteError) -> EntryPackReader {
    try EntryPackReader(first: integer(0), blob(1))
  }
}
