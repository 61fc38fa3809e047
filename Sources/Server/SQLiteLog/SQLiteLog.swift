internal import Glibc
internal import Platform
public import Relay
internal import SQLite
internal import Synchronization

/// A log that keeps everything in a data directory: entries in `relay.db`, and in `index.db` where
/// they are.
///
/// One thread writes: it takes all that the loops have submitted as one batch, commits it in one
/// transaction, and publishes it, while the next batch gathers. One thread reads for those who
/// catch up. A third moves the write-ahead log's pages to the database file, and a fourth indexes.
///
/// ## A journal, and an index that is indexed behind it
/// Every index of the entries table would cost a commit a page for nearly every entry, since rooms
/// and ids come at random: measured, 65 k entries a second, and 16 k once half a million are stored.
/// So `relay.db`, the one truth, has none: a commit appends rows in the order of commits. Where the
/// last some hundred thousand entries are is in memory (`Tail`), and `Indexer` writes that to
/// `index.db`, 256 k entries at once and sorted, so that each page is written once. What it writes is
/// positions of the journal, about nine bytes for an entry; texts are not copied. A table clustered
/// by room beside a journal was weighed: it writes every text twice more.
///
/// - **Reading** looks in the tail first and in the index afterwards, in a transaction begun
///   afterwards, so that nothing falls between; the rows are then read at their positions.
/// - **Dedupe** asks the tail, then filters in memory that say "never seen" without I/O
///   (`IdentityFilter`, three bytes for an entry, 64 MiB in all), and only then the index, in its index segments:
///   at most three for each power of four, since index segments of a size are merged (`Indexer.mergeStep`). What
///   is found is compared in full. Nobody can choose ids that seem the same: hashes have a secret key.
/// - **Marks** that follow from what a member sent are not written with each send: the index has each
///   sender's last entry in a room. They are written before that entry is deleted.
/// - **A start** reads back what is not indexed. `index.db` is derived: where it is missing, damaged,
///   of another store or ahead of the journal, it is thrown away and made anew.
/// - **Changes** of earlier entries are entries themselves; the table `changes` says which are about
///   which, and counts them, so that what is unread is known without reading it. What has become of an
///   entry is kept as it stands (`edits`, `reactions`), so that folding history costs what there is, not
///   what has happened. A deletion redactions its target and the edits of it in place, very many of them in
///   slices between two batches (`Leftovers`), and SQLite overwrites what was there (`secure_delete`);
///   the write-ahead log has it until it is next rewound.
/// - **Retention** moves a room's `first` with the batch. The rows go later, in slices between two
///   batches (`Garbage`), and free pages are cut off the file when they are a quarter of it.
/// - **Trouble**: where the journal cannot be written, batches are refused. Where the index cannot,
///   nothing is refused; the tail grows until it can. Where a checkpoint's sync fails, of either file,
///   the process ends, and the next one puts it right (`UnsyncedCheckpoint`).
public final class SQLiteLog: Log {
  /// How the log behaves.
  public struct Options: Sendable {
    /// What an acknowledged entry survives.
    public var durability = Durability.fsync
    /// How many of a room's entries are kept; 0 = all.
    public var keepEntriesPerRoom: Int64 = 0
    /// How many rooms a user may belong to; 0 = no limit.
    public var roomsPerUser = 0
    /// How many entries may be about one other.
    public var limits = EntryLimits()
    /// A batch with entries waits for so long before it is processed, so that slow acks can be seen.
    public var commitDelayMilliseconds = 0
    /// Milliseconds since 1970.
    package var clock: @Sendable () -> Int64 = { WallClock.milliseconds }
    /// How many entries are indexed at once; `nil` = as many as are best.
    package var segmentEntries: Int?
    /// After how long what is no longer kept is seen to; see `IndexerLoop`.
    package var tickMilliseconds = IndexerLoop.tickMilliseconds

    public init() {}
  }

  public let epoch: String

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
  private let indexWork = WorkQueue<Void>()
  private let shared: OpenStore
  /// The writer is the first.
  private let threads = Mutex<[WorkerThread]>([])

