internal import SQLite
internal import Synchronization

/// Keeps the write-ahead log short without holding up commits: a thread and a connection of its own
/// move pages to the database file.
///
/// Such a checkpoint never quite catches up with a writer that does not pause, and the log can begin
/// anew only when all of it has been moved. So where the log has grown long, checkpoints follow each
/// other, each with less to do, until so little is left that the writer may move it itself between
/// two commits.
///
/// What was deleted is in the log for as long as that has not begun anew, and in the database file until
/// a checkpoint. So a deletion asks for the log to be *erased*: moved, and its file cut to nothing.
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
  /// The log is erased at most once in so long, however many deletions there are.
  static let erasureIntervalMilliseconds: Int64 = 1000
  /// How long a commit is held up at most by waiting for readers when the log is erased.
  static let erasureWaitMilliseconds: Int32 = 5
  /// After how long it is tried again where somebody read or wrote meanwhile.
  static let erasureRetryMilliseconds = 20
  /// So many checkpoints are made before an erasure, which holds up commits, at most: each leaves less
  /// for the next.
  private static let checkpointsBeforeErasure = 8

  private let requests = WorkQueue<Void>()
  private let isBusy = Atomic(false)
  private let movedBytes = Atomic(0)
  /// The writer does not help before the log is this long: others read it just now, say.
  private let nextHelpBytes = Atomic(Checkpointer.hardLimitBytes)
  private let wantedErasures = Atomic(0)
  private let erasureSteps = Atomic(0)

  /// Opens a connection that can make checkpoints: one that has read nothing yet does not know that
  /// there is a write-ahead log, and moves nothing.
  static func connect(_ directory: DataDirectory) throws(SQLiteError) -> Database {
    let database = try Database(
      path: directory.databasePath, mode: .readWrite, vfs: ErasingFileSystem.name,
      busyTimeoutMilliseconds: erasureWaitMilliseconds)
    _ = try database.integer("SELECT count(*) FROM sqlite_schema")
    return database
  }

  /// Serves requests on the calling thread until `close`.
  /// - Parameter end: ends the process.
  func run(
    _ database: borrowing Database, end: @Sendable (UnsyncedCheckpoint) -> Never
  ) {
    let pageBytes = (try? database.pageBytes) ?? Schema.pageBytes
    var erasures = 0
    var erased = MonotonicClock.nanoseconds / 1_000_000 - Self.erasureIntervalMilliseconds
    var wait: Int?
    while requests.takeAll(timeoutMilliseconds: wait) != nil {
      // What fails now is tried again after a later commit, and shows there if it lastEntries.
      do throws(UnsyncedCheckpoint) {
        if isBusy.load(ordering: .acquiring) {
          try checkpoint(database, pageBytes)
          isBusy.store(false, ordering: .releasing)
        }
        wait = nil
        let wanted = wantedErasures.load(ordering: .acquiring)
        guard wanted != erasures else { continue }
        let now = MonotonicClock.nanoseconds / 1_000_000
        let rest = erased + Self.erasureIntervalMilliseconds - now
        if rest > 0 {
          wait = Int(rest)
        } else if try erase(database, pageBytes) {
          erasures = wanted
          erased = now
        } else {
          wait = Self.erasureRetryMilliseconds
        }
      } catch {
        end(error)
      }
    }
  }

  @discardableResult
  private func checkpoint(
    _ database: borrowing Database, _ pageBytes: Int
  ) throws(UnsyncedCheckpoint) -> Database.CheckpointProgress? {
    guard let progress = try database.syncedCheckpoint(), progress.pages >= 0 else { return nil }
    movedBytes.store(progress.checkpointedPages * pageBytes, ordering: .releasing)
    return progress
  }

  /// - Returns: whether nothing is left of the log.
  private func erase(
    _ database: borrowing Database, _ pageBytes: Int
  ) throws(UnsyncedCheckpoint) -> Bool {
    for _ in 0..<Self.checkpointsBeforeErasure {
      guard let progress = try checkpoint(database, pageBytes) else { return false }
      let rest = (progress.pages - progress.checkpointedPages) * pageBytes
      if rest <= Self.writerLimitBytes { break }
    }
    // Before and behind it: see `erasureStep`.
    erasureSteps.add(1, ordering: .acquiringAndReleasing)
    defer { erasureSteps.add(1, ordering: .acquiringAndReleasing) }
    guard let progress = try database.syncedCheckpoint(.truncate) else { return false }
    return !progress.isHeldUp
  }

  func close() { requests.close() }

  /// To be called by the writer once a deletion is committed.
  func erase() {
    wantedErasures.add(1, ordering: .releasing)
    requests.append(())
  }

  /// Another one where the log was erased since: a writer that goes on with pages of before could
  /// write what was deleted once more, since SQLite leaves it in the gaps between cells.
  var erasureStep: Int { erasureSteps.load(ordering: .acquiring) }

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
