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
/// Several processes may use a file at once. A change that no longer fits what another process has
/// written is skipped, so that each room always holds one contiguous range of its log.
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
    do throws(ArchiveError) {
      session = try Session(location)
    } catch {
      guard error.kind == .damaged else { throw error }
      try replace(error)
    }
    try lock.share(location)
  }

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
      let aftermath = try session.store.apply(changes, entriesLimit: entriesLimit)
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

  private func add(_ change: Change) {
    if changes.count >= Self.changesLimit { changes = [] }
    changes.append(change)
    // A failed write is retried, and its error thrown, by the next flush.
    if changes.count % Self.batchLimit == 0 { try? flush() }
  }

  private func open() throws(ArchiveError) -> Session {
    if let session { return session }
    throw failure ?? ArchiveError(.environment, "The history \(location.path) is closed.")
  }

  private func read<Result>(
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

  private func writeDurably(
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
  private func explain(_ error: SQLiteError) -> ArchiveError {
    let meaning = ArchiveError(error, path: location.path)
    guard meaning.kind == .damaged else { return meaning }
    session?.end()
    session = nil
    do throws(ArchiveError) {
      try replace(meaning)
      try lock.share(location)
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

/// The open connection and its maintenance thread, while the file is intact.
private final class Session {
  let store: Store
  private let maintenance: Maintenance
  /// The size of the log when the maintenance was last asked for a checkpoint.
  private var askedBytes = 0

  init(_ location: Location) throws(ArchiveError) {
    store = try Store(location)
    maintenance = try Maintenance(location)
    // Finishes deletions that an earlier run left unfinished.
    maintenance.ask(.sweep)
  }

  /// Requests the maintenance that a transaction has made necessary; call it after each commit.
  func look(after aftermath: Aftermath) {
    if aftermath.hasGarbage { maintenance.ask(.sweep) }
    let bytes = store.walBytes
    // The log was restarted.
    if bytes < askedBytes { askedBytes = 0 }
    if aftermath.hasDeletions {
      maintenance.ask(.scrub)
    } else if bytes - askedBytes >= Maintenance.checkpointBytes {
      askedBytes = bytes
      maintenance.ask(.checkpoint)
    }
  }

  func end() { maintenance.end() }
}

// MARK: - Rooms

extension Archive {
  /// Returns every room that was saved or begun.
  public func rooms() throws(ArchiveError) -> [Room] {
    let rooms = try read { (store) throws(SQLiteError) in try store.rooms() }
    for room in rooms { epochs[room.room] = room.epoch.map { Epochs(current: $0) } }
    return rooms
  }

  /// Stores a room's state. `first`, `latest`, `epoch` and `last` are derived from its entries.
  public func save(_ room: Room) { add(.save(room)) }

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

  /// Returns the newest content entries (`text`, `data`) before `before`, each in its current
  /// state, in ascending `seq`.
  /// - Parameter before: `nil` = the newest of all.
  public func page(
    of room: String, before: Int64? = nil, limit: Int
  ) throws(ArchiveError) -> [Entry] {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room) else { return [] }
      return try store.contents(of: room, extent, before: before ?? .max, limit: limit)
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

// MARK: - Outbox

extension Archive {
  /// Appends a message to the outbox; it is on disk when this returns. A message that is present
  /// already (same `room` and `id`) is left unchanged.
  /// - Parameters:
  ///   - at: milliseconds since 1970.
  ///   - draft: what the draft of the room is after it; `nil` leaves the stored one.
  public func enqueue(
    _ send: ClientMessage.Send, at: Int64, draft: String? = nil
  ) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.insert(Outgoing(send: send, at: at, refusal: nil))
      if let draft { try store.setDraft(draft, of: send.room) }
    }
  }

  /// Returns the messages that are waiting to be sent or were refused, in the order of `enqueue`.
  public func outbox() throws(ArchiveError) -> [Outgoing] {
    try read { (store) throws(SQLiteError) in try store.outbox() }
  }

  /// Removes a message that the relay has acknowledged from the outbox, with the next flush. If
  /// that is lost, the message is sent again, and the relay recognizes its `id`.
  public func acknowledge(room: String, id: String) { add(.acknowledge(room: room, id: id)) }

  /// Stores the reason for which the relay refused a message.
  public func refuse(room: String, id: String, reason: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.setRefusal(reason, room: room, id: id)
    }
  }

  /// Makes a refused message pending again.
  public func retry(room: String, id: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.setRefusal(nil, room: room, id: id)
    }
  }

  /// Removes a message that is not to be sent any more; durable when this returns.
  public func discard(room: String, id: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.deleteOutgoing(room: room, id: id)
    }
  }
}