  /// Opens the store in a directory, makes both where they are missing, and begins a new epoch.
  /// - Parameter report: is told, on any thread, what the operator should know: that writing or
  ///   reading begins to fail, once per outage, and that it works again.
  /// - Throws: if the directory cannot be used, is in use, or holds what this relay cannot read.
  public init(
    directory path: String, options: Options = Options(),
    report: @escaping @Sendable (String) -> Void
  ) throws(StoreError) {
    let directory = DataDirectory(path)
    let store = try SQLiteStore(
      directory: path, durability: options.durability, now: options.clock(),
      segmentEntries: options.segmentEntries)
    if let reason = store.discardedIndex {
      report("The index \(directory.indexPath) was made anew from the store: \(reason).")
    }
    let shared = store.shared
    self.shared = shared
    self.path = directory.databasePath
    self.options = options
    self.report = report
    lineage = store.lineage
    epoch = store.lineage.current.name
    meter = LogMeter(rooms: store.roomCount)
    self.store = Handover(store)
    reader = Handover(try SQLiteReader(shared))
    indexer = Handover(try Indexer(shared))
    do throws(SQLiteError) {
      checkpointConnection = Handover(try Checkpointer.connect(directory))
    } catch {
      throw StoreError(error, "open", path: directory.databasePath)
    }
  }

  /// See `Log`. To be called once.
  public func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (_ loop: Int, LogDelivery) -> Void
  ) throws(StoreFailure) {
    let publishers = (0..<loops).map { LoopPublisher(loop: $0, publish: publish) }
    let writer = LogWriter(
      publishers: publishers, framing: framing, options: options, checkpointer: checkpointer,
      indexWork: indexWork, meter: meter, report: report, end: end)
    let (keepEntriesPerRoom, limits) = (options.keepEntriesPerRoom, options.limits)
    let roomsPerUser = options.roomsPerUser
    let tickMilliseconds = options.tickMilliseconds
    var started: [WorkerThread] = []
    do {
      started.append(
        try WorkerThread(name: "log-write") { [lineage, store, submissions] in
          guard let store = store.take() else { return }
          let sequencer = Sequencer(
            lineage: lineage, keepEntriesPerRoom: keepEntriesPerRoom, roomsPerUser: roomsPerUser,
            limits: limits, loops: loops)
          writer.run(submissions, store: store, sequencer: sequencer)
        })
      started.append(
        try WorkerThread(name: "log-read") { [reader, reads, path, report] in
          guard let reader = reader.take() else { return }
          var outage = Outage(
            "Reading", path: path, meanwhile: "Clients are told to try again", report: report)
          while let batch = reads.takeAll() {
            for (loop, request) in batch {
              let answer = reader.answer(request, framing)
              outage.note(reader.failure)
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
          [indexer, indexWork, submissions, shared, report, end] in
          guard let indexer = indexer.take() else { return }
          IndexerLoop(
            store: shared, keepEntriesPerRoom: keepEntriesPerRoom,
            tickMilliseconds: tickMilliseconds, submissions: submissions, report: report, end: end
          ).run(indexWork, indexer)
        })
    } catch {
      threads.withLock { $0 = started }
      throw StoreFailure("\(error)")
    }
    threads.withLock { threads in
      precondition(threads.isEmpty, "a log is started once")
      threads = started
    }
  }

  private var end: @Sendable (UnsyncedCheckpoint) -> Never {
    { [report] error in
      report(error.description)
      _exit(EXIT_FAILURE)
    }
  }

  public func submit(_ requests: [LogRequest], from loop: Int) {
    submissions.append(.submit(loop: loop, requests))
  }

  public func read(_ request: ReadRequest, from loop: Int) {
    reads.append((loop, request))
  }

  /// See `Log`. Asks the file system how large the files are.
  public func statistics() -> LogStatistics {
    var statistics = meter.statistics
    statistics.unindexedEntries = shared.unindexed
    statistics.files = shared.directory.files
    return statistics
  }

  /// See `Log`. Not to be called by `publish`, since it waits for the threads that call it.
  public func stop() {
    let threads = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    reads.close()
    checkpointer.close()
    indexWork.close()
    for thread in threads.dropFirst() { thread.join() }
    // The writer last: the connection that closes last cleans up behind the write-ahead log, and
    // the reader's may not.
    submissions.close()
    threads.first?.join()
    // Closes what was never started.
    _ = checkpointConnection.take()
    _ = reader.take()
    _ = indexer.take()
    _ = store.take()
  }

  /// Lets the store grow to so many pages and no further, as a full disk does; 0 = no limit.
  package func limitStore(pages: Int64) { submissions.append(.limit(pages: pages)) }
}
