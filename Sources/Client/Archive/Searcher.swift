internal import Folding
internal import SQLite
internal import Wire

/// The statements of searches on the drawing thread's connection, and one step of a search.
final class Searcher {
  /// The maximum number of blocks that one step looks into, of 4,096 entries each: one in which each
  /// word is common, but not all together, takes up to two milliseconds.
  private static let stepBlocks = 12
  /// The maximum number of messages that one step compares.
  private static let stepMessages = 1000
  /// The maximum number of entries without index that are searched, the newest.
  private static let unindexedLimit: Int64 = 4096

  typealias Rooms = [Int64: (room: String, extent: Store.Extent)]

  private var selectRooms: Statement
  private var selectBlocks: Statement
  private var selectBlock: Statement
  private var selectUnindexed: Statement

  init(on database: borrowing Database) throws(SQLiteError) {
    selectRooms = try Statement(
      "SELECT name, range, first, latest FROM rooms WHERE epoch IS NOT NULL AND latest >= first",
      on: database)
    selectBlocks = try Statement(
      "SELECT block, newest FROM blocks ORDER BY newest", on: database)
    selectBlock = try Statement(
      """
      SELECT position, range, seq, target, at FROM words CROSS JOIN entries
      ON position = words.rowid WHERE words MATCH ?1
      """, on: database)
    selectUnindexed = try Statement(
      """
      SELECT position, range, seq, target, at, kind, body FROM entries
      WHERE position > (SELECT through FROM indexing) ORDER BY position DESC LIMIT ?1
      """, on: database)
  }

  /// - Parameter load: Returns an entry in its current state.
  func advance(
    _ search: inout Archive.Search, wanted: Int, where accept: (Entry) -> Bool, in store: Store
  ) throws(SQLiteError) {
    let rooms = try rooms(search.room)
    if search.blocks == nil {
      search.blocks = try blocks()
      try addUnindexed(to: &search, rooms)
      search.unindexed = max(
        0,
        try store.database.integer("SELECT max(position) - through FROM entries, indexing")
          - Self.unindexedLimit)
    }
    var blocksLeft = Self.stepBlocks
    var messagesLeft = Self.stepMessages
    defer { search.found.sort { ($0.at, $0.seq) > ($1.at, $1.seq) } }
    while true {
      // A block may have newer messages than those that the earlier ones had.
      let newest = search.blocks?.last?.newest ?? .min
      while let candidate = search.candidates.last, candidate.at >= newest {
        if search.found.count >= wanted || messagesLeft == 0 { return }
        search.candidates.removeLast()
        messagesLeft -= 1
        try compare(candidate.place, &search, rooms, accept, in: store)
      }
      if search.found.count >= wanted { return }
      guard let block = search.blocks?.last else { break }
      if blocksLeft == 0 { return }
      blocksLeft -= 1
      try add(block.number, to: &search, rooms)
      search.blocks?.removeLast()
    }
    search.isComplete = true
  }

  /// Returns the searched rooms by the range of their entries.
  private func rooms(_ only: String?) throws(SQLiteError) -> Rooms {
    var rooms: Rooms = [:]
    defer { selectRooms.reset() }
    while try selectRooms.step() {
      let room = selectRooms.text(0)
      if let only, room != only { continue }
      let range = selectRooms.integer(1)
      rooms[range] = (
        room,
        Store.Extent(
          epochs: nil, range: range, first: selectRooms.integer(2), latest: selectRooms.integer(3))
      )
    }
    return rooms
  }

  private func blocks() throws(SQLiteError) -> [Archive.Search.Block] {
    var blocks: [Archive.Search.Block] = []
    defer { selectBlocks.reset() }
    while try selectBlocks.step() {
      blocks.append(.init(number: selectBlocks.integer(0), newest: selectBlocks.integer(1)))
    }
    return blocks
  }

  /// Adds what the index finds in a block.
  private func add(
    _ block: Int64, to search: inout Archive.Search, _ rooms: Rooms
  ) throws(SQLiteError) {
    try selectBlock.bind(1, IndexTerms.expression(search.query, in: block))
    defer { selectBlock.reset() }
    let before = search.candidates.count
    while try selectBlock.step() {
      if let candidate = Self.candidate(selectBlock, rooms) { search.candidates.append(candidate) }
    }
    if search.candidates.count > before { search.candidates.sort() }
  }

  /// Adds what has the words and is not indexed yet.
  private func addUnindexed(
    to search: inout Archive.Search, _ rooms: Rooms
  ) throws(SQLiteError) {
    try selectUnindexed.bind(1, Self.unindexedLimit)
    defer { selectUnindexed.reset() }
    while try selectUnindexed.step() {
      guard let candidate = Self.candidate(selectUnindexed, rooms) else { continue }
      let kind = EntryKind(rawValue: selectUnindexed.text(5))
      guard kind == .text || kind == .edit else { continue }
      let entry = Entry(
        room: "", seq: 1, id: "", from: "", at: 0, kind: kind, body: selectUnindexed.blob(6))
      if search.query.matches(entry.text ?? "") { search.candidates.append(candidate) }
    }
    search.candidates.sort()
  }

  /// Returns the message that a row is or changes; `nil` if that is not kept any more.
  /// - Parameter row: With the columns position, range, seq, target, at.
  private static func candidate(
    _ row: borrowing Statement, _ rooms: Rooms
  ) -> Archive.Search.Candidate? {
    let range = row.integer(1)
    guard let extent = rooms[range]?.extent else { return nil }
    let kept = extent.first...extent.latest
    let seq = row.isNull(3) ? row.integer(2) : row.integer(3)
    guard kept.contains(row.integer(2)), kept.contains(seq) else { return nil }
    return .init(
      at: row.integer(4), position: row.integer(0), place: .init(range: range, seq: seq))
  }

  /// Takes a message into the result if it still has the words.
  private func compare(
    _ place: Archive.Search.Place, _ search: inout Archive.Search, _ rooms: Rooms,
    _ accept: (Entry) -> Bool, in store: Store
  ) throws(SQLiteError) {
    guard search.compared.insert(place).inserted, let (room, extent) = rooms[place.range],
      let entry = try store.entry(of: room, extent, seq: place.seq),
      !entry.isDeleted, search.query.matches(entry.text ?? ""), accept(entry)
    else { return }
    search.found.append(entry)
  }
}
