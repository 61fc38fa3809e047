internal import CSQLite
package import Relay
package import Wire

/// Reads entries for catching up and history, over a connection of its own that commits do not wait
/// for. Used by one thread.
package final class SQLiteReader: EntryReader {
  private let path: String
  private var state: State

  /// Why the last request could not be answered; `nil` if it could.
  private(set) var failure: StoreFailure?

  fileprivate struct State: ~Copyable {
    var database: Database
    var begin: Statement
    var end: Statement
    var selectBounds: Statement
    var selectEntries: Statement
  }

  /// Opens the store in a directory.
  package convenience init(directory path: String, vfs: String? = nil) throws(StoreError) {
    try self.init(DataDirectory(path, vfs: vfs))
  }

  init(_ directory: DataDirectory) throws(StoreError) {
    path = directory.databasePath
    let database = try Schema.openForReading(directory)
    do throws(SQLiteError) {
      // Pages are read once, in order: whoever catches up must not cost memory for it.
      try database.execute("PRAGMA cache_size = -256")
      let begin = try Statement("BEGIN", on: database)
      let end = try Statement("COMMIT", on: database)
      let selectBounds = try Statement(
        """
        SELECT number, first, coalesce((SELECT max(seq) FROM entries WHERE room = number), first - 1)
        FROM rooms WHERE name = ?1
        """, on: database)
      let selectEntries = try Statement(
        """
        SELECT seq, at, sender, id, kind, body FROM entries
        WHERE room = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq
        """, on: database)
      state = State(
        database: database, begin: begin, end: end, selectBounds: selectBounds,
        selectEntries: selectEntries)
    } catch {
      throw StoreError(error, "read", path: directory.databasePath)
    }
  }

  /// Answers a request from one state of the store.
  package func answer(_ request: ReadRequest, _ framing: Framing) -> LogAnswer {
    failure = nil
    var reader = self
    // Where this fails, so does the first read.
    try? state.begin.run()
    let answer = request.answer(from: &reader, framing)
    if (try? state.end.run()) == nil { state.database.rollback() }
    return answer
  }

  package func bounds(
    of room: String
  ) throws(StoreFailure) -> (number: Int64, first: Int64, head: Int64)? {
    do throws(SQLiteError) { return try state.bounds(of: room) } catch { throw note(error) }
  }

  package func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>, _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    do throws(SQLiteError) {
      try state.forEachEntry(ofRoom: number, named: room, in: seqs, body)
    } catch {
      throw note(error)
    }
  }

  private func note(_ error: SQLiteError) -> StoreFailure {
    let failure = StoreFailure("could not read \(path): \(error)")
    self.failure = failure
    return failure
  }
}

extension SQLiteReader.State {
  fileprivate mutating func bounds(
    of room: String
  ) throws(SQLiteError) -> (number: Int64, first: Int64, head: Int64)? {
    try selectBounds.bind(1, room)
    defer { selectBounds.reset() }
    guard try selectBounds.step() else { return nil }
    return (selectBounds.integer(0), selectBounds.integer(1), selectBounds.integer(2))
  }

  fileprivate mutating func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>, _ body: (Entry) -> Bool
  ) throws(SQLiteError) {
    try selectEntries.bind(1, number)
    try selectEntries.bind(2, seqs.lowerBound)
    try selectEntries.bind(3, seqs.upperBound)
    defer { selectEntries.reset() }
    while try selectEntries.step() {
      guard body(try selectEntries.entry(in: room)) else { return }
    }
  }
}

extension Statement {
  /// The row as an entry; its columns are seq, at, sender, id, kind and body, in this order.
  func entry(in room: String) throws(SQLiteError) -> Entry {
    guard let kind = EntryKind(rawValue: text(4)) else {
      throw SQLiteError(
        extendedCode: SQLITE_CORRUPT,
        message: "entry \(integer(0)) of room \(room) is of the unknown kind \"\(text(4))\"")
    }
    return Entry(
      room: room, seq: integer(0), id: text(3), from: text(2), at: integer(1), kind: kind,
      body: blob(5))
  }
}
