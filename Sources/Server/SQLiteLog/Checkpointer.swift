internal import Platform
internal import SQLite
internal import Synchronization

/// Keeps the write-ahead log short without holding up commits: moves its pages to the database
/// file, on a separate thread and connection.
///
/// Such a checkpoint never quite catches up with a writer that does not pause, and the log can
/// restart only when all of it has been moved. So if the log has grown long, checkpoints follow
/// each other, each with less to do, until so little is left that the writer itself may move it
/// between two commits.
///
/// Deleted content stays in the log until the log restarts, and in the database file until a
/// checkpoint. So a deletion requests that the log be *erased*: moved, and its file truncated to
/// zero.
final class Checkpointer: Sendable {
  /// The size of the unmoved part from which a checkpoint is worthwhile.
  static let softLimitBytes = 4 << 20
  /// The size at which the log should restart.
  static let hardLimitBytes = 56 << 20
  /// How much the writer moves at most: some hundred pages, in about a millisecond.
  static let writerLimitBytes = 1 << 20
  /// How far the log may grow beyond that before the writer moves the rest in any case.
  static let patienceBytes = 8 << 20
  /// The log is erased at most once in this interval, however many deletions there are.
  static let erasureIntervalMilliseconds: Int64 = 1000
  /// How long erasing the log may hold up a commit to wait for readers.
  static let erasureWaitMilliseconds: Int32 = 5
  /// The delay after which an erasure is tried again if it was held up by a reader or the writer.
  static let erasureRetryMilliseconds = 20
  /// How many checkpoints precede an erasure, which holds up commits, at most: each leaves less for
  /// the next.
  private static let checkpointsBeforeErasure = 8

  private let requests = WorkQueue<Void>()
  private let isBusy = Atomic(false)
  private let movedBytes = Atomic(0)
  /// The log size below which the writer does not help, for example because a reader holds it up.
  private let nextHelpBytes = Atomic(Checkpointer.hardLimitBytes)
  private let wantedErasures = Atomic(0)
  private let erasureSteps = Atomic(0)

  /// Opens a connection that can make checkpoints: one that has not read anything does not know
  /// that there is a write-ahead log, and moves nothing.
  static func connect(_ folder: DataFolder) throws(SQLiteError) -> Database {
    let database = try Database(
      path: folder.databasePath, mode: .readWrite,
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
      // After a failure, it is tried again after a later commit; a lasting one shows there.
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
    // Before and after it: see `erasureStep`.
    erasureSteps.add(1, ordering: .acquiringAndReleasing)
    defer { erasureSteps.add(1, ordering: .acquiringAndReleasing) }
    guard let progress = try database.syncedCheckpoint(.truncate) else { return false }
    return !progress.isHeldUp
  }

  func close() { requests.close() }

  /// Requests an erasure. Called by the writer after a deletion is committed.
  func erase() {
    wantedErasures.add(1, ordering: .releasing)
    requests.append(())
  }

  /// Changes whenever the log is erased. The writer must then drop its cached pages: it could write
  /// deleted content again, since SQLite leaves it in the gaps between cells.
  var erasureStep: Int { erasureSteps.load(ordering: .acquiring) }

  /// Starts a checkpoint if one is due. Called by the writer after each commit.
  /// - Returns: whether the writer has to make a checkpoint before it continues.
  func commitEnded(walBytes: Int) -> Bool {
    guard !isBusy.load(ordering: .acquiring) else { return false }
    var moved = movedBytes.load(ordering: .acquiring)
    if moved > walBytes {
      // The log has restarted.
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
