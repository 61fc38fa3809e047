internal import CSQLite
internal import Gateway
internal import Relay
internal import SQLiteLog
internal import ShardWorld
internal import Wire

/// A log whose threads' work the simulation executes in steps, at times that the seed chooses.
protocol SimulatedLog: AnyObject {
  var epoch: String { get }
  /// Does the work of the writing thread for these batches.
  func process(
    _ batches: [(loop: Int, requests: [LogRequest])], now: Int64
  ) -> Sequencer.Outcome
  /// Does the work of the reading thread for a request.
  func answer(_ request: ReadRequest) -> LogAnswer
  /// The number of overwritten edits of deleted texts so far.
  var redactedEdits: Int { get }
  /// The work of the writing thread and of the reading one.
  var writing: WorkMeter { get }
  var reading: WorkMeter { get }
  /// The possible next steps of the other threads: the seed chooses which one is taken, and when.
  var backgroundSteps: [() -> Void] { get }
  /// The possible steps of the writing thread between two batches.
  var writerSteps: [() -> Void] { get }
  /// The blocks between users.
  var blocks: BlockTable { get }
  /// The names of the epochs that the log knows.
  var epochs: [String] { get }
  /// The current epoch, if the disk was too full to store it: a log that ends before its first commit
  /// leaves no trace of it.
  var unstoredEpoch: String? { get }
  /// Returns the stored content of these rooms.
  func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog]
  /// Returns what is stored of files.
  func files(_ question: KeptFiles.Question) throws(StoreFailure) -> KeptFiles
}

/// The stored content of one room.
struct StoredLog {
  var first: Int64
  var head: Int64
  var direct = DirectState()
  var entries: [Entry] = []
}

extension EntryReader {
  /// Reads the rooms completely.
  mutating func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog] {
    var contents: [String: StoredLog] = [:]
    for room in rooms {
      guard let bounds = try self.room(room) else { continue }
      var log = StoredLog(first: bounds.first, head: bounds.head, direct: bounds.direct)
      if bounds.first <= bounds.head {
        try forEachEntry(ofRoom: bounds.number, named: room, in: bounds.first...bounds.head) {
          log.entries.append($0)
          return true
        }
      }
      contents[room] = log
    }
    return contents
  }
}

/// What a store has of files.
struct KeptFiles {
  struct Question {
    var ids: Set<String>
    var users: [String]
    var hashes: [String]
  }

  var files: [String: StoredFile] = [:]
  /// Those that no entry has named.
  var unsent: [StoredFile] = []
  /// The size of each user's files.
  var bytes: [String: Int64] = [:]
  /// The hashes in question that a file has.
  var used: Set<String> = []
  /// All hashes whose bytes are to be removed.
  var unused: [String] = []
}

extension EntryReader {
  mutating func files(_ question: KeptFiles.Question) throws(StoreFailure) -> KeptFiles {
    var stored = KeptFiles()
    for id in question.ids.sorted() { stored.files[id] = try file(id) }
    for id in try unsentFiles(before: .max, limit: .max) {
      if let file = try file(id) { stored.unsent.append(file) }
    }
    for user in question.users { stored.bytes[user] = try fileBytes(of: user) }
    stored.used = Set(try usedBytes(among: question.hashes))
    stored.unused = try unusedBytes(limit: .max)
    return stored
  }
}

/// The log in memory, which is lost with its process.
final class SimulatedMemoryLog: SimulatedLog {
  let epoch: String
  private let log: SteppedLog<MemoryStore>
  var writing: WorkMeter { log.store.meter }
  var reading: WorkMeter { log.reading }

  init(epoch: String, keepEntriesPerRoom: Int64, limits: EntryLimits, loops: Int) {
    self.epoch = epoch
    log = SteppedLog(
      MemoryStore(), lineage: Lineage([.init(number: 1, name: epoch)]),
      keepEntriesPerRoom: keepEntriesPerRoom, limits: limits, loops: loops, framing: .webSocket)
  }

  func process(
    _ batches: [(loop: Int, requests: [LogRequest])], now: Int64
  ) -> Sequencer.Outcome {
    log.process(batches, now: now)
  }

  func answer(_ request: ReadRequest) -> LogAnswer { log.answer(request, from: log.store.base) }

  var redactedEdits: Int { 0 }
  var backgroundSteps: [() -> Void] { [] }
  var writerSteps: [() -> Void] { [] }
  var blocks: BlockTable { log.blocks }
  var epochs: [String] { [epoch] }
  var unstoredEpoch: String? { nil }

  func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog] {
    try log.store.base.contents(of: rooms)
  }

  func files(_ question: KeptFiles.Question) throws(StoreFailure) -> KeptFiles {
    try log.store.base.files(question)
  }
}

/// The log in SQLite: the product's own store, reader and sequencer, without the threads on which
/// `SQLiteLog` runs them.
final class SimulatedSQLiteLog: SimulatedLog {
  static let folder = "/data"

  let epoch: String
  /// The reason why an existing index could not be used.
  let discardedIndex: String?
  private let log: SteppedLog<SQLiteStore>
  private var store: SQLiteStore { log.store.base }
  private let reader: SQLiteReader
  var writing: WorkMeter { log.store.meter }
  var reading: WorkMeter { log.reading }
  private let indexer: Indexer
  /// The shared part of `store`, which must not be accessed while it is at work.
  private let shared: OpenStore
  private let checkpoints: CheckpointConnection
  /// Ends the process after a checkpoint whose sync has failed.
  private let end: () -> Void
  private let tally: (Tally.Event, Int) -> Void
  /// The slices that the indexer has requested to be deleted.
  private var deletions: [Garbage.Slice] = []
  private var garbage: Garbage?

