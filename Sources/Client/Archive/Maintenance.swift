internal import Platform
internal import SQLite

/// A thread with a connection of its own for work that is slow or waits for the disk: it
/// checkpoints the write-ahead log and deletes entries that are no longer kept.
final class Maintenance: Sendable {
  enum Task: Sendable {
    /// Checkpoints the log.
    case checkpoint
    /// Checkpoints and truncates the log, because it contains texts that were deleted.
    case scrub
    /// Deletes entries that are no longer kept.
    case sweep
    case end
  }

  /// The growth of the log after which a checkpoint is requested.
  static let checkpointBytes = 1 << 20
  /// The size to which the log file is truncated when it restarts.
  static let logLimitBytes = 4 << 20
  /// The pause between two steps, in which the other thread can take the lock.
  private static let pauseMilliseconds: Int32 = 5

  private let tasks: Mailbox<Task>
  private let thread: WorkerThread

  init(_ location: Location) throws(ArchiveError) {
    do throws(SystemError) {
      let tasks = try Mailbox<Task>()
      self.tasks = tasks
      thread = try WorkerThread(name: "archive") { Self.run(location, tasks) }
    } catch {
      throw ArchiveError(
        .environment,
        "The history \(location.path) cannot be saved: \(error). Close other programs; until then "
          + "nothing is saved.")
    }
  }

  func ask(_ task: Task) { tasks.post(task) }

  /// Ends the thread after its current task.
  func end() {
    tasks.post(.end)
    thread.join()
  }

  private static func run(_ location: Location, _ tasks: Mailbox<Task>) {
    var connection: MaintenanceConnection?
    var work = Work()
    var posted: [Task] = []
    while true {
      _ = tasks.wait(timeoutMilliseconds: work.isEmpty ? -1 : pauseMilliseconds)
      tasks.drain(into: &posted)
      for task in posted {
        switch task {
        case .checkpoint: work.checkpoint = true
        case .scrub: work.scrub = true
        case .sweep: work.sweep = true
        case .end: return
        }
      }
      do throws(SQLiteError) {
        let open = if let connection { connection } else { try MaintenanceConnection(location) }
        connection = open
        try open.step(&work)
      } catch {
        // The other thread meets the same error and reports it; this one is asked again.
        if !error.isBusy { work = Work() }
      }
    }
  }

  /// The work that is still to be done.
  struct Work {
    var checkpoint = false
    var scrub = false
    var sweep = false

    var isEmpty: Bool { !checkpoint && !scrub && !sweep }
  }
}

/// The connection of the maintenance thread.
private final class MaintenanceConnection {
  /// The maximum number of entries deleted in one transaction; the other thread may have to wait
  /// for it.
  private static let sliceEntries: Int64 = 200
  private static let cacheKiB = 512
  /// The other thread waits during this time if this one holds a lock already.
  private static let busyTimeoutMilliseconds: Int32 = 20

  private let database: Database
  private var selectOrphan: Statement
  private var selectExtents: Statement
  private var deleteEntries: Statement

  init(_ location: Location) throws(SQLiteError) {
    let database = try Database(
      path: location.path, mode: .readWrite,
      busyTimeoutMilliseconds: Self.busyTimeoutMilliseconds)
    try Store.configure(database, cacheKiB: Self.cacheKiB)
    // A connection that has read nothing does not know that there is a log, and checkpoints
    // nothing.
    _ = try database.integer("SELECT count(*) FROM sqlite_schema")
    // Steps from one range to the next without reading the entries in them.
    selectOrphan = try Statement(
      """
      WITH RECURSIVE ranges (range) AS (
        SELECT min(range) FROM entries
        UNION ALL
        SELECT (SELECT min(range) FROM entries WHERE range > ranges.range)
        FROM ranges WHERE range IS NOT NULL)
      SELECT range FROM ranges WHERE range IS NOT NULL
        AND range NOT IN (SELECT range FROM rooms) LIMIT 1
      """, on: database)
    selectExtents = try Statement("SELECT range, first, latest FROM rooms", on: database)
    deleteEntries = try Statement(
      """
      DELETE FROM entries WHERE position IN (
        SELECT position FROM entries WHERE range = ?1 AND seq BETWEEN ?2 AND ?3 LIMIT ?4)
      """, on: database)
    self.database = database
  }

  /// Does one step of the work, and removes what is done from it.
  func step(_ work: inout Maintenance.Work) throws(SQLiteError) {
    if work.sweep {
      work.sweep = try sweep()
      // The emptied pages are in the log.
      if !work.sweep { work.checkpoint = true }
    }
    if work.checkpoint {
      _ = try database.checkpoint(.passive)
      work.checkpoint = false
    }
    if work.scrub {
      // Moves most of the log without a lock, so that the step that blocks writers is short.
      _ = try database.checkpoint(.passive)
      work.scrub = try database.checkpoint(.truncate).isHeldUp
    }
  }

  /// - Returns: Whether there may be more to delete.
  private func sweep() throws(SQLiteError) -> Bool {
    try database.transaction { () throws(SQLiteError) in
      if try deleteOrphans() { return true }
      return try deleteOutsiders()
    }
  }

  private func deleteOrphans() throws(SQLiteError) -> Bool {
    defer { selectOrphan.reset() }
    guard try selectOrphan.step() else { return false }
    return try delete(range: selectOrphan.integer(0), from: 0, through: .max)
  }

  private func deleteOutsiders() throws(SQLiteError) -> Bool {
    defer { selectExtents.reset() }
    while try selectExtents.step() {
      let (range, first) = (selectExtents.integer(0), selectExtents.integer(1))
      if try delete(range: range, from: 0, through: first - 1) { return true }
      if try delete(range: range, from: selectExtents.integer(2) + 1, through: .max) {
        return true
      }
    }
    return false
  }

  private func delete(
    range: Int64, from first: Int64, through last: Int64
  ) throws(SQLiteError) -> Bool {
    try deleteEntries.bind(1, range)
    try deleteEntries.bind(2, first)
    try deleteEntries.bind(3, last)
    try deleteEntries.bind(4, Self.sliceEntries)
    try deleteEntries.run()
    return database.changes > 0
  }
}
