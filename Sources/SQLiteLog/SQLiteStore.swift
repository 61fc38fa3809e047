internal import CSQLite
package import Relay

/// A store in one SQLite file: rooms, entries in commit order, members and the lineage of epochs.
///
/// Used by one thread at a time. Holds the data directory's lock for as long as it lives.
package final class SQLiteStore: EntryStore {
  private let directory: DataDirectory
  private let lock: DirectoryLock
  private let walSize: WalSize
  private var state: StoreState

  /// How many commits have succeeded.
  private(set) var commits = 0

  /// The epochs of this store; the last is this run's.
  package let lineage: Lineage

  /// Opens the store in a directory, makes both where they are missing, and begins a new epoch.
  /// - Parameters:
  ///   - vfs: the SQLite VFS that holds the file; `nil` is the system's.
  ///   - now: milliseconds since 1970.
  ///   - epochName: of the new epoch; `nil` chooses one at random.
  package init(
    directory path: String, vfs: String? = nil, durability: Durability = .fsync, now: Int64,
    epochName: String? = nil
  ) throws(StoreError) {
    directory = DataDirectory(path, vfs: vfs)
    try directory.create()
    lock = try directory.lock()
    let database = try Schema.openForWriting(directory, durability: durability)
    walSize = WalSize(database)
    do {
      var generator = SystemRandomNumberGenerator()
      state = try StoreState(
        database, epochName: epochName ?? Lineage.randomName(using: &generator), now: now)
      lineage = try state.lineage()
    } catch {
      throw StoreError(error, "begin a new epoch in", path: directory.databasePath)
    }
  }

  /// The database file.
  package var path: String { directory.databasePath }

  package func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    do { return try state.loadRoom(name) } catch { throw failure("read", error) }
  }

  package func find(
    room: Int64, sender: String, id: String
  ) throws(StoreFailure) -> (seq: Int64, at: Int64)? {
    do {
      return try state.find(room: room, sender: sender, id: id)
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

  package func belongings(
    of user: String
  ) throws(StoreFailure) -> [(room: String, read: Int64)] {
    do { return try state.belongings(of: user) } catch { throw failure("read", error) }
  }

  package func commit(_ changes: StoreChanges) throws(StoreFailure) {
    if changes.isEmpty { return }
    do { try state.commit(changes) } catch { throw failure("write", error) }
    commits += 1
  }

  package func nextRoomNumber() throws(StoreFailure) -> Int64 {
    do { return try state.nextRoomNumber() } catch { throw failure("read", error) }
  }

  /// How large the write-ahead log was after the last commit.
  var walBytes: Int { Int(walSize.pages) * Schema.pageBytes }

  /// Moves the write-ahead log's content to the database file as far as it can be moved now. What
  /// fails here shows in a later commit if it lasts.
  package func checkpoint() { _ = try? state.database.checkpoint() }

  /// Lets the file grow to so many pages and no further, as a full disk does; 0 = no limit.
  package func limit(pages: Int64) {
    _ = try? state.database.integer(
      "PRAGMA max_page_count = \(pages == 0 ? 0xFFFF_FFFE : pages)")
  }

  private func failure(_ action: String, _ error: SQLiteError) -> StoreFailure {
    StoreFailure("could not \(action) \(directory.databasePath): \(error)")
  }
}

/// How many pages the write-ahead log has, as SQLite tells after each commit (`sqlite3_wal_hook`).
/// The hook also takes the place of SQLite's own checkpoints.
private final class WalSize {
  fileprivate private(set) var pages: Int32 = 0

  /// The connection must not outlive this object by a commit.
  init(_ database: borrowing Database) {
    unsafe sqlite3_wal_hook(
      database.handle,
      { context, _, _, pages in
        if let context = unsafe context {
          unsafe Unmanaged<WalSize>.fromOpaque(context).takeUnretainedValue().pages = pages
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
