internal import SQLite

/// What the connections of one open store share: where its files are, and the tail of the journal.
package final class OpenStore: Sendable {
  let directory: DataDirectory
  /// The name of the file system in SQLite's sense; `nil` = the system's.
  let vfs: String?
  /// The epoch that this opening began.
  let epoch: String
  let tail: Tail

  init(_ directory: DataDirectory, vfs: String?, epoch: String, tail: Tail) {
    self.directory = directory
    self.vfs = vfs
    self.epoch = epoch
    self.tail = tail
  }

  /// Removes an index that has turned out to be wrong. Those who have it open go on with what it has;
  /// the next start makes it anew.
  func distrustIndex() { try? Database.remove(path: directory.indexPath, vfs: vfs) }

  /// How many entries the index does not have yet.
  package var unindexed: Int { tail.count }

  /// In how many index segments the index has identities.
  package var indexSegments: Int { tail.indexSegments.count }

  /// How much memory is taken by what tells new identities from known ones.
  package var filterBytes: Int { tail.filterBytes }

  /// Makes what is unindexed ready for the indexer, however little it is.
  package func seal() { tail.seal() }
}
