internal import SQLite
internal import Synchronization

/// Keeps the write-ahead log short without holding up commits: a thread and a connection of its own
/// move pages to the database file.
///
/// Such a checkpoint never quite catches up with a writer that does not pause, and the log can begin
/// anew only when all of it has been moved. So where the log has grown long, checkpoints follow each
/// other, each with less to do, until so little is left that the writer may move it itself between
/// two commits.
final class Checkpointer: Sendable {
  /// From how much unmoved log on a checkpoint pays.
  static let softLimitBytes = 4 << 20
  /// How long the log is to become before it begins anew.
  static let hardLimitBytes = 56 << 20
  /// How much the writer moves at most: some hundred pages, in about a millisecond.
  static let writerLimitBytes = 1 << 20
  /// How much longer the log may become until so little is left; then the writer moves the rest all
  /// the same.
  static let patienceBytes = 8 << 20

  private let requests = WorkQueue<Void>()
  private let isBusy = Atomic(false)
  private let movedBytes = Atomic(0)
  /// The writer does not help before the log is this long: others read it just now, say.
  private let nextHelpBytes = Atomic(Checkpointer.hardLimitBytes)

  /// Opens a connection that can make checkpoints: one that has read nothing yet does not know that
  /// there is a write-ahead log, and moves nothing.
  static func connect(_ directory: DataDirectory) throws(SQLiteError) -> Database {
    let database = try Database(path: directory.databasePath, mode: .readWrite)
    _ = try database.integer("SELECT count(*) FROM sqlite_schema")
    return database
  }

  /// Serves requests on the calling thread until `close`.
  /// - Parameter end: ends the process.
  func run(
    _ database: borrowing Database, end: @Sendable (UnsyncedCheckpoint) -> Never
  ) {
    let pageBytes = (try? database.pageBytes) ?? Schema.pageBytes
    while requests.takeAll() != nil {
      // What fails now is tried again after a later commit, and shows there if it lasts.
      do throws(UnsyncedCheckpoint) {
        if let progress = try database.syncedCheckpoint(), progress.pages >= 0 {
          movedBytes.store(progress.checkpointedPages * pageBytes, ordering: .releasing)
        }
      } catch {
        end(error)
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
      nextHelpBytes.store(Self.hardLimitBytes, ordering: .relaxed)
    }
    let rest = walBytes - moved
    let isLong = walBytes >= nextHelpBytes.load(ordering: .relaxed)
    let isTooLong =
      walBytes >= nextHelpBytes.load(ordering: .relaxed) + Self.patienceBytes
    if isTooLong || isLong && rest <= Self.writerLimitBytes {
      nextHelpBytes.store(walBytes + Self.softLimitBytes, ordering: .relaxed)
      return true
    }
    if isLong || rest >= Self.softLimitBytes {
      isBusy.store(true, ordering: .releasing)
      requests.append(())
    }
    return false
  }
}
