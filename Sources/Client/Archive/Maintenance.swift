internal import Platform
internal import SQLite

/// What takes long or waits for the disk: a thread with a connection of its own that moves the
/// write-ahead log's content to the file, and deletes entries that are no longer kept.
final class Maintenance: Sendable {
  enum Task: Sendable {
    /// Move what has gathered.
    case checkpoint
    /// The same, and leave nothing of it in the log: it has texts that were deleted.
    case scrub
    /// Delete what is no longer kept.
    case sweep
    case end
  }

  /// So much log is moved at once.
  static let checkpointBytes = 1 << 20
  /// What the log's file is cut to when it begins anew.
  static let logLimitBytes = 4 << 20
  /// Between two steps, so that the other thread has its turn.
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
        "The history \(location.path) cannot be kept: \(error). Close other programs; until then "
          + "nothing is kept.")
    }
  }

  func ask(_ task: Task) { tasks.post(task) }

  /// Ends the thread when it has done what it is at.
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
        // What is wrong shows in the other thread, which says so; this one is asked again.
        if !error.isBusy { work = Work() }
      }
    }
  }

  /// What is to be done still.
  struct Work {
    var checkpoint = false
    var scrub = false
    var sweep = false

    var isEmpty: Bool { !checkpoint && !scrub && !sweep }
  }
}

/// The maintenance's own connection.
private final class MaintenanceConnection {
  /// So many entries are deleted in one transaction, for which the other thread may have to wait.
  private static let sliceEntries: Int64 = 200
  private static let cacheKiB = 512
  /// The other thread waits meanwhile, where this one holds a lock already.
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
    // One that has read nothing yet does not know that there is a log, and moves nothing.
    _ = try database.integer("SELECT count(*) FROM sqlite_schema")
    // From one range to the next, without a look at what is in them.
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

  /// Does some of it, and strikes out what is done.
  func step(_ work: inout Maintenance.Work) throws(SQLiteError) {
    if work.sweep {
      work.sweep = try sweep()
      // The pages that were emptied are in the log.
      if !work.sweep { work.checkpoint = true }
    }
    if work.checkpoint {
      _ = try database.checkpoint(.passive)
      work.checkpoint = false
    }
    if work.scrub {
      // Most of it without a lock, so that little is left for the step that holds up writers.
      _ = try database.checkpoint(.passive)
      work.scrub = try database.checkpoint(.truncate).isHeldUp
    }
  }

  /// - Returns: whether there may be more.
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
