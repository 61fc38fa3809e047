internal import Wire

/// A buffered change that is not in the file yet. Each is small; all of them are written in one
/// transaction.
enum Change {
  case begin(room: String, Archive.Epochs, after: Int64)
  case truncate(room: String, Archive.Epochs, after: Int64)
  case setEpoch(room: String, Archive.Epochs)
  /// - epoch: The epoch of the entry's log, as known to this process; another process may have
  ///   begun the room anew meanwhile.
  case append(Entry, epoch: String?)
  /// - since: The shared part as this process last stored or read it.
  case save(Archive.Room, since: Archive.SharedState?)
  case forget(room: String)
  case names([String: String])
  case acknowledge(room: String, id: String)
}

/// The maintenance that written changes have made necessary.
struct Aftermath {
  /// The number of entries that were inserted, which are to be indexed some time.
  var inserted = 0
  /// There are entries that are no longer kept.
  var hasGarbage = false
  /// Texts were deleted; the write-ahead log still contains them.
  var hasDeletions = false
}
