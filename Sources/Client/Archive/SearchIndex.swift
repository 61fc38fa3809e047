internal import SQLite
internal import Wire

/// The index for searching, on the connection of the maintenance thread, which alone changes it.
///
/// FTS5 stores for each term the positions of the entries, and no text (`content = ''`). A row is a
/// text as it arrived: that of a message or of an edit. Both stay as long as their entries; whoever
/// searches compares the message in its current state.
///
/// Neither tokenizer of FTS5 would do. `unicode61` folds letters by tables of its own (ß, ø, æ and
/// others differ from those of the relay's searches), and takes a sentence in a script without
/// spaces for one word. `trigram` finds nothing shorter than three letters, is several times as
/// large, and cannot tell the beginning of a word. So texts are split and folded here
/// (`IndexTerms`), and `ascii` only separates the terms at spaces. Without columns and offsets
/// (`detail`, `columnsize`) the index has a third of the size.
///
/// Storing messages does not wait for it: entries are indexed in the background, once there are
/// `lagEntries`; those after `indexing.through` are searched row by row.
final class SearchIndex {
  static let table = """
    CREATE VIRTUAL TABLE words USING fts5 (
      text, content = '', detail = none, columnsize = 0, tokenize = 'ascii');
    """

  /// Run after entries were deleted: SQLite gives the last position to the next entry if it is free.
  static let lowerThroughSQL = """
    UPDATE indexing SET through = min(through, coalesce((SELECT max(position) FROM entries), 0))
    """

  /// The number of entries that may be unindexed for good.
  static let lagEntries: Int64 = 2048
  /// The maximum number of entries indexed in one transaction, for which the drawing thread may have
  /// to wait.
  private static let sliceEntries: Int64 = 256
  /// The number of pages merged in one transaction.
  private static let slicePages: Int64 = 64
  /// The number of texts no longer kept whose terms may stay in the file, other than deleted ones.
  private static let removedLimit: Int64 = 10_000

  /// A row of `entries`, as far as the index needs it.
  struct Row {
    var position: Int64
    /// Its terms; empty for an entry without text.
    var terms: String

    /// - Parameter row: With the columns position, kind, body.
    init(_ row: borrowing Statement) {
      position = row.integer(0)
      terms = Self.terms(position, kind: row.text(1), body: row.blob(2))
    }

    static func terms(_ position: Int64, kind: String, body: [UInt8]) -> String {
      let kind = EntryKind(rawValue: kind)
      guard kind == .text || kind == .edit else { return "" }
      let entry = Entry(room: "", seq: 1, id: "", from: "", at: 0, kind: kind, body: body)
      return IndexTerms.terms(of: entry.text ?? "", at: position)
    }
  }

  enum Outcome {
    /// There is nothing to do.
    case idle
    case more
    /// Terms of deleted texts are no longer in the index.
    case clean
  }

  private var selectNext: Statement
  private var selectUnindexing: Statement
  private var deleteUnindexing: Statement
  private var insertTerms: Statement
  private var deleteTerms: Statement
  private var upsertBlock: Statement
  private var setThrough: Statement
  private var clampThrough: Statement
  private var addRemoved: Statement
  private var selectThrough: Statement
  private var merge: Statement
  /// Whether new entries are being indexed, until there are none.
  private var isCatchingUp = false
  /// Whether this connection has begun the merge.
  private var hasBegunMerging = false

  init(on database: borrowing Database) throws(SQLiteError) {
    selectNext = try Statement(
      """
      SELECT position, kind, body, at FROM entries
      WHERE position > ?1 ORDER BY position LIMIT ?2
      """, on: database)
    selectUnindexing = try Statement(
      "SELECT position, terms FROM unindexing LIMIT ?1", on: database)
    deleteUnindexing = try Statement("DELETE FROM unindexing WHERE position = ?1", on: database)
    insertTerms = try Statement("INSERT INTO words (rowid, text) VALUES (?1, ?2)", on: database)
    deleteTerms = try Statement(
      "INSERT INTO words (words, rowid, text) VALUES ('delete', ?1, ?2)", on: database)
    upsertBlock = try Statement(
      """
      INSERT INTO blocks (block, newest) VALUES (?1, ?2)
      ON CONFLICT DO UPDATE SET newest = max(newest, ?2)
      """, on: database)
    setThrough = try Statement("UPDATE indexing SET through = ?1", on: database)
    clampThrough = try Statement(Self.lowerThroughSQL, on: database)
    addRemoved = try Statement(
      "UPDATE indexing SET removed = removed + ?1, is_urgent = max(is_urgent, ?2)", on: database)
    selectThrough = try Statement("SELECT through FROM indexing", on: database)
    merge = try Statement("INSERT INTO words (words, rank) VALUES ('merge', ?1)", on: database)
  }

