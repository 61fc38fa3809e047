internal import SQLite
public import Wire

/// The local archive of one account (a user at a relay): the history that was received and the
/// outbox, in one SQLite file.
///
/// Confined to the thread that draws the screen. History is buffered: changes accumulate in memory
/// until `flush`, which takes the time of one transaction and does not wait for the disk; reads
/// flush first. If the process dies, history since the last flush is lost; a power failure may lose
/// some more. The relay has all of it. Outgoing messages are on disk when `enqueue` returns.
///
/// Several processes may use a file at once, such as two wschat of one account:
/// - History: a change that no longer fits what another process has written is skipped, so that
///   each room always holds one contiguous range of its log.
/// - Drafts: a draft replaces the version that it was made from; if that was changed meanwhile, both
///   are kept (`Draft`).
/// - Outbox: a message belongs to the process that enqueued it, which sends it. When that process
///   has ended, whether it quit or was killed, another one takes the message over (`takeOver`).
/// - Read marks, pins and levels of notifications: only what a process changed is written, and the
///   others read it (`SharedState`).
/// `watchDescriptor` tells when another process may have written, so that none needs to poll.
///
/// An error says what happened and what to do; the next call may succeed. A damaged file is moved
/// aside and replaced by a new one with the readable part of the outbox; `damage` reports it.
public final class Archive {
  /// The maximum number of entries kept per room; the oldest are deleted first.
  public static let entriesLimit: Int64 = 250_000
  /// The maximum number of changes written at once, which takes about two milliseconds.
  private static let batchLimit = 256
  /// The maximum number of changes buffered while they cannot be written; beyond it they are
  /// dropped.
  private static let changesLimit = 20_000

  /// What was damaged, and how it was handled; `nil` if nothing was.
  public private(set) var damage: ArchiveError?

  private let location: Location
  private let entriesLimit: Int64
  private var lock: LocationLock
  private var session: Session?
  /// Why there is no session.
  private var failure: ArchiveError?
  private var changes: [Change] = []
  /// The epochs of each room's entries, as known to this process.
  private var epochs: [String: Epochs] = [:]
  /// The shared part of each room's state, as this process last stored or read it.
  var bases: [String: SharedState] = [:]
  let instance: InstanceLock
  /// The state of what other processes may change, as this process last read it.
  var known = Known()
  private var watch: FileWatch

  struct Known {
    /// SQLite's number of the last change by another connection.
    var dataVersion: Int64 = -1
    var revision: Int64 = 0
    /// Whether the outbox could not be taken over at the start, and all of it is sent instead.
    var isOutboxShared = false
  }

  /// Opens the file, and creates it and its folder if they are missing, accessible to the owner
  /// only.
  /// - Parameter path: See `path(stateHome:relay:user:)`.
  public convenience init(path: String) throws(ArchiveError) {
    try self.init(path: path, entriesLimit: Self.entriesLimit)
  }

  /// - Parameter entriesLimit: The maximum number of entries kept per room.
  public init(path: String, entriesLimit: Int64) throws(ArchiveError) {
    location = Location(path: path)
    self.entriesLimit = entriesLimit
    try location.createFolder()
    lock = try LocationLock(location)
    if lock.isExclusive { try Rescue.finish(location) }
    try location.createFile()
    instance = try InstanceLock(location)
    watch = FileWatch(path: location.logPath)
    do throws(ArchiveError) {
      session = try Session(location)
    } catch {
      guard error.kind == .damaged else { throw error }
      try replace(error)
    }
    try lock.share(location)
    begin()
  }

  /// Prepares to share a file that was just opened.
  private func begin() {
    watch.follow(path: location.logPath)
    known = Known()
    do throws(ArchiveError) {
      known.revision = try read { (store) throws(SQLiteError) in try store.lastRevision() }
      _ = try takeOver()
    } catch {
      // The disk may be full. Sent twice is sent once: the relay recognizes the ids.
      known.isOutboxShared = true
    }
  }

  /// Readable when the file may have been changed, by this process or another; call
  /// `isChangedByOthers` then. -1 if the system has no watches left.
  public var watchDescriptor: Int32 { watch.isWatching ? watch.descriptor : -1 }

