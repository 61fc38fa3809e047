internal import SQLite
public import Wire

/// What is kept on disk for one account, a user at a relay: the history that was seen, and what waits to
/// be sent. One SQLite file.
///
/// For one thread, the one that shows. History is written behind: changes gather in memory until
/// `flush`, which takes a transaction's time and waits for no disk; whatever reads writes them first. A
/// death of the process costs history since the last flush, a loss of power perhaps some more, all of
/// which the relay has. What is to be sent is on the disk when `enqueue` returns.
///
/// Several processes may use a file at once. What one writes that no longer fits is left out: each room
/// has one contiguous stretch of its log here, whatever happens.
///
/// An error says what happened and what to do, and the next call may succeed. A damaged file is moved
/// aside and begun anew, with what could be read of the outbox; `damage` says so.
public final class Archive {
  /// So many entries of a room are kept; the oldest go.
  public static let entriesLimit: Int64 = 250_000
  /// So many changes are written at once, in about two milliseconds.
  private static let batchLimit = 256
  /// So many changes are held where they cannot be written; then they are dropped.
  private static let changesLimit = 20_000

  /// What was damaged, and what became of it; `nil` if nothing was.
  public private(set) var damage: ArchiveError?

  private let location: Location
  private let entriesLimit: Int64
  private var lock: LocationLock
  private var session: Session?
  /// Why there is no session.
  private var failure: ArchiveError?
  private var changes: [Change] = []
  /// The log that each room's entries are of, as far as this process knows.
  private var epochs: [String: String] = [:]

  /// Opens the file; makes it, and its folder, where it is missing, for their owner alone.
  /// - Parameter path: see `path(stateHome:relay:user:)`.
  public convenience init(path: String) throws(ArchiveError) {
    try self.init(path: path, entriesLimit: Self.entriesLimit)
  }

  /// - Parameter entriesLimit: so many entries of a room are kept.
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

  /// Writes what has gathered, and lets go of the file. Nothing can be kept afterwards.
  public func close() throws(ArchiveError) {
    defer {
      session?.end()
      session = nil
      failure = ArchiveError(.environment, "The history \(location.path) is closed.")
    }
    if session != nil { try flush() }
  }

  /// Whether there is something to flush.
  public var hasChanges: Bool { !changes.isEmpty }

  /// Writes what has gathered, in one transaction. What cannot be written now is tried again.
  public func flush() throws(ArchiveError) {
    if changes.isEmpty { return }
    let session = try open()
    do throws(SQLiteError) {
      let aftermath = try session.store.apply(changes, entriesLimit: entriesLimit)
      changes.removeAll(keepingCapacity: true)
      session.look(after: aftermath)
    } catch {
      // Another process is slower than usual.
      if error.isBusy { return }
      throw explain(error)
    }
  }

  /// Lets the file grow to so many pages and no further, as a full disk does; 0 = no limit.
  package func limit(pages: Int64) throws(ArchiveError) {
    try open().store.limit(pages: pages)
  }

  private func add(_ change: Change) {
    if changes.count >= Self.changesLimit { changes = [] }
    changes.append(change)
    // What fails is tried again, and thrown, by the next flush.
    if changes.count % Self.batchLimit == 0 { try? flush() }
  }

  private func open() throws(ArchiveError) -> Session {
    if let session { return session }
    throw failure ?? ArchiveError(.environment, "The history \(location.path) is closed.")
  }

  private func read<Result>(
    _ body: (Store) throws(SQLiteError) -> Result
  ) throws(ArchiveError) -> Result {
    // What cannot be written does not keep from reading; the next flush says why.
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

  /// What SQLite's refusal means; where the file is damaged, it has been replaced afterwards.
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

  /// Moves the damaged file aside, and opens a new one.
  private func replace(_ error: ArchiveError) throws(ArchiveError) {
    guard lock.isExclusive || lock.takeExclusively() else {
      throw ArchiveError(
        .damaged,
        error.description
          + " Another wschat has it open: close that one, and start this one again; "
          + "until then nothing is kept.")
    }
    let count = try Rescue.moveAside(location)
    session = try Session(location)
    damage = ArchiveError(
      .damaged,
      error.description + " It was moved to \(location.damagedPath), and another one begun. "
        + (count == 0
          ? "No message that waited to be sent was found in it."
          : "Messages that waited to be sent and were saved: \(count)."))
  }
}

/// What is open as long as the file is in order.
private final class Session {
  let store: Store
  private let maintenance: Maintenance
  /// How long the log was when the maintenance was last asked to move it.
  private var askedBytes = 0

  init(_ location: Location) throws(ArchiveError) {
    store = try Store(location)
    maintenance = try Maintenance(location)
    // What an earlier run had no time for.
    maintenance.ask(.sweep)
  }

