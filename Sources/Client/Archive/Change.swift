internal import Wire

/// Something that the file does not have yet. Each is small; all that have gathered are written in one
/// transaction.
enum Change {
  case begin(room: String, epoch: String, after: Int64)
  case truncate(room: String, epoch: String, after: Int64)
  case setEpoch(room: String, epoch: String)
  /// - epoch: of the log that the entry is of, as far as this process knows: another one may have begun
  ///   anew meanwhile.
  case append(Entry, epoch: String?)
  case save(Archive.Room)
  case names([String: String])
  case acknowledge(room: String, id: String)
}

/// What writing them left for the maintenance.
struct Aftermath {
  /// There are entries that are no longer kept.
  var hasGarbage = false
  /// Texts were deleted: the write-ahead log still has them.
  var hasDeletions = false
}