  /// - Parameter segmentEntries: how many entries are indexed in one step.
  init(
    fileSystem: String, durability: Durability, epoch: String, keepEntriesPerRoom: Int64,
    limits: EntryLimits, segmentEntries: Int, loops: Int, now: Int64,
    tally: @escaping (Tally.Event, Int) -> Void,
    end: @escaping () -> Void
  ) throws(StoreError) {
    let store = try SQLiteStore(
      folder: Self.folder, durability: durability, now: now,
      segmentEntries: segmentEntries, vfs: fileSystem, epochName: epoch,
      identityKey: EntryIdentity.Key(bytes: Array(1...16)))
    log = SteppedLog(
      store, lineage: store.lineage, keepEntriesPerRoom: keepEntriesPerRoom, limits: limits,
      loops: loops, framing: .webSocket)
    reader = try SQLiteReader(store.shared, lineage: store.lineage)
    shared = store.shared
    indexer = try Indexer(shared)
    checkpoints = CheckpointConnection(path: store.path, fileSystem: fileSystem)
    self.epoch = epoch
    self.end = end
    self.tally = tally
    discardedIndex = store.discardedIndex
  }

  func process(
    _ batches: [(loop: Int, requests: [LogRequest])], now: Int64
  ) -> Sequencer.Outcome {
    log.process(batches, now: now)
  }

  func answer(_ request: ReadRequest) -> LogAnswer {
    reader.answer { reader in
      // Reads of an attempt that has to be repeated do not count.
      _ = reading.take()
      return log.answer(request, from: reader)
    }
  }

  var redactedEdits: Int { store.redactedEdits }

  /// The steps of the indexing thread and of the checkpointing one.
  var backgroundSteps: [() -> Void] {
    [
      { [checkpoints, end] in if !checkpoints.checkpoint() { end() } },
      { [indexer, tally] in if (try? indexer.indexNext()) == true { tally(.indexed, 1) } },
      { [indexer, end] in if (try? indexer.checkpoint()) == nil { end() } },
      { [indexer] in indexer.vacuum() },
      { [indexer] in _ = try? indexer.mergeStep() },
    ] + urgently(garbage != nil && deletions.isEmpty) { [unowned self] in sweep() }
  }

  /// Returns a step several times if it is due: a sweep continues as soon as it can, so its next
  /// step is more likely than others.
  private func urgently(_ isDue: Bool, _ step: @escaping () -> Void) -> [() -> Void] {
    Array(repeating: step, count: isDue ? 8 : 1)
  }

  /// Looks up the entries that are no longer kept or, once they have been deleted, removes them
  /// from the index.
  private func sweep() {
    if deletions.isEmpty, let garbage {
      self.garbage = nil
      let before = shared.indexSegments
      guard (try? indexer.forget(garbage)) != nil else { return }
      tally(.swept, 1)
      tally(.segmentForgotten, before - shared.indexSegments)
    } else if garbage == nil {
      garbage = try? indexer.garbage()
      deletions = garbage?.slices ?? []
    }
  }

  /// The steps of the writer between two batches: a checkpoint, and what the indexer requests.
  var writerSteps: [() -> Void] {
    [
      { [store, end] in if (try? store.checkpoint()) == nil { end() } },
      { [store] in store.vacuum() },
      { [store] in store.shared.seal() },
    ] + urgently(store.hasLeftovers) { [store] in try? store.tidy() }
      + urgently(!deletions.isEmpty) { [unowned self] in delete() }
  }

  private func delete() {
    guard let slice = deletions.first else { return }
    if (try? store.delete(slice)) == nil {
      // Starts again with a lookup, as the indexer does.
      deletions = []
      garbage = nil
    } else {
      deletions.removeFirst()
    }
  }

  var blocks: BlockTable { log.blocks }
  var epochs: [String] { store.lineage.epochs.map(\.name) }
  var unstoredEpoch: String? { store.hasUnstoredEpoch ? epoch : nil }

  func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog] {
    var reader = reader
    return try reader.contents(of: rooms)
  }

  func files(_ question: KeptFiles.Question) throws(StoreFailure) -> KeptFiles {
    var reader = reader
    return try reader.files(question)
  }
}

/// The connection of the checkpointing thread.
@safe private final class CheckpointConnection {
  private let handle: OpaquePointer?

  init(path: String, fileSystem: String) {
    var handle: OpaquePointer?
    let code = unsafe sqlite3_open_v2(
      path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, fileSystem)
    if code != SQLITE_OK {
      unsafe sqlite3_close_v2(handle)
      unsafe handle = nil
    }
    unsafe self.handle = handle
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  /// - Returns: whether nothing was left that this process cannot put right (see `UnsyncedCheckpoint`).
  func checkpoint() -> Bool {
    guard let handle = unsafe handle else { return true }
    let code = unsafe sqlite3_wal_checkpoint_v2(
      handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    if code == SQLITE_OK { return true }
    return unsafe sqlite3_extended_errcode(handle) != ResultCode.fsync
  }
}
