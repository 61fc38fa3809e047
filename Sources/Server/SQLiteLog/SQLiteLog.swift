internal import Glibc
internal import Platform
public import Relay
internal import SQLite
internal import Synchronization

/// A log that stores everything in a data folder: entries in `relay.db`, and an index of their
/// positions in `index.db`.
///
/// The log has four threads. The writer takes all requests that the loops have submitted as one
/// batch, commits it in one transaction, and publishes it while the next batch accumulates. The
/// reader serves catch-up and history. The third moves pages from the write-ahead log to the
/// database file. The fourth maintains the index.
///
/// ## A journal without indexes, and a separate index
/// `relay.db`, the only source of truth, has no index on entries: a commit appends them in commit
/// order, several in a row (`EntryPack`), and `EntryTable` shows them as a table of entries
/// (docs/decisions/journal.md and packs.md have the reasons). The positions of the last few hundred thousand entries are in memory (`Tail`).
/// `Indexer` writes them to `index.db`, 256 k entries at a time and sorted, so that each page is
/// written once. The index holds journal positions, about nine bytes per entry, and no texts.
///
/// - **Reads** look in the tail first, then in the index in a transaction begun after that, so that
///   no entry is missed in between; the rows are then read at their positions.
/// - **Dedupe** asks the tail, then in-memory filters that answer "never seen" without I/O
///   (`IdentityFilter`, three bytes per entry, 64 MiB in total), and only then the index segments:
///   at most three for each power of four, since segments of similar size are merged
///   (`Indexer.mergeStep`). Every match is compared in full. Clients cannot construct colliding
///   ids: the hashes use a secret key.
/// - **Read marks** that follow from a member's own messages are not written with each send: the
///   index has each sender's last entry in a room. They are written before that entry is deleted.
/// - **Startup** reads back the unindexed entries. `index.db` is derived: if it is missing,
///   damaged, belongs to another store or is ahead of the journal, it is discarded and rebuilt.
/// - **Changes** of earlier entries are entries themselves. The table `changes` records their
///   targets and counts them, so that unread counts need no reading of entries. The current state
///   of an entry is stored (`edits`, `reactions`), so that folding history costs in proportion to
///   that state, not to the number of changes. A deletion redacts its target and the target's edits
///   in place, a large number of them in slices between batches (`Leftovers`), and SQLite
///   overwrites the old content (`secure_delete`); the write-ahead log keeps it until the log is
///   next rewound.
/// - **Retention** finds what is no longer kept beside the writer (`RetentionPass`), and moves a room's
///   `first` with a batch. The rows are deleted later, in slices between batches (`Garbage`), and free pages are truncated when they are a quarter of the file.
/// - **Failures**: if the journal cannot be written, batches are refused. If the index cannot be
///   written, nothing is refused, and the tail grows until it can. If the sync of a checkpoint
///   fails, of either file, the process ends, and the next one recovers (`UnsyncedCheckpoint`).
public final class SQLiteLog: Log {
  /// Options of the log.
  public struct Options: Sendable {
    /// Which failures an acknowledged entry survives.
    public var durability = Durability.fsync
    /// Which entries are kept.
    public var retention = Retention()
    /// How many bytes of the disk stay free: with less, nothing is written; 0 = none.
    public var minimumFreeBytes = 0
    /// How many rooms a user may belong to; 0 = no limit.
    public var roomsPerUser = 0
    /// How many edits and reactions one entry may have.
    public var limits = EntryLimits()
    /// How long a batch with entries waits before it is processed, to simulate slow acks.
    public var commitDelayMilliseconds = 0
    /// What was read of the index before the store could be opened; `nil` = nothing.
    public var filters: IndexFilters?
    /// Milliseconds since 1970.
    package var clock: @Sendable () -> Int64 = { WallClock.milliseconds }
    /// How many entries are indexed at once; `nil` = the default.
    package var segmentEntries: Int?
    /// The interval of the passes of retention; see `IndexerLoop`.
    package var tickMilliseconds = RetentionPass.intervalMilliseconds

