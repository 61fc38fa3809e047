internal import SQLite

/// Texts that leave the file, and with them the index. The drawing thread only records their terms:
/// the maintenance thread removes them.
extension Store {
  /// Records the terms of a message and of its edits, which are about to be overwritten.
  func unindex(_ target: Int64, range: Int64) throws(SQLiteError) {
    try statements.selectIndexed.bind(1, range)
    try statements.selectIndexed.bind(2, target)
    defer { statements.selectIndexed.reset() }
    while try statements.selectIndexed.step() {
      try recordUnindexing(of: SearchIndex.Row(statements.selectIndexed))
    }
  }

  /// Deletes an entry that is no longer kept, from the place that another one is about to take.
  /// - Returns: Whether there was one.
  func clear(_ seq: Int64, range: Int64) throws(SQLiteError) -> Bool {
    try statements.selectPlace.bind(1, range)
    try statements.selectPlace.bind(2, seq)
    defer { statements.selectPlace.reset() }
    guard try statements.selectPlace.step() else { return false }
    let row = SearchIndex.Row(statements.selectPlace)
    if statements.selectPlace.flag(3) { try recordUnindexing(of: row) }
    statements.selectPlace.reset()
    try statements.deletePlace.bind(1, row.position)
    try statements.deletePlace.run()
    try statements.lowerThrough.run()
    return true
  }

  private func recordUnindexing(of row: SearchIndex.Row) throws(SQLiteError) {
    if row.terms.isEmpty { return }
    try statements.insertUnindexing.bind(1, row.position)
    try statements.insertUnindexing.bind(2, row.terms)
    try statements.insertUnindexing.run()
  }
}
