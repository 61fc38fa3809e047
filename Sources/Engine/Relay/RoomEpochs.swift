import Wire

/// The newest epochs of a room's entries: where each begins. It does not change as long as the log
/// is open: all new entries are of the current epoch.
struct RoomEpochs {
  /// The most lookups in the store for a room.
  static let lookupLimit = EpochStart.limit

  /// The newest first, which is the current one.
  private var starts: [(number: Int64, after: Int64)] = []

  /// Reads the epochs of a room.
  /// - Parameters:
  ///   - room: its number in the store; `nil` if it has no entries there.
  ///   - current: the number of the current epoch.
  init(
    ofRoom room: Int64?, current: Int64, from store: inout some EntryLookup
  ) throws(StoreFailure) {
    var number = current
    while starts.count < Self.lookupLimit {
      var last: (seq: Int64, epoch: Int64)?
      if let room { last = try store.lastEntry(ofRoom: room, throughEpoch: number - 1) }
      starts.append((number, last?.seq ?? 0))
      guard let last else { break }
      number = last.epoch
    }
  }

  /// Returns the epochs of the entries from `first` on, and the current one.
  func lineage(first: Int64, in log: Lineage) -> [EpochStart] {
    var lineage: [EpochStart] = []
    // The entries of an epoch end where the next one begins.
    var end = Int64.max
    for start in starts where end >= first {
      if let name = log.name(of: start.number) {
        lineage.append(EpochStart(epoch: name, after: max(start.after, first - 1)))
      }
      end = start.after
    }
    return lineage
  }
}
