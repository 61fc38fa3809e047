/// Entries that are no longer kept: where they lie in the journal, the rows of the index that are to
/// forget them, and what is to outlive them.
package struct Garbage: Sendable {
  /// Up to where a sender has read by sending, as an entry says that is about to go.
  struct Mark: Sendable {
    var room: Int64
    var user: String
    var seq: Int64
  }

  /// What is deleted in one transaction.
  package struct Slice: Sendable {
    let positions: ArraySlice<Int64>
    let marks: [Mark]
  }

  struct Row: Sendable {
    var room: Int64
    var firstSeq: Int64
    var lastSeq: Int64
    /// What stays of it.
    var rest: [Int64]
  }

  /// Rising, so that neighbours in the file are deleted together.
  package internal(set) var positions: [Int64] = []
  var rows: [Row] = []
  var marks: [Mark] = []

  /// So many are deleted in one transaction, between two batches: some two milliseconds. Fewer would
  /// not keep up with batches of 512 under full load.
  package static let sliceEntries = 1024

  /// What is handed to `SQLiteStore.delete`, one after the other: marks before any entry.
  package var slices: [Slice] {
    let marks = stride(from: 0, to: marks.count, by: Self.sliceEntries).map {
      Slice(
        positions: [], marks: Array(self.marks[$0..<min($0 + Self.sliceEntries, self.marks.count)]))
    }
    return marks
      + stride(from: 0, to: positions.count, by: Self.sliceEntries).map {
        Slice(
          positions: positions[$0..<min($0 + Self.sliceEntries, positions.count)], marks: [])
      }
  }
}