    public init() {}
  }

  public let epoch: String
  public let blocks: BlockTable
  public let bans: [BanChange]

  private let path: String
  private let options: Options
  private let report: @Sendable (String) -> Void
  private let lineage: Lineage
  private let submissions = WorkQueue<LogWriter.Task>()
  private let reads = WorkQueue<(loop: Int, request: ReadRequest)>()
  private let checkpointer = Checkpointer()
  private let meter: LogMeter
  private let store: Handover<SQLiteStore>
  private let reader: Handover<SQLiteReader>
  private let checkpointConnection: Handover<Database>
  private let indexer: Handover<Indexer>
  private let retentionReader: Handover<RetentionReader>
  private let rules: RetentionRules
  private let indexWork = WorkQueue<IndexerLoop.Task>()
  private let shared: OpenStore
  private let space: DiskSpace
  /// The first one is the writer.
  private let threads = Mutex<[WorkerThread]>([])

  /// Opens the store in a folder, creates both if they are missing, and begins a new epoch.
  /// - Parameter report: called on any thread with messages for the operator: once when writing or
  ///   reading begins to fail, and once when it works again.
  /// - Throws: if the folder cannot be used, is in use, or contains data that this relay cannot
  ///   read.
  public init(
    folder path: String, options: Options = Options(),
    report: @escaping @Sendable (String) -> Void
  ) throws(StoreError) {
    let folder = DataFolder(path)
    let reserve = DiskReserve(folder)
    var isLent = false
    let store = try reserve.lend(&isLent) { () throws(StoreError) in
      try SQLiteStore(
        folder: path, durability: options.durability, now: options.clock(),
        segmentEntries: options.segmentEntries, filters: options.filters, report: report)
    }
    space = DiskSpace(path: path, minimumBytes: options.minimumFreeBytes)
    store.space = space
    let isFull = isLent || store.hasUnstoredEpoch
    if let reason = store.discardedIndex {
      report("The index \(folder.indexPath) was rebuilt from the store: \(reason).")
    }
    let shared = store.shared
    self.shared = shared
    self.path = folder.databasePath
    self.options = options
    self.report = report
    lineage = store.lineage
    epoch = store.lineage.current.name
    do throws(StoreFailure) { (blocks, bans) = (try store.blocks(), try store.bans()) } catch {
      throw StoreError(.environment, error.description)
    }
    meter = LogMeter(rooms: store.roomCount, entries: store.entryCount)
    self.store = Handover(store)
    reader = Handover(try SQLiteReader(shared, lineage: store.lineage))
    indexer = Handover(try Indexer(shared))
    retentionReader = Handover(try RetentionReader.open(shared))
    rules = RetentionRules(options.retention)
    do throws(SQLiteError) {
      checkpointConnection = Handover(try Checkpointer.connect(folder))
    } catch {
      throw StoreError(error, "open", path: folder.databasePath)
    }
    if !reserve.fill(isPartial: isFull) {
      report(
        "The disk of \(folder.databasePath) is full: less than \(DiskReserve.bytes >> 10) KiB are "
          + "free. The relay serves what is stored; what clients send is refused until there is space."
      )
    }
  }