  /// To be called after each commit.
  func look(after aftermath: Aftermath) {
    if aftermath.hasGarbage { maintenance.ask(.sweep) }
    let bytes = store.walBytes
    // It has begun anew.
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
  /// Every room that was saved or begun.
  public func rooms() throws(ArchiveError) -> [Room] {
    let rooms = try read { (store) throws(SQLiteError) in try store.rooms() }
    for room in rooms { epochs[room.room] = room.epoch }
    return rooms
  }

  /// Keeps what is known of a room; `first`, `latest`, `epoch` and `last` follow from its entries.
  public func save(_ room: Room) { add(.save(room)) }

  /// What users are called.
  public func names() throws(ArchiveError) -> [String: String] {
    try read { (store) throws(SQLiteError) in try store.names() }
  }

  /// Adds to them.
  public func save(names: [String: String]) {
    if !names.isEmpty { add(.names(names)) }
  }
}

// MARK: - Entries

extension Archive {
  /// Drops all that is kept of a room: what follows begins after `after`.
  public func begin(_ room: String, epoch: String, after: Int64) {
    epochs[room] = epoch
    add(.begin(room: room, epoch: epoch, after: after))
  }

  /// Drops what is kept of a room after `after`, which the log has lost: what follows is of `epoch`.
  public func truncate(_ room: String, after: Int64, epoch: String) {
    epochs[room] = epoch
    add(.truncate(room: room, epoch: epoch, after: after))
  }

  /// Takes note that the log goes on under another epoch.
  public func setEpoch(_ room: String, epoch: String) {
    if epochs[room] == epoch { return }
    epochs[room] = epoch
    add(.setEpoch(room: room, epoch: epoch))
  }

  /// Adds a room's next entry, raw; one that is there already, or is not the next one, is ignored. A
  /// deletion overwrites its target's text, and its edits.
  public func append(_ entry: Entry) { add(.append(entry, epoch: epochs[entry.room])) }

  /// Adds an older page, raw and in rising `seq`, right before the oldest entry.
  /// - Returns: false, and nothing was done, if it does not end there, or the room has enough, or
  ///   another process holds the file just now.
  public func prepend(_ entries: [Entry], to room: String) throws(ArchiveError) -> Bool {
    try flush()
    let session = try open()
    do throws(SQLiteError) {
      guard
        let aftermath = try session.store.prepend(
          entries, to: room, epoch: epochs[room], entriesLimit: entriesLimit)
      else { return false }
      session.look(after: aftermath)
      return true
    } catch {
      // Another process is slower than usual; the page can be had again.
      if error.isBusy { return false }
      throw explain(error)
    }
  }

  /// The newest entries before `before` that say something of their own (`text`, `data`), each in its
  /// current state, in rising `seq`.
  /// - Parameter before: `nil` = the newest of all.
  public func page(
    of room: String, before: Int64? = nil, limit: Int
  ) throws(ArchiveError) -> [Entry] {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room) else { return [] }
      return try store.contents(of: room, extent, before: before ?? .max, limit: limit)
    }
  }

  /// Which stretch of a room's log is kept; `nil` for none.
  public func extent(
    of room: String
  ) throws(ArchiveError) -> (first: Int64, latest: Int64, epoch: String)? {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room), let epoch = extent.epoch else { return nil }
      return (extent.first, extent.latest, epoch)
    }
  }

  /// One entry in its current state; `nil` if it is not kept here.
  public func entry(_ room: String, _ seq: Int64) throws(ArchiveError) -> Entry? {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room) else { return nil }
      return try store.entry(of: room, extent, seq: seq)
    }
  }

  /// How many entries after `after` say something of their own and are not from `user`; `nil` where what
  /// is kept does not reach down to `after`.
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
  /// Keeps something to be sent, at the end; on the disk when this returns. One that is there already
  /// (`room` and `id`) is left as it is.
  /// - Parameter at: milliseconds since 1970.
  public func enqueue(_ send: ClientMessage.Send, at: Int64) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.insert(Outgoing(send: send, at: at, refusal: nil))
    }
  }

  /// What waits to be sent, or was refused, in the order of `enqueue`.
  public func outbox() throws(ArchiveError) -> [Outgoing] {
    try read { (store) throws(SQLiteError) in try store.outbox() }
  }

  /// The relay has it: it leaves the outbox with the next flush. Where that is lost it is sent again, and
  /// the relay knows its `id`.
  public func acknowledge(room: String, id: String) { add(.acknowledge(room: room, id: id)) }

  /// Keeps why the relay does not take it.
  public func refuse(room: String, id: String, reason: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.setRefusal(reason, room: room, id: id)
    }
  }

  /// It is to be sent after all.
  public func retry(room: String, id: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.setRefusal(nil, room: room, id: id)
    }
  }

  /// It is not to be sent any more; that is on the disk when this returns.
  public func discard(room: String, id: String) throws(ArchiveError) {
    try writeDurably { (store) throws(SQLiteError) in
      try store.deleteOutgoing(room: room, id: id)
    }
  }
}
