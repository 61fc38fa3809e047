internal import CSQLite
internal import Gateway
internal import Hostile
internal import Relay
internal import SQLiteLog
internal import Wire

/// A log whose threads' work the simulation does step by step, each when its time has come.
protocol SimulatedLog: AnyObject {
  var epoch: String { get }
  /// What the log's writing thread does with what it has taken.
  func process(
    _ batches: [(loop: Int, requests: [LogRequest])], now: Int64
  ) -> Sequencer.Outcome
  /// What its reading thread does.
  func answer(_ request: ReadRequest) -> LogAnswer
  /// What the writing thread and the reading one have done.
  /// Edits of deleted texts that were overwritten so far.
  var redactedEdits: Int { get }
  var writing: WorkMeter { get }
  var reading: WorkMeter { get }
  /// What its other threads do, in steps: the seed chooses which is taken, and when.
  var backgroundSteps: [() -> Void] { get }
  /// The same for what the writing thread does between two batches.
  var writerSteps: [() -> Void] { get }
  /// The names of the epochs that it knows.
  var epochs: [String] { get }
  /// Everything that is stored of these rooms.
  func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog]
}

/// What a store has of one room.
struct StoredLog {
  var first: Int64
  var head: Int64
  var entries: [Entry] = []
}

extension EntryReader {
  /// Reads rooms from their first entry to their last.
  mutating func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog] {
    var contents: [String: StoredLog] = [:]
    for room in rooms {
      guard let bounds = try bounds(of: room) else { continue }
      var log = StoredLog(first: bounds.first, head: bounds.head)
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

/// The log that keeps nothing beyond its process.
final class SimulatedMemoryLog: SimulatedLog {
  let epoch: String
  private var sequencer: Sequencer
  private var store: CountingStore<MemoryStore>
  let writing = WorkMeter()
  let reading = WorkMeter()

  init(epoch: String, keepEntriesPerRoom: Int64, limits: EntryLimits, loops: Int) {
    self.epoch = epoch
    store = CountingStore(MemoryStore(), writing)
    sequencer = Sequencer(
      lineage: Lineage([.init(number: 1, name: epoch)]), keepEntriesPerRoom: keepEntriesPerRoom,
      limits: limits, loops: loops)
  }

  func process(
    _ batches: [(loop: Int, requests: [LogRequest])], now: Int64
  ) -> Sequencer.Outcome {
    sequencer.process(batches, store: &store, now: now, framing: .webSocket)
  }

  func answer(_ request: ReadRequest) -> LogAnswer {
    var reader = CountingReader(store.base, reading)
    return request.answer(from: &reader, .webSocket)
  }

  var redactedEdits: Int { 0 }
  var backgroundSteps: [() -> Void] { [] }
  var writerSteps: [() -> Void] { [] }
  var epochs: [String] { [epoch] }

  func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog] {
    try store.base.contents(of: rooms)
  }
}

/// The log that keeps everything in SQLite: the product's own store, reader and sequencer, without
/// the threads that `SQLiteLog` runs them on.
final class SimulatedSQLiteLog: SimulatedLog {
  static let directory = "/data"

  let epoch: String
  /// Why an index that was there could not be used.
  let discardedIndex: String?
  private var sequencer: Sequencer
  private var store: CountingStore<SQLiteStore>
  private let reader: SQLiteReader
  let writing = WorkMeter()
  let reading = WorkMeter()
  private let indexer: Indexer
  /// Of the store, which may not be looked at while it is at work.
  private let shared: OpenStore
  private let checkpoints: CheckpointConnection
  /// What the process does when a checkpoint's sync has failed.
  private let end: () -> Void
  private let tally: (Tally.Event, Int) -> Void
  /// What the indexer wants to be deleted, a slice at a time.
  private var deletions: [Garbage.Slice] = []
  private var garbage: Garbage?

  /// - Parameter segmentEntries: how many entries are indexed at once.
  init(
    fileSystem: String, durability: Durability, epoch: String, keepEntriesPerRoom: Int64,
    limits: EntryLimits, segmentEntries: Int, loops: Int, now: Int64,
    tally: @escaping (Tally.Event, Int) -> Void,
    end: @escaping () -> Void
  ) throws(StoreError) {
    let store = try SQLiteStore(
      directory: Self.directory, durability: durability, now: now,
      segmentEntries: segmentEntries, vfs: fileSystem, epochName: epoch,
      identityKey: EntryIdentity.Key(bytes: Array(1...16)))
    self.store = CountingStore(store, writing)
    reader = try SQLiteReader(store.shared)
    shared = store.shared
    indexer = try Indexer(shared)
    checkpoints = CheckpointConnection(path: store.path, fileSystem: fileSystem)
    self.epoch = epoch
    self.end = end
    self.tally = tally
    discardedIndex = store.discardedIndex
    sequencer = Sequencer(
      lineage: store.lineage, keepEntriesPerRoom: keepEntriesPerRoom, limits: limits, loops: loops)
  }

  func process(
    _ batches: [(loop: Int, requests: [LogRequest])], now: Int64
  ) -> Sequencer.Outcome {
    sequencer.process(batches, store: &store, now: now, framing: .webSocket)
  }

  func answer(_ request: ReadRequest) -> LogAnswer {
    reader.answer { reader in
      // What an attempt has read that has to be made again counts once.
      _ = reading.take()
      var counting = CountingReader(reader, reading)
      return request.answer(from: &counting, .webSocket)
    }
  }

  var redactedEdits: Int { store.base.redactedEdits }

  /// As the indexing thread does, in pieces, and the checkpointing one.
  var backgroundSteps: [() -> Void] {
    [
      { [checkpoints, end] in if !checkpoints.checkpoint() { end() } },
      { [indexer, tally] in if (try? indexer.indexNext()) == true { tally(.indexed, 1) } },
      { [indexer, end] in if (try? indexer.checkpoint()) == nil { end() } },
      { [indexer] in indexer.vacuum() },
      { [indexer] in _ = try? indexer.mergeStep() },
    ] + urgently(garbage != nil && deletions.isEmpty) { [unowned self] in sweep() }
  }

  /// A sweep goes on as soon as it can, so that its next step is likelier than others.
  private func urgently(_ isDue: Bool, _ step: @escaping () -> Void) -> [() -> Void] {
    Array(repeating: step, count: isDue ? 8 : 1)
  }

  /// What is no longer kept is looked up; and once it was deleted, forgotten.
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

  /// As the writer does between two batches: a checkpoint where its write-ahead log has grown long,
  /// and what the indexer asks it for.
  var writerSteps: [() -> Void] {
    [
      { [store = store.base, end] in if (try? store.checkpoint()) == nil { end() } },
      { [store = store.base] in store.vacuum() },
      { [store = store.base] in store.shared.seal() },
    ] + urgently(store.base.hasLeftovers) { [store = store.base] in try? store.tidy() }
      + urgently(!deletions.isEmpty) { [unowned self] in delete() }
  }

  private func delete() {
    guard let slice = deletions.first else { return }
    if (try? store.base.delete(slice)) == nil {
      // As the indexer does: it looks again.
      deletions = []
      garbage = nil
    } else {
      deletions.removeFirst()
    }
  }

  var epochs: [String] { store.base.lineage.epochs.map(\.name) }

  func contents(of rooms: [String]) throws(StoreFailure) -> [String: StoredLog] {
    var reader = reader
    return try reader.contents(of: rooms)
  }
}

/// The connection that the checkpointing thread has.
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
