internal import SQLite

/// The filters of an index that another process has open, read before this process may open the store: most
/// of what a start reads. What the other one indexes meanwhile is read at the start.
public struct IndexFilters: Sendable {
  private var filtered: [Tail.FilteredSegment] = []

  /// The number of index segments.
  package var count: Int { filtered.count }

  /// Reads the index of the store in a folder. What cannot be read is left to the start, which reports it.
  public init(readingAhead path: String) {
    let folder = DataFolder(path)
    let tail = Tail()
    guard folder.hasIndex,
      let index = try? Database(path: folder.indexPath, mode: .readOnly),
      let segments = try? IndexSchema.indexSegments(of: index).map(\.indexSegment)
    else { return }
    // Youngest first, as in `IndexLoader`.
    for segment in segments.reversed() {
      guard var filter = tail.newFilter(entries: segment.entries, before: segment.base),
        (try? filter.fill(with: segment, of: index)) != nil
      else { return }
      tail.add(Tail.FilteredSegment(indexSegment: segment, filter: filter))
      filtered.append(Tail.FilteredSegment(indexSegment: segment, filter: filter))
    }
  }

  /// Returns the filter of an index segment; `nil` if it was not read. A segment with the same number,
  /// positions and count has the same entries: all of the journal between these positions that are kept.
  subscript(segment: Tail.IndexSegment) -> IdentityFilter? {
    filtered.first { $0.indexSegment == segment }?.filter
  }
}

extension IdentityFilter {
  /// Inserts the identities of an index segment.
  mutating func fill(
    with segment: Tail.IndexSegment, of index: borrowing Database
  ) throws(SQLiteError) {
    var select = try Statement(
      "SELECT place, postings FROM identities WHERE place >= ?1 AND place < ?2", on: index)
    try select.bind(1, segment.places.lowerBound)
    try select.bind(2, segment.places.upperBound)
    while try select.step() {
      let bucket = select.integer(0) - segment.places.lowerBound
      select.forEachWord(1) { insert(Key(hash: segment.hash(of: $0, bucket: bucket))) }
    }
  }
}
