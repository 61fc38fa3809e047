/// The open connection and its maintenance thread, while the file is intact.
final class Session {
  let store: Store
  private let maintenance: Maintenance
  /// The size of the log when the maintenance was last asked for a checkpoint.
  private var askedBytes = 0
  /// The number of entries that were inserted since the maintenance was last asked to index them.
  private var inserted = 0

  init(_ location: Location) throws(ArchiveError) {
    store = try Store(location)
    maintenance = try Maintenance(location)
    // Finishes deletions that an earlier run left unfinished.
    maintenance.ask(.sweep)
  }

  /// Requests the maintenance that a transaction has made necessary; call it after each commit.
  func look(after aftermath: Aftermath) {
    if aftermath.hasGarbage { maintenance.ask(.sweep) }
    inserted += aftermath.inserted
    if inserted >= Maintenance.indexedEntries {
      inserted = 0
      maintenance.ask(.index)
    }
    let bytes = store.walBytes
    // The log was restarted.
    if bytes < askedBytes { askedBytes = 0 }
    if aftermath.hasDeletions {
      maintenance.ask(.scrub)
    } else if bytes - askedBytes >= Maintenance.checkpointBytes {
      askedBytes = bytes
      maintenance.ask(.checkpoint)
    }
  }

  /// Builds the search index anew.
  func reindex() { maintenance.ask(.reindex) }

  func end() { maintenance.end() }
}
