internal import Platform
internal import SQLite

/// A thread with a connection of its own for work that is slow or waits for the disk: it
/// checkpoints the write-ahead log, deletes entries that are no longer kept, and indexes new ones.
final class Maintenance: Sendable {
  enum Task: Sendable {
    /// Checkpoints the log.
    case checkpoint
    /// Checkpoints and truncates the log, because it contains texts that were deleted.
    case scrub
    /// Deletes entries that are no longer kept.
    case sweep
    /// Indexes entries, if they are many.
    case index
    /// Builds the index anew, because it is damaged.
    case reindex
    case end
  }

  /// The growth of the log after which a checkpoint is requested.
  static let checkpointBytes = 1 << 20
  /// The number of new entries after which the index is asked to take them.
  static let indexedEntries = 512
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
        case .scrub:
          work.scrub = true
          work.index = true
        case .sweep:
          work.sweep = true
          work.index = true
        case .index: work.index = true
        case .reindex:
          work.reindex = true
          work.index = true
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
    var index = false
    var reindex = false

    var isEmpty: Bool { !checkpoint && !scrub && !sweep && !index && !reindex }
  }
}

/// The connection of the maintenance thread.
private final class MaintenanceConnection {
  /// The maximum number of entries deleted in one transaction; the other thread may have to wait
  /// for it.
  private static let sliceEntries: Int64 = 200
  private static let cacheKiB = 512
  /// The number of steps of the index after which the log is checkpointed.
  private static let checkpointedSteps = 32
  /// The other thread waits during this time if this one holds a lock already.
  private static let busyTimeoutMilliseconds: Int32 = 20

  private let database: Database
  private var selectOrphan: Statement
  private var selectExtents: Statement
  private var selectEntries: Statement
  private var deleteEntry: Statement
  /// Opened when it is needed first.
  private var index: SearchIndex?
  /// The number of steps since the index had nothing to do.
  private var indexSteps = 0
  /// The log has the entries of a room that was forgotten.
  private var hasDeletedRooms = false

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
    selectEntries = try Statement(
      """
      SELECT position, kind, body FROM entries
      WHERE range = ?1 AND seq BETWEEN ?2 AND ?3 LIMIT ?4
      """, on: database)
    deleteEntry = try Statement("DELETE FROM entries WHERE position = ?1", on: database)
    self.database = database
  }

  /// Does one step of the work, and removes what is done from it.
  func step(_ work: inout Maintenance.Work) throws(SQLiteError) {
    if work.sweep { try sweep(&work) }
    if work.index, !work.sweep || work.reindex { try index(&work) }
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

  private func sweep(_ work: inout Maintenance.Work) throws(SQLiteError) {
    do throws(SQLiteError) {
      work.sweep = try sweep()
    } catch {
      try rebuild(after: error, &work)
    }
    if work.sweep { return }
    // The emptied pages are in the log.
    work.checkpoint = true
    if hasDeletedRooms { work.scrub = true }
    hasDeletedRooms = false
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
    hasDeletedRooms = true
    return try delete(range: selectOrphan.integer(0), from: 0, through: .max, isUrgent: true)
  }

  private func deleteOutsiders() throws(SQLiteError) -> Bool {
    defer { selectExtents.reset() }
    while try selectExtents.step() {
      let (range, first) = (selectExtents.integer(0), selectExtents.integer(1))
      let latest = selectExtents.integer(2)
      if try delete(range: range, from: 0, through: first - 1, isUrgent: false) { return true }
      if try delete(range: range, from: latest + 1, through: .max, isUrgent: false) { return true }
    }
    return false
  }

  /// Deletes entries, and their terms from the index.
  /// - Returns: Whether there were any.
  private func delete(
    range: Int64, from first: Int64, through last: Int64, isUrgent: Bool
  ) throws(SQLiteError) -> Bool {
    try selectEntries.bind(1, range)
    try selectEntries.bind(2, first)
    try selectEntries.bind(3, last)
    try selectEntries.bind(4, Self.sliceEntries)
    var rows: [SearchIndex.Row] = []
    defer { selectEntries.reset() }
    while try selectEntries.step() { rows.append(SearchIndex.Row(selectEntries)) }
    selectEntries.reset()
    if rows.isEmpty { return false }
    try openIndex().remove(rows, isUrgent: isUrgent)
    for row in rows {
      try deleteEntry.bind(1, row.position)
      try deleteEntry.run()
    }
    try openIndex().lowerThrough()
    return true
  }

  // MARK: The index

  private func openIndex() throws(SQLiteError) -> SearchIndex {
    let index = if let index { index } else { try SearchIndex(on: database) }
    self.index = index
    return index
  }

  /// Does one step of the index's work.
  private func index(_ work: inout Maintenance.Work) throws(SQLiteError) {
    if work.reindex {
      // Its statements refer to the tables that are replaced.
      index = nil
      try database.transaction { () throws(SQLiteError) in try SearchIndex.clear(database) }
      work.reindex = false
    }
    do throws(SQLiteError) {
      let outcome = try database.transaction { () throws(SQLiteError) in
        try openIndex().step(on: database)
      }
      switch outcome {
      case .idle:
        work.index = false
        if indexSteps > 0 { work.checkpoint = true }
        indexSteps = 0
      case .more:
        indexSteps += 1
        // The log of a long history that is indexed for the first time.
        if indexSteps % Self.checkpointedSteps == 0 { work.checkpoint = true }
      case .clean:
        // The removed terms are in the log.
        work.scrub = true
      }
    } catch {
      try rebuild(after: error, &work)
    }
  }

  /// Asks for a new index if only the index is damaged, and the entries are not.
  private func rebuild(
    after error: SQLiteError, _ work: inout Maintenance.Work
  ) throws(SQLiteError) {
    guard error.isDamagedTable else { throw error }
    work.reindex = true
    work.index = true
  }
}