  /// Makes `watchDescriptor` unreadable until the next change.
  public func clearWatch() { watch.clear() }

  deinit { try? close() }

  /// Flushes the buffered changes and closes the file. The archive cannot be used afterwards.
  public func close() throws(ArchiveError) {
    defer {
      session?.end()
      session = nil
      failure = ArchiveError(.environment, "The history \(location.path) is closed.")
    }
    if session != nil { try flush() }
  }

  /// Whether there are buffered changes.
  public var hasChanges: Bool { !changes.isEmpty }

  /// Writes the buffered changes in one transaction. Changes that cannot be written now are
  /// retried.
  public func flush() throws(ArchiveError) {
    if changes.isEmpty { return }
    let session = try open()
    do throws(SQLiteError) {
      let aftermath = try session.store.write(changes, entriesLimit: entriesLimit)
      changes.removeAll(keepingCapacity: true)
      session.look(after: aftermath)
    } catch {
      // Another process holds the lock for longer than usual.
      if error.isBusy { return }
      throw explain(error)
    }
  }

  /// Limits the file to this many pages, to simulate a full disk; 0 = no limit.
  package func limit(pages: Int64) throws(ArchiveError) {
    try open().store.limit(pages: pages)
  }

  func add(_ change: Change) {
    if changes.count >= Self.changesLimit { changes = [] }
    changes.append(change)
    // A failed write is retried, and its error thrown, by the next flush.
    if changes.count % Self.batchLimit == 0 { try? flush() }
  }

  func open() throws(ArchiveError) -> Session {
    if let session { return session }
    throw failure ?? ArchiveError(.environment, "The history \(location.path) is closed.")
  }

  func read<Result>(
    _ body: (Store) throws(SQLiteError) -> Result
  ) throws(ArchiveError) -> Result {
    // A failed write must not prevent reading; the next flush reports the error.
    try? flush()
    let session = try open()
    do throws(SQLiteError) {
      return try session.store.reading(body)
    } catch {
      throw explain(error)
    }
  }

  func writeDurably(
    _ body: (Store) throws(SQLiteError) -> Void
  ) throws(ArchiveError) {
    let session = try open()
    do throws(SQLiteError) {
      try session.store.durableTransaction(body)
      session.look(after: Aftermath())
    } catch {
      throw explain(error)
    }
  }

  /// Translates SQLite's error; replaces the file if it is damaged.
  func explain(_ error: SQLiteError) -> ArchiveError {
    let meaning = ArchiveError(error, path: location.path)
    guard meaning.kind == .damaged else { return meaning }
    session?.end()
    session = nil
    do throws(ArchiveError) {
      try replace(meaning)
      try lock.share(location)
      begin()
    } catch {
      failure = error
      return error
    }
    return damage ?? meaning
  }

  /// Moves the damaged file aside and opens a new one.
  private func replace(_ error: ArchiveError) throws(ArchiveError) {
    guard lock.isExclusive || lock.takeExclusively() else {
      throw ArchiveError(
        .damaged,
        error.description
          + " Another wschat has it open: close that one and restart this one; "
          + "until then nothing is saved.")
    }
    let count = try Rescue.moveAside(location)
    session = try Session(location)
    damage = ArchiveError(
      .damaged,
      error.description + " It was moved to \(location.damagedPath), and a new one was created. "
        + (count == 0
          ? "No unsent messages were found in it."
          : "Unsent messages recovered: \(count)."))
  }
}

// MARK: - Rooms

extension Archive {
  /// Returns every room that was saved or begun.
  public func rooms() throws(ArchiveError) -> [Room] {
    let rooms = try read { (store) throws(SQLiteError) in try store.rooms() }
    for room in rooms {
      epochs[room.room] = room.epoch.map { Epochs(current: $0) }
      bases[room.room] = SharedState(room)
    }
    return rooms
  }

  /// Stores a room's state. `first`, `latest`, `epoch` and `last` are derived from its entries.
  public func save(_ room: Room) {
    add(.save(room, since: bases[room.room]))
    bases[room.room] = SharedState(room)
  }

