internal import Synchronization

/// Keeps the write-ahead log short without holding up commits: a thread and a connection of its own
/// move pages to the database file.
///
/// Such a checkpoint never catches up with a writer that does not pause, and the log can begin anew
/// only when all of it has been moved. So where the log has grown long, the writer is told to move
/// what came while the last checkpoint ran itself, between two commits.
final class Checkpointer: Sendable {
  /// From how much unmoved log on a checkpoint pays.
  static let softLimitBytes = 4 << 20
  /// How long the log may become before the writer helps.
  static let hardLimitBytes = 64 << 20

  private let requests = WorkQueue<Void>()
  private let isBusy = Atomic(false)
  private let movedBytes = Atomic(0)

  /// Serves requests on the calling thread until `close`.
  func run(_ database: borrowing Database) {
    while requests.takeAll() != nil {
      // What fails now is tried again after a later commit, and shows there if it lasts.
      if let progress = try? database.checkpoint() {
        movedBytes.store(progress.checkpointedPages * Schema.pageBytes, ordering: .releasing)
      }
      isBusy.store(false, ordering: .releasing)
    }
  }

  func close() { requests.close() }

  /// To be called by the writer after each commit.
  /// - Returns: whether the writer has to make a checkpoint before it goes on.
  func commitEnded(walBytes: Int) -> Bool {
    guard !isBusy.load(ordering: .acquiring) else { return false }
    var moved = movedBytes.load(ordering: .acquiring)
    if moved > walBytes {
      // The log has begun anew.
      moved = 0
      movedBytes.store(0, ordering: .releasing)
    }
    if walBytes >= Self.hardLimitBytes { return true }
    if walBytes - moved >= Self.softLimitBytes {
      isBusy.store(true, ordering: .releasing)
      requests.append(())
    }
    return false
  }
}