  /// See `Log`. Must be called once.
  public func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (_ loop: Int, LogDelivery) -> Void
  ) throws(StoreFailure) {
    let publishers = (0..<loops).map { LoopPublisher(loop: $0, publish: publish) }
    let writer = LogWriter(
      publishers: publishers, framing: framing, options: options, checkpointer: checkpointer,
      indexWork: indexWork, meter: meter, report: report, end: end)
    let (retention, limits) = (options.retention, options.limits)
    let roomsPerUser = options.roomsPerUser
    let tickMilliseconds = options.tickMilliseconds
    var started: [WorkerThread] = []
    do {
      started.append(
        try WorkerThread(name: "log-write") { [lineage, blocks, store, submissions] in
          guard let store = store.take() else { return }
          let sequencer = Sequencer(
            lineage: lineage, retention: retention, roomsPerUser: roomsPerUser,
            limits: limits, blocks: blocks, loops: loops)
          writer.run(submissions, store: store, sequencer: sequencer)
        })
      started.append(
        try WorkerThread(name: "log-read") { [reader, reads, path, report] in
          guard let reader = reader.take() else { return }
          var outage = Outage(
            "Reading", path: path, meanwhile: "Clients are told to retry", report: report)
          while let batch = reads.takeAll() {
            for (loop, request) in batch {
              let answer = reader.answer(request, framing)
              outage.update(reader.failure)
              publishers[loop].post(
                LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
            }
          }
        })
      started.append(
        try WorkerThread(name: "log-checkpoint") { [checkpointConnection, checkpointer, end] in
          guard let database = checkpointConnection.take() else { return }
          checkpointer.run(database, end: end)
        })
      started.append(
        try WorkerThread(name: "log-index") {
          [
            indexer, retentionReader, indexWork, submissions, shared, options, rules, meter, report,
            end
          ]
          in
          guard let indexer = indexer.take(), let reader = retentionReader.take() else { return }
          IndexerLoop(
            store: shared, rules: rules, tickMilliseconds: tickMilliseconds, clock: options.clock,
            meter: meter, submissions: submissions, report: report, end: end
          ).run(indexWork, indexer, reader)
        })
    } catch {
      threads.withLock { $0 = started }
      throw StoreFailure("\(error)")
    }
    threads.withLock { threads in
      precondition(threads.isEmpty, "the log has already been started")
      threads = started
    }
  }

  private var end: @Sendable (UnsyncedCheckpoint) -> Never {
    { [report] error in
      report(error.description)
      _exit(ExitStatus.environment)
    }
  }

  public func submit(_ requests: [LogRequest], from loop: Int) {
    submissions.append(.submit(loop: loop, requests))
  }

  public func read(_ request: ReadRequest, from loop: Int) {
    reads.append((loop, request))
  }

  public func apply(_ retention: Retention) {
    rules.replace(by: retention)
    submissions.append(.retain(retention))
    indexWork.append(.index)
  }

  /// How long the thread that writes has worked on its current batch; 0 while it waits for one.
  public var writingNanoseconds: UInt64 { submissions.busyNanoseconds }

  /// See `Log`. Asks the file system for the sizes of the files.
  public func statistics() -> LogStatistics {
    var statistics = meter.statistics
    statistics.unindexedEntries = shared.unindexed
    statistics.files = shared.folder.files
    statistics.freeBytes = space.freeBytes
    return statistics
  }

  /// How long `prepareToStop` waits for the indexer.
  private static let preparationMilliseconds = 2000

  /// See `Log`. Indexes what is not indexed, which the next start would read back, and moves the
  /// write-ahead log, as the end would.
  public func prepareToStop() {
    let indexed = WorkQueue<Void>()
    shared.seal()
    indexWork.append(.finish(indexed))
    _ = indexed.takeAll(timeoutMilliseconds: Self.preparationMilliseconds)
    guard let database = try? Checkpointer.connect(shared.folder) else { return }
    do throws(UnsyncedCheckpoint) { _ = try database.syncedCheckpoint() } catch { end(error) }
  }

  /// See `Log`. Must not be called by `publish`, since it waits for the threads that call
  /// `publish`.
  public func stop() {
    let threads = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    reads.close()
    checkpointer.close()
    indexWork.close()
    for thread in threads.dropFirst() { thread.join() }
    // The writer ends last: the connection that closes last deletes the write-ahead log, and the
    // reader's connection may not do that.
    submissions.close()
    threads.first?.join()
    // Closes connections whose thread was never started.
    _ = checkpointConnection.take()
    _ = reader.take()
    _ = indexer.take()
    _ = retentionReader.take()
    _ = store.take()
    // Closing has freed some space.
    _ = DiskReserve(shared.folder).fill(isPartial: true)
  }

  /// Limits the store's size to a number of pages, as a full disk does; 0 = no limit.
  package func limitStore(pages: Int64) { submissions.append(.limit(pages: pages)) }
}