  /// Returns the display names of users.
  public func names() throws(ArchiveError) -> [String: String] {
    try read { (store) throws(SQLiteError) in try store.names() }
  }

  /// Adds display names.
  public func save(names: [String: String]) {
    if !names.isEmpty { add(.names(names)) }
  }
}

// MARK: - Entries

extension Archive {
  /// Deletes a room's entries; the next entries begin after `after`.
  /// - Parameter lineage: As the relay told it with the epoch.
  public func begin(_ room: String, epoch: String, lineage: [EpochStart] = [], after: Int64) {
    let known = Epochs(current: epoch, lineage: lineage)
    epochs[room] = known
    add(.begin(room: room, known, after: after))
  }

  /// Deletes a room's entries after `after`, which the log has lost; the next entries belong to
  /// `epoch`.
  public func truncate(_ room: String, after: Int64, epoch: String, lineage: [EpochStart] = []) {
    let known = Epochs(current: epoch, lineage: lineage)
    epochs[room] = known
    add(.truncate(room: room, known, after: after))
  }

  /// Deletes a room with its entries.
  public func forget(_ room: String) {
    epochs[room] = nil
    bases[room] = nil
    add(.forget(room: room))
  }

  /// Records that the log continues under another epoch.
  public func setEpoch(_ room: String, epoch: String, lineage: [EpochStart] = []) {
    let known = Epochs(current: epoch, lineage: lineage)
    if epochs[room] == known { return }
    epochs[room] = known
    add(.setEpoch(room: room, known))
  }

  /// Appends a room's next entry, unfolded; an entry that is present already or is not the next one
  /// is ignored. A deletion overwrites the text of its target and of the target's edits.
  public func append(_ entry: Entry) { add(.append(entry, epoch: epochs[entry.room]?.current)) }

  /// Inserts an older page, unfolded and in ascending `seq`, directly before the oldest entry.
  /// - Returns: False, with nothing changed, if the page does not end there, the room is at its
  ///   limit, or another process holds the lock on the file.
  public func prepend(_ entries: [Entry], to room: String) throws(ArchiveError) -> Bool {
    try flush()
    let session = try open()
    do throws(SQLiteError) {
      guard
        let aftermath = try session.store.prepend(
          entries, to: room, epoch: epochs[room]?.current, entriesLimit: entriesLimit)
      else { return false }
      session.look(after: aftermath)
      return true
    } catch {
      // Another process holds the lock for longer than usual; the page can be fetched again.
      if error.isBusy { return false }
      throw explain(error)
    }
  }

  /// Returns the newest messages (`text`, `data`) and changes of the room (`settings`, `member`)
  /// before `before`, each in its current state, in ascending `seq`.
  /// - Parameter before: `nil` = the newest of all.
  public func page(
    of room: String, before: Int64? = nil, limit: Int
  ) throws(ArchiveError) -> [Entry] {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room) else { return [] }
      return try store.shown(of: room, extent, before: before ?? .max, limit: limit)
    }
  }

  /// Returns the range of a room's log that is kept; `nil` if there is none.
  public func extent(
    of room: String
  ) throws(ArchiveError) -> (first: Int64, latest: Int64, epoch: String, lineage: [EpochStart])? {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room), let epochs = extent.epochs else { return nil }
      return (extent.first, extent.latest, epochs.current, epochs.lineage)
    }
  }

  /// Returns one entry in its current state; `nil` if it is not kept here.
  public func entry(_ room: String, _ seq: Int64) throws(ArchiveError) -> Entry? {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room) else { return nil }
      return try store.entry(of: room, extent, seq: seq)
    }
  }

  /// Counts the content entries after `after` that are not from `user`; `nil` if the kept range
  /// does not reach back to `after`.
  public func contentCount(
    in room: String, after: Int64, notFrom user: String
  ) throws(ArchiveError) -> Int64? {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room), extent.epoch != nil, after >= extent.first - 1
      else { return nil }
      return try store.contentCount(extent, after: after, notFrom: user)
    }
  }
}
