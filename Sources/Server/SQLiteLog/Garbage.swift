/// Entries that are no longer kept: their positions in the journal, and the index rows that refer
/// to them.
package struct Garbage: Sendable {
  /// A sender's last entry in a room, which is about to be deleted.
  struct Sender: Sendable {
    var room: Int64
    var user: String
    var seq: Int64
  }

  /// A part that the writer is asked to delete.
  package struct Slice: Sendable {
    private(set) var positions: ArraySlice<Int64>

    init(positions: ArraySlice<Int64>) { self.positions = positions }

    var isEmpty: Bool { positions.isEmpty }

    /// Removes the first entries.
    /// - Returns: these.
    mutating func take(atMost count: Int) -> Slice {
      let taken = positions.prefix(count)
      positions = positions.dropFirst(count)
      return Slice(positions: taken)
    }
  }

  struct Row: Sendable {
    var room: Int64
    var firstSeq: Int64
    var lastSeq: Int64
    /// The positions that remain in the row.
    var rest: [Int64]
  }

  /// In ascending order, so that neighbours in the file are deleted together.
  package internal(set) var positions: [Int64] = []
  var rows: [Row] = []
  var senders: [Sender] = []

  package static let sliceEntries = 1024

  /// The slices to pass to `SQLiteStore.delete`, in this order.
  package var slices: [Slice] {
    stride(from: 0, to: positions.count, by: Self.sliceEntries).map {
      Slice(positions: positions[$0..<min($0 + Self.sliceEntries, positions.count)])
    }
  }
}
