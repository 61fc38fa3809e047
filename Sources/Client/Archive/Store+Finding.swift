internal import SQLite
internal import Wire

/// Places in a room's log.
extension Store {
  func beginnings() throws(SQLiteError) -> [(room: String, at: Int64)] {
    var beginnings: [(room: String, at: Int64)] = []
    defer { statements.selectBeginnings.reset() }
    while try statements.selectBeginnings.step() {
      // Nothing of a room that was begun anew is kept yet.
      let at = statements.selectBeginnings.isNull(1) ? .max : statements.selectBeginnings.integer(1)
      beginnings.append((statements.selectBeginnings.text(0), at))
    }
    return beginnings
  }

  /// Returns the oldest entries that are shown, after `after`, folded, in ascending `seq`.
  func shown(
    of room: String, _ extent: Extent, after: Int64, limit: Int
  ) throws(SQLiteError) -> [Entry] {
    var entries: [Entry] = []
    try statements.selectShownAfter.bind(1, extent.range)
    try statements.selectShownAfter.bind(2, max(after, extent.first - 1))
    try statements.selectShownAfter.bind(3, extent.latest)
    try statements.selectShownAfter.bind(4, Int64(limit))
    defer { statements.selectShownAfter.reset() }
    while try statements.selectShownAfter.step() {
      entries.append(Self.entry(of: room, from: statements.selectShownAfter))
    }
    return try fold(entries, extent)
  }

  /// The times of a log never decrease, and it has no gaps: halves the range.
  func firstSeq(_ extent: Extent, since time: Int64) throws(SQLiteError) -> Int64 {
    var (low, high) = (extent.first, extent.latest + 1)
    while low < high {
      let middle = low + (high - low) / 2
      if try self.time(of: middle, in: extent) < time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func time(of seq: Int64, in extent: Extent) throws(SQLiteError) -> Int64 {
    try statements.selectTime.bind(1, extent.range)
    try statements.selectTime.bind(2, seq)
    defer { statements.selectTime.reset() }
    return try statements.selectTime.step() ? statements.selectTime.integer(0) : .min
  }
}
