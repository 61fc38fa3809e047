package import Moderation
package import Relay
internal import SQLite
package import Wire

/// A store in a data folder: the journal, which is the only source of truth (rooms, entries in
/// commit order, members and the lineage of epochs), and the index derived from it.
///
/// Used by one thread at a time. Holds the data folder's lock until it is deinitialized.
package final class SQLiteStore: EntryStore {
  private let lock: FolderLock
  private let walSize: WalSize
  private var state: StoreState

  /// The number of successful commits.
  private(set) var commits = 0

  /// The epochs of this store; the last one is this process's.
  package let lineage: Lineage
  /// Shared with a reader and the indexer of this store.
  package let shared: OpenStore
  /// Why an existing index was discarded and rebuilt; `nil` if none was.
  package let discardedIndex: String?

  /// Where the log has to leave space; `nil` = anywhere.
  var space: DiskSpace?

  /// Opens the store in a folder, creates both if they are missing, and begins a new epoch.
  ///
  /// Reads back the unindexed entries. If there are many, for example because the index is missing,
  /// it indexes them first, which takes some seconds per million entries.
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - segmentEntries: how many entries are indexed at once.
  ///   - vfs: the name of the SQLite VFS; `nil` = the system's. Any other VFS is private to this
  ///     process: no folder is created or locked.
  ///   - epochName: the name of the new epoch; `nil` = a random one.
  ///   - identityKey: for a store without entries; `nil` = a random one.
  ///   - filterLimitBytes: the memory limit of the identity filters; `nil` = `Tail`'s.
  ///   - filters: what was read of the index before.
  ///   - report: receives messages for the operator.
  package init(
    folder path: String, durability: Durability = .fsync, now: Int64,
    segmentEntries: Int? = nil, vfs: String? = nil, epochName: String? = nil,
    identityKey: EntryIdentity.Key? = nil, filterLimitBytes: Int? = nil,
    filters: IndexFilters? = nil, report: (String) -> Void = { _ in }
  ) throws(StoreError) {
    let folder = DataFolder(path)
    if vfs == nil {
      try folder.create(report)
      lock = try folder.lock()
    } else {
      lock = .none
    }
    let database = try Schema.openForWriting(
      folder, durability: durability, vfs: vfs, identityKey: identityKey)
    let isHeldUp: Bool
    do throws(SQLiteError) {
      isHeldUp = try Self.eraseLog(of: database)
      walSize = try WalSize(database)
    } catch {
      throw StoreError(error, "open", path: folder.databasePath)
    }
    var generator = SystemRandomNumberGenerator()
    let epoch = epochName ?? Lineage.randomName(using: &generator)
    let shared = OpenStore(
      folder, vfs: vfs, epoch: epoch,
      tail: Tail(
        segmentEntries: segmentEntries ?? Tail.segmentEntries,
        filterLimitBytes: filterLimitBytes ?? Tail.filterLimitBytes))
    self.shared = shared
    func refusal(_ error: SQLiteError) -> StoreError {
      StoreError(error, "begin a new epoch in", path: folder.databasePath)
    }
    let begun: (number: Int64, unstored: StoreState.NewEpoch?)
    do throws(SQLiteError) {
      begun = try StoreState.begin(epoch, now: now, in: database)
    } catch {
      throw refusal(error)
    }
    discardedIndex = try IndexLoader(store: shared, filters: filters)
      .load(from: database, report: report)
    let index = try IndexReader.open(shared, .readWrite)
    do throws(SQLiteError) {
      state = try StoreState(
        database, epoch: begun.number, unstored: begun.unstored, tail: shared.tail, index: index)
      lineage = try state.lineage()
    } catch {
      throw refusal(error)
    }
    state.hasDeleted = isHeldUp
  }

  /// Erases the write-ahead log: one left by a killed process may contain content that was deleted.
  /// - Returns: whether it has to be done later, for example because another process is reading.
  private static func eraseLog(of database: borrowing Database) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      return try database.checkpoint(.truncate).isHeldUp
    } catch {
      if error.isFailedSync { throw error }
      return true
    }
  }

  /// Whether there was no space to store this process's epoch.
  package var hasUnstoredEpoch: Bool { state.unstoredEpoch != nil }

  /// The path of the journal's file.
  package var path: String { shared.folder.databasePath }

  package var identityKey: EntryIdentity.Key { state.identityKey }

  package func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    do { return try state.loadRoom(name) } catch { throw failure(toRead: .room, error) }
  }

  package func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    do {
      return try state.find(identity, room: room, named: name, sender: sender, id: id)
    } catch {
      throw failure(toRead: .entry, error)
    }
  }

  package func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    do {
      return try state.lastEntry(ofRoom: room, throughEpoch: number)
    } catch {
      throw failure(toRead: .room, error)
    }
  }

  package func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    do {
      return try state.entry(seq, ofRoom: number, named: room)
    } catch {
      throw failure(toRead: .entry, error)
    }
  }

  package func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    do {
      return try state.lastEdit(of: target, through: seq, inRoom: number, named: room)
    } catch {
      throw failure(toRead: .entry, error)
    }
  }

  package func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    do {
      return try state.editCount(of: target, inRoom: number, upTo: limit)
    } catch {
      throw failure("read", error)
    }
  }

  package func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    do {
      return try state.emoji(of: target, inRoom: number, by: user, upTo: limit)
    } catch {
      throw failure("read", error)
    }
  }

  package func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    do {
      return try state.changes(inRoom: number, through: seq, total: total)
    } catch {
      throw failure("read", error)
    }
  }

  package func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    do {
      return try state.contentRun(endingAt: seq, inRoom: number)
    } catch {
      throw failure("read", error)
    }
  }

  package func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    do {
      return try state.memberships(of: user, after: number, limit: limit)
    } catch {
      throw failure("read", error)
    }
  }

  package func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    do {
      return try state.membership(of: user, toRoom: name)
    } catch {
      throw failure(toRead: .room, error)
    }
  }

  package func membershipCount(of user: String) throws(StoreFailure) -> Int {
    do { return try state.membershipCount(of: user) } catch { throw failure("read", error) }
  }

  package func standing(
    of user: String, inRoom number: Int64
  ) throws(StoreFailure) -> Standing {
    do {
      return try state.standing(of: user, inRoom: number)
    } catch {
      throw failure(toRead: .room, error)
    }
  }

  package func blocks() throws(StoreFailure) -> BlockTable {
    do throws(SQLiteError) {
      return BlockTable(try BlockStatements.changes(in: state.database))
    } catch {
      throw failure("read", error)
    }
  }

  package func bans() throws(StoreFailure) -> [BanChange] {
    do throws(SQLiteError) { return try BlockStatements.bans(in: state.database) } catch {
      throw failure("read", error)
    }
  }

  /// Looks files up.
  func lookUp<Answer>(
    _ body: (inout FileLookups) throws(SQLiteError) -> Answer
  ) throws(StoreFailure) -> Answer {
    do throws(SQLiteError) { return try body(&state.statements.files.lookups) } catch {
      throw failure("read", error)
    }
  }

  package func copies(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [Int64] {
    do throws(SQLiteError) {
      return try state.statements.blocks.copies(ofRoom: number, in: seqs)
    } catch {
      throw failure("read", error)
    }
  }

  package func copies(before at: Int64, limit: Int) throws(StoreFailure) -> [Int64] {
    do throws(SQLiteError) {
      return try state.statements.blocks.copies(before: at, limit: limit)
    } catch {
      throw failure("read", error)
    }
  }

  package func members(ofRoom number: Int64, limit: Int) throws(StoreFailure) -> [String] {
    do {
      return try state.members(ofRoom: number, limit: limit)
    } catch {
      throw failure(toRead: .room, error)
    }
  }

  package func commit(_ changes: StoreChanges) throws(StoreFailure) {
    if changes.isEmpty { return }
    try space?.check()
    do { try state.commit(changes) } catch { throw failure("write", error) }
    commits += 1
  }

  /// Deletes entries that are no longer kept, in one transaction: a slice of the indexer's
  /// `Garbage`.
  package func delete(_ slice: Garbage.Slice) throws(StoreFailure) {
    do { try state.delete(slice) } catch { throw failure("write", error) }
  }

  /// Whether commits have left work for `tidy`.
  package var hasLeftovers: Bool { state.hasLeftovers }

  /// How many edits of deleted texts were overwritten so far.
  package var redactedEdits: Int { state.redactedEdits }

  /// Processes one slice of the deferred work (`Leftovers`), in one transaction.
  package func tidy() throws(StoreFailure) {
    do { try state.tidy() } catch { throw failure("write", error) }
  }

  /// Returns up to this many unused pages to the file system, if they are a large part of the file.
  /// - Returns: whether there was something to do.
  @discardableResult
  package func vacuum(pages: Int = 8) -> Bool {
    (try? state.database.vacuum(pages: pages)) ?? false
  }

  package func nextRoomNumber() throws(StoreFailure) -> Int64 { state.nextRoomNumber() }

  /// See `StoreState`.
  var sync: Range<Int64> { state.sync }
  var roomCount: Int { state.roomCount }
  /// The number of entries that were ever stored.
  var entryCount: Int { Int(state.position) }

  /// Whether a segment was sealed since the last call.
  var hasSealed: Bool {
    defer { state.hasSealed = false }
    return state.hasSealed
  }

  /// Whether an entry was deleted since the last call.
  var hasDeleted: Bool {
    defer { state.hasDeleted = false }
    return state.hasDeleted
  }

  /// Frees cached pages: they may contain content that is no longer in any file.
  func releaseMemory() { state.database.releaseMemory() }

  /// How many index segments were queried for identities.
  package var probes: Int { state.probes }

  /// The size of the write-ahead log after the last commit.
  var walBytes: Int { walSize.bytes }

  /// Moves as much of the write-ahead log to the database file as is possible now. A lasting
  /// failure shows in a later commit.
  package func checkpoint() throws(UnsyncedCheckpoint) { _ = try state.database.syncedCheckpoint() }

  /// Limits the file's size to a number of pages, as a full disk does; 0 = no limit.
  package func limit(pages: Int64) {
    _ = try? state.database.integer(
      "PRAGMA max_page_count = \(pages == 0 ? 0xFFFF_FFFE : pages)")
  }

  private func failure(_ action: String, _ error: SQLiteError) -> StoreFailure {
    if error.mayBeDamageOfIndex { shared.distrustIndex() }
    return StoreFailure("could not \(action) \(path): \(error)\(error.advice)")
  }

  private func failure(toRead part: StoreFailure.Damage, _ error: SQLiteError) -> StoreFailure {
    var failure = failure("read", error)
    if error.isDamagedTable || error.isDamagedJournal { failure.damage = part }
    return failure
  }
}
