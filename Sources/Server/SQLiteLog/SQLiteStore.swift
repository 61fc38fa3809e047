package import Relay
internal import SQLite
package import Wire

/// A store in a data directory: the journal, which is the one truth (rooms, entries in commit order,
/// members and the lineage of epochs), and the index that is made from it.
///
/// Used by one thread at a time. Holds the data directory's lock for as long as it lives.
package final class SQLiteStore: EntryStore {
  private let lock: DirectoryLock
  private let walSize: WalSize
  private var state: StoreState

  /// How many commits have succeeded.
  private(set) var commits = 0

  /// The epochs of this store; the last is this run's.
  package let lineage: Lineage
  /// For a reader and the indexer of this store.
  package let shared: OpenStore
  /// Why an index that was there could not be used, and was made anew.
  package let discardedIndex: String?

  /// Opens the store in a directory, makes both where they are missing, and begins a new epoch.
  ///
  /// Reads back what is not indexed yet. If that is much, since the index is missing, say, it is
  /// indexed first, which takes some seconds for each million of entries.
  /// - Parameters:
  ///   - now: milliseconds since 1970.
  ///   - segmentEntries: how many entries are indexed at once.
  ///   - vfs: the name of the file system in SQLite's sense; `nil` = the system's. Another one is this
  ///     process's own: there is no directory to be made or locked.
  ///   - epochName: of the new epoch; `nil` takes one at random.
  ///   - identityKey: for a store without entries; `nil` takes one at random.
  ///   - filterLimitBytes: how much memory may tell new identities from known ones; `nil` = `Tail`'s.
  package init(
    directory path: String, durability: Durability = .fsync, now: Int64,
    segmentEntries: Int? = nil, vfs: String? = nil, epochName: String? = nil,
    identityKey: EntryIdentity.Key? = nil, filterLimitBytes: Int? = nil
  ) throws(StoreError) {
    let directory = DataDirectory(path)
    if vfs == nil {
      try directory.create()
      lock = try directory.lock()
    } else {
      lock = .none
    }
    let database = try Schema.openForWriting(
      directory, durability: durability, vfs: vfs, identityKey: identityKey)
    let isHeldUp: Bool
    do throws(SQLiteError) {
      isHeldUp = try Self.eraseLog(of: database)
      walSize = try WalSize(database)
    } catch {
      throw StoreError(error, "open", path: directory.databasePath)
    }
    var generator = SystemRandomNumberGenerator()
    let epoch = epochName ?? Lineage.randomName(using: &generator)
    let shared = OpenStore(
      directory, vfs: vfs, epoch: epoch,
      tail: Tail(
        segmentEntries: segmentEntries ?? Tail.segmentEntries,
        filterLimitBytes: filterLimitBytes ?? Tail.filterLimitBytes))
    self.shared = shared
    func refusal(_ error: SQLiteError) -> StoreError {
      StoreError(error, "begin a new epoch in", path: directory.databasePath)
    }
    let number: Int64
    do throws(SQLiteError) {
      number = try StoreState.addEpoch(
        epoch, position: StoreState.lastPosition(in: database), now: now, to: database)
    } catch {
      throw refusal(error)
    }
    discardedIndex = try IndexLoader(store: shared).load(from: database)
    let index = try IndexReader.open(shared, .readWrite)
    do throws(SQLiteError) {
      try StoreState.endVisits(in: database)
      state = try StoreState(database, epoch: number, tail: shared.tail, index: index)
      lineage = try state.lineage()
    } catch {
      throw refusal(error)
    }
    state.hasDeleted = isHeldUp
  }

  /// Erases the write-ahead log: that of a process that was killed may have what was deleted since.
  /// - Returns: whether that is to be done later, since another process reads just now, say.
  private static func eraseLog(of database: borrowing Database) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      return try database.checkpoint(.truncate).isHeldUp
    } catch {
      if error.isFailedSync { throw error }
      return true
    }
  }

  /// The journal's file.
  package var path: String { shared.directory.databasePath }

  package var identityKey: EntryIdentity.Key { state.identityKey }

  package func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    do { return try state.loadRoom(name) } catch { throw failure("read", error) }
  }

  package func find(
    _ identity: EntryIdentity, room: Int64, sender: String, id: String
  ) throws(StoreFailure) -> (seq: Int64, at: Int64)? {
    do {
      return try state.find(identity, room: room, sender: sender, id: id)
    } catch {
      throw failure("read", error)
    }
  }

  package func lastSeq(
    room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64 {
    do {
      return try state.lastSeq(room: room, throughEpoch: number)
    } catch {
      throw failure("read", error)
    }
  }

  package func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    do {
      return try state.entry(seq, ofRoom: number, named: room)
    } catch {
      throw failure("read", error)
    }
  }

  package func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    do {
      return try state.lastEdit(of: target, inRoom: number, named: room)
    } catch {
      throw failure("read", error)
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
      throw failure("read", error)
    }
  }

  package func membershipCount(of user: String) throws(StoreFailure) -> Int {
    do { return try state.membershipCount(of: user) } catch { throw failure("read", error) }
  }

  package func commit(_ changes: StoreChanges) throws(StoreFailure) {
    if changes.isEmpty { return }
    do { try state.commit(changes) } catch { throw failure("write", error) }
    commits += 1
  }

  /// Deletes entries that are no longer kept, in one transaction: a slice of a indexer's `Garbage`.
  package func delete(_ slice: Garbage.Slice) throws(StoreFailure) {
    do { try state.delete(slice) } catch { throw failure("write", error) }
  }

  /// Whether commits have left something to `tidy`.
  package var hasLeftovers: Bool { state.hasLeftovers }

  /// Edits of deleted texts that were overwritten so far.
  package var redactedEdits: Int { state.redactedEdits }

  /// Works off a slice of what commits have left for later (`Leftovers`), in one transaction.
  package func tidy() throws(StoreFailure) {
    do { try state.tidy() } catch { throw failure("write", error) }
  }

  /// Gives so many pages back that the file no longer needs, if they are a good part of it.
  /// - Returns: whether there was something to do.
  @discardableResult
  package func vacuum(pages: Int = 32) -> Bool {
    (try? state.database.vacuum(pages: pages)) ?? false
  }

  package func nextRoomNumber() throws(StoreFailure) -> Int64 { state.nextRoomNumber() }

  /// See `StoreState`.
  var syncNanoseconds: Int64 { state.syncNanoseconds }
  var roomCount: Int { state.roomCount }

  /// Whether a segment of entries has become complete since this was last asked.
  var hasSealed: Bool {
    defer { state.hasSealed = false }
    return state.hasSealed
  }

  /// Whether something was deleted since this was last asked.
  var hasDeleted: Bool {
    defer { state.hasDeleted = false }
    return state.hasDeleted
  }

  /// Forgets the pages in memory: they may have what is in no file any more.
  func releaseMemory() { state.database.releaseMemory() }

  /// How many index segments of the index were asked for identities.
  package var probes: Int { state.probes }

  /// How large the write-ahead log was after the last commit.
  var walBytes: Int { walSize.bytes }

  /// Moves the write-ahead log's content to the database file as far as it can be moved now. What
  /// fails here shows in a later commit if it lastEntries.
  package func checkpoint() throws(UnsyncedCheckpoint) { _ = try state.database.syncedCheckpoint() }

  /// Lets the file grow to so many pages and no further, as a full disk does; 0 = no limit.
  package func limit(pages: Int64) {
    _ = try? state.database.integer(
      "PRAGMA max_page_count = \(pages == 0 ? 0xFFFF_FFFE : pages)")
  }

  private func failure(_ action: String, _ error: SQLiteError) -> StoreFailure {
    if error.isCorruption { shared.distrustIndex() }
    return StoreFailure("could not \(action) \(path): \(error)")
  }
}
