internal import SQLite

/// The state that the connections of one open store share: its folder, and the tail of the
/// journal.
package final class OpenStore: Sendable {
  let folder: DataFolder
  /// The name of the SQLite VFS; `nil` = the system's.
  let vfs: String?
  /// The epoch that this process began.
  let epoch: String
  let tail: Tail

  init(_ folder: DataFolder, vfs: String?, epoch: String, tail: Tail) {
    self.folder = folder
    self.vfs = vfs
    self.epoch = epoch
    self.tail = tail
  }

  /// Removes an index that has turned out to be wrong. Connections that have it open continue to
  /// use it; the next start rebuilds it.
  func distrustIndex() { try? Database.remove(path: folder.indexPath, vfs: vfs) }

  /// The number of unindexed entries.
  package var unindexed: Int { tail.count }

  /// The number of index segments.
  package var indexSegments: Int { tail.indexSegments.count }

  /// The memory that the identity filters take.
  package var filterBytes: Int { tail.filterBytes }

  /// Seals the open segment, however short, for the indexer.
  package func seal() { tail.seal() }
}
