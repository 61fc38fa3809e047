internal import SQLite

/// The epochs of entries.
extension StoreState {
  /// See `EntryStore`.
  mutating func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(SQLiteError) -> (seq: Int64, epoch: Int64)? {
    try statements.selectFirst.bind(1, room)
    defer { statements.selectFirst.reset() }
    guard try statements.selectFirst.step(), let head = try head(of: room) else { return nil }
    let first = statements.selectFirst.integer(0)
    guard first <= head.seq else { return nil }
    return try Self.lastEntry(in: first...head.seq, throughEpoch: number) {
      (seq) throws(SQLiteError) in try epoch(of: seq, inRoom: room)
    }
  }

  private mutating func epoch(of seq: Int64, inRoom room: Int64) throws(SQLiteError) -> Int64 {
    try statements.selectEpoch.bind(1, position(of: seq, inRoom: room))
    defer { statements.selectEpoch.reset() }
    guard try statements.selectEpoch.step() else { throw Self.missing(seq, room: room) }
    return statements.selectEpoch.integer(0)
  }

  /// Epochs increase with `seq`, so a binary search finds the last entry of one in some twenty
  /// lookups; a scan from the head would hold up commits.
  static func lastEntry(
    in seqs: ClosedRange<Int64>, throughEpoch number: Int64,
    epoch: (Int64) throws(SQLiteError) -> Int64
  ) throws(SQLiteError) -> (seq: Int64, epoch: Int64)? {
    // Every entry before `lower` is of epoch `number` or earlier, every one from `upper` on later.
    var lower = seqs.lowerBound
    var upper = seqs.upperBound + 1
    var last: (seq: Int64, epoch: Int64)?
    // After a start the last entry is of an earlier epoch.
    var next = seqs.upperBound
    while lower < upper {
      let found = try epoch(next)
      if found <= number {
        last = (next, found)
        lower = next + 1
      } else {
        upper = next
      }
      next = lower + (upper - lower) / 2
    }
    return last
  }
}
