internal import Mailbox
public import Relay
internal import Synchronization

/// A log that keeps everything in one SQLite file of a data directory.
///
/// One thread writes: it takes all that the loops have submitted as one batch, commits it in one
/// transaction, and publishes it, while the next batch gathers. One thread reads for those who
/// catch up. A third moves the write-ahead log's pages to the database file.
public final class SQLiteLog: Log {
  /// How the log behaves.
  public struct Options: Sendable {
    /// What an acknowledged entry survives.
    public var durability = Durability.fsync
    /// How many of a room's entries are kept; 0 = all.
    public var keepEntriesPerRoom: Int64 = 0
    /// A batch with entries waits for so long before it is processed, so that slow acks can be seen.
    public var commitDelayMilliseconds = 0
    /// Milliseconds since 1970.
    package var clock: @Sendable () -> Int64 = { WallClock.milliseconds }
    /// How many entries are settled at once; `nil` = as many as are best.
    package var segmentEntries: Int?

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
  private let store: Handover<SQLiteStore>
  private let reader: Handover<SQLiteReader>
  private let checkpointConnection: Handover<Database>
  private let settler: Handover<Settler>
  private let settlements = WorkQueue<Void>()
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
    self.store = Handover(store)
    reader = Handover(try SQLiteReader(shared))
    settler = Handover(try Settler(shared))
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
    let doors = (0..<loops).map { LoopDoor(loop: $0, publish: publish) }
    let writer = LogWriter(
      doors: doors, framing: framing, options: options, checkpointer: checkpointer,
      settlements: settlements, report: report)
    let keepEntriesPerRoom = options.keepEntriesPerRoom
    var started: [WorkerThread] = []
    do {
      started.append(
        try WorkerThread(name: "log-write") { [lineage, store, submissions] in
          guard let store = store.take() else { return }
          let sequencer = Sequencer(
            lineage: lineage, keepEntriesPerRoom: keepEntriesPerRoom, loops: loops)
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
              doors[loop].post(
                LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
            }
          }
        })
      started.append(
        try WorkerThread(name: "log-checkpoint") { [checkpointConnection, checkpointer] in
          guard let database = checkpointConnection.take() else { return }
          checkpointer.run(database)
        })
      started.append(
        try WorkerThread(name: "log-settle") { [settler, settlements, submissions, shared, report] in
          guard let settler = settler.take() else { return }
          SettlerLoop(store: shared, submissions: submissions, report: report)
            .run(settlements, settler)
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

  public func submit(_ requests: [LogRequest], from loop: Int) {
    submissions.append(.submit(loop: loop, requests))
  }

  public func read(_ request: ReadRequest, from loop: Int) {
    reads.append((loop, request))
  }

  /// See `Log`. Not to be called by `publish`, since it waits for the threads that call it.
  public func stop() {
    let threads = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    reads.close()
    checkpointer.close()
    settlements.close()
    for thread in threads.dropFirst() { thread.join() }
    // The writer last: the connection that closes last cleans up behind the write-ahead log, and
    // the reader's may not.
    submissions.close()
    threads.first?.join()
    // Closes what was never started.
    _ = checkpointConnection.take()
    _ = reader.take()
    _ = settler.take()
    _ = store.take()
  }

  /// Lets the store grow to so many pages and no further, as a full disk does; 0 = no limit.
  package func limitStore(pages: Int64) { submissions.append(.limit(pages: pages)) }
}