  /// Empties the index; its statements cannot be used afterwards.
  static func clear(_ database: borrowing Database) throws(SQLiteError) {
    // A table whose description of its segments is damaged cannot even be dropped: this is that of
    // an empty one.
    try database.execute("DELETE FROM words_data")
    try database.execute("DELETE FROM words_idx")
    try database.execute(
      "INSERT INTO words_data (id, block) VALUES (1, x''), (10, x'00000000000000')")
    try database.execute("DROP TABLE words")
    try database.execute(table)
    try database.execute("DELETE FROM blocks")
    try database.execute("DELETE FROM unindexing")
    try database.execute(
      "UPDATE indexing SET through = 0, removed = 0, is_urgent = 0, is_merging = 0")
  }

  // MARK: Steps

  /// Does a part of the work, in the transaction of the caller.
  func step(on database: borrowing Database) throws(SQLiteError) -> Outcome {
    // First: a position of these may have been given to another entry.
    if try unindex() { return .more }
    if try index(on: database) { return .more }
    return try merge(on: database)
  }

  /// Removes terms of deleted texts.
  /// - Returns: Whether there were any.
  private func unindex() throws(SQLiteError) -> Bool {
    var rows: [(position: Int64, terms: String)] = []
    try selectUnindexing.bind(1, Self.sliceEntries)
    defer { selectUnindexing.reset() }
    while try selectUnindexing.step() {
      rows.append((selectUnindexing.integer(0), selectUnindexing.text(1)))
    }
    selectUnindexing.reset()
    for row in rows {
      try delete(row.terms, at: row.position)
      try deleteUnindexing.bind(1, row.position)
      try deleteUnindexing.run()
    }
    if !rows.isEmpty { try recordRemoved(rows.count, isUrgent: true) }
    return !rows.isEmpty
  }

  /// Indexes the next entries, if there are many.
  /// - Returns: Whether there were any.
  private func index(on database: borrowing Database) throws(SQLiteError) -> Bool {
    let through = try through()
    if !isCatchingUp {
      let newest = try database.integer("SELECT max(position) FROM entries")
      guard newest - through >= Self.lagEntries else { return false }
    }
    try selectNext.bind(1, through)
    try selectNext.bind(2, Self.sliceEntries)
    defer { selectNext.reset() }
    var last = through
    var newest: [Int64: Int64] = [:]
    while try selectNext.step() {
      let row = Row(selectNext)
      last = row.position
      if row.terms.isEmpty { continue }
      try insertTerms.bind(1, row.position)
      try insertTerms.bind(2, row.terms)
      try insertTerms.run()
      let block = IndexTerms.block(of: row.position)
      newest[block] = max(newest[block] ?? 0, selectNext.integer(3))
    }
    isCatchingUp = last > through
    guard isCatchingUp else { return false }
    for (block, at) in newest {
      try upsertBlock.bind(1, block)
      try upsertBlock.bind(2, at)
      try upsertBlock.run()
    }
    try setThrough.bind(1, last)
    try setThrough.run()
    return true
  }

  /// FTS5 only marks terms as deleted, until it has merged all that it has stored. Merges a part, if
  /// there are such terms.
  private func merge(on database: borrowing Database) throws(SQLiteError) -> Outcome {
    let isMerging = try database.integer("SELECT is_merging FROM indexing") != 0
    if !isMerging || !hasBegunMerging {
      let isNeeded = try database.integer(
        """
        SELECT is_merging OR is_urgent OR removed >= \(Self.removedLimit) FROM indexing
        """)
      if isNeeded == 0 { return .idle }
      try database.execute("UPDATE indexing SET is_merging = 1, is_urgent = 0, removed = 0")
      hasBegunMerging = true
      // Negative: begins with everything that there is.
      try merge(pages: -Self.slicePages)
      return .more
    }
    let before = database.totalChanges
    try merge(pages: Self.slicePages)
    if database.totalChanges - before >= 2 { return .more }
    try database.execute("UPDATE indexing SET is_merging = 0")
    hasBegunMerging = false
    return .clean
  }

  private func merge(pages: Int64) throws(SQLiteError) {
    try merge.bind(1, pages)
    try merge.run()
  }

  // MARK: Entries that are deleted

  /// Removes the terms of entries that are about to be deleted.
  func remove(_ rows: [Row], isUrgent: Bool) throws(SQLiteError) {
    let through = try through()
    let indexed = rows.filter { $0.position <= through && !$0.terms.isEmpty }
    for row in indexed { try delete(row.terms, at: row.position) }
    if !indexed.isEmpty { try recordRemoved(indexed.count, isUrgent: isUrgent) }
  }

  /// Records that entries were deleted.
  func lowerThrough() throws(SQLiteError) { try clampThrough.run() }

  private func through() throws(SQLiteError) -> Int64 {
    defer { selectThrough.reset() }
    return try selectThrough.step() ? selectThrough.integer(0) : 0
  }

  private func delete(_ terms: String, at position: Int64) throws(SQLiteError) {
    try deleteTerms.bind(1, position)
    try deleteTerms.bind(2, terms)
    try deleteTerms.run()
  }

  private func recordRemoved(_ count: Int, isUrgent: Bool) throws(SQLiteError) {
    try addRemoved.bind(1, Int64(count))
    try addRemoved.bind(2, isUrgent)
    try addRemoved.run()
  }
}
