internal import CSQLite
internal import Moderation
internal import Relay
internal import SQLite
internal import Wire

/// The state of an open store: the commit connection with its statements, the index reader, and the
/// last position of the journal.
struct StoreState: ~Copyable {
  var database: Database
  /// The `position` of the last entry.
  private(set) var position: Int64
  /// The time of the last COMMIT, which makes a commit durable: nanoseconds of the monotonic clock.
  private(set) var sync: Range<Int64> = 0..<0
  /// Whether commits have left work for `tidy`.
  var hasLeftovers: Bool
  /// How many edits were overwritten since startup.
  var redactedEdits = 0
  /// Whether a segment was sealed that the indexer does not know about.
  var hasSealed = false
  /// Whether an entry was deleted since this was last set to `false`; the files still contain its
  /// content.
  var hasDeleted = false
  /// The key that hashes the ids of the store's entries.
  let identityKey: EntryIdentity.Key
  let tail: Tail
  var index: IndexReader
  private var nextRoom: Int64
  /// The number of this process's epoch.
  private let epoch: Int64
  /// The epoch of this process while there is no space to store it.
  private(set) var unstoredEpoch: NewEpoch?
  var statements: Statements

  /// - Parameters:
  ///   - epoch: the number of this process's epoch.
  ///   - unstored: that epoch if it is not stored yet.
  init(
    _ database: consuming Database, epoch: Int64, unstored: NewEpoch?, tail: Tail,
    index: consuming IndexReader
  ) throws(SQLiteError) {
    let position = try Self.lastPosition(in: database)
    let nextRoom = try database.integer("SELECT coalesce(max(number), 0) + 1 FROM rooms")
    let statements = try Statements.prepare(on: database)
    let hasLeftovers = try database.integer(Leftovers.exist) == 1
    let identityKey = try Schema.identityKey(of: database)
    self.database = database
    self.hasLeftovers = hasLeftovers
    self.identityKey = identityKey
    self.epoch = epoch
    self.position = position
    self.tail = tail
    self.index = index
    self.nextRoom = nextRoom
    unstoredEpoch = unstored
    self.statements = statements
  }

  static func lastPosition(in database: borrowing Database) throws(SQLiteError) -> Int64 {
    try database.integer(
      """
      SELECT max(\(Schema.lastPosition),
                 coalesce((SELECT max(position) FROM epochs), 0))
      """)
  }

  /// An epoch that this process begins.
  struct NewEpoch {
    var number: Int64
    var name: String
    /// The position of the last entry before it.
    var position: Int64
    /// Milliseconds since 1970.
    var now: Int64
  }

  /// Stores a new epoch, and ends the visits of the process before, in one transaction.
  /// - Returns: the epoch if there is no space for it: the first commit stores it.
  static func begin(
    _ name: String, now: Int64, in database: borrowing Database
  ) throws(SQLiteError) -> (number: Int64, unstored: NewEpoch?) {
    let number = try database.integer("SELECT coalesce(max(number), 0) + 1 FROM epochs")
    let epoch = NewEpoch(
      number: number, name: name, position: try lastPosition(in: database), now: now)
    do throws(SQLiteError) {
      try database.transaction { () throws(SQLiteError) in try store(epoch, in: database) }
    } catch {
      guard error.isFull else { throw error }
      return (number, epoch)
    }
    return (number, nil)
  }

  private static func store(
    _ epoch: NewEpoch, in database: borrowing Database
  ) throws(SQLiteError) {
    let number = try addEpoch(
      epoch.name, position: epoch.position, now: epoch.now, to: database)
    precondition(number == epoch.number, "another process has written to the store")
    try endVisits(in: database)
  }

  /// Adds an epoch to the lineage, and returns its number.
  static func addEpoch(
    _ name: String, position: Int64, now: Int64, to database: borrowing Database
  ) throws(SQLiteError) -> Int64 {
    var insert = try Statement(
      """
      INSERT INTO epochs (number, name, position, started_at)
      SELECT coalesce(max(number), 0) + 1, ?1, ?2, ?3 FROM epochs RETURNING number
      """, on: database)
    try insert.bind(1, name)
    try insert.bind(2, position)
    try insert.bind(3, now)
    _ = try insert.step()
    let number = insert.integer(0)
    // The step that returns no further row is the one that commits.
    _ = try insert.step()
    return number
  }

  func lineage() throws(SQLiteError) -> Lineage {
    var select = try Statement("SELECT number, name FROM epochs ORDER BY number", on: database)
    var epochs: [Lineage.Epoch] = []
    while try select.step() {
      epochs.append(Lineage.Epoch(number: select.integer(0), name: select.text(1)))
    }
    if let unstoredEpoch {
      epochs.append(Lineage.Epoch(number: unstoredEpoch.number, name: unstoredEpoch.name))
    }
    return Lineage(epochs)
  }

  // MARK: - Looking up

  /// The number of rooms that have had an entry.
  var roomCount: Int { Int(nextRoom - 1) }

  func nextRoomNumber() -> Int64 { nextRoom }

  mutating func loadRoom(_ name: String) throws(SQLiteError) -> StoredRoom? {
    try statements.selectRoom.bind(1, name)
    defer { statements.selectRoom.reset() }
    guard try statements.selectRoom.step() else { return nil }
    let number = statements.selectRoom.integer(0)
    let first = statements.selectRoom.integer(1)
    var room = StoredRoom(
      number: number, head: first - 1, first: first, lastAt: 0, members: [:],
      changes: statements.selectRoom.integer(2))
    room.rules = try statements.selectRoom.rules(from: 3, ofRoom: number)
    room.direct = try statements.selectRoom.direct(7, ofRoom: number)
    if let head = try head(of: number), head.seq >= room.first {
      let last = try sender(ofEntry: head.seq, at: head.position, number)
      room.head = head.seq
      room.lastAt = last.at
      room.last.sender = last.sender
      room.last.others = last.others
      room.last.content =
        try contentRun(endingAt: head.seq, inRoom: number) ?? ContentRun(last: last.content)
    }
    try loadMembers(of: &room, named: name)
    return room
  }

  mutating func head(
    of room: Int64
  ) throws(SQLiteError) -> (seq: Int64, position: Int64)? {
    if let head = tail.head(of: room) { return head }
    return try index.head(of: room)
  }

  mutating func position(of seq: Int64, inRoom room: Int64) throws(SQLiteError) -> Int64 {
    var places = tail.places(ofRoom: room, in: seq...seq)
    if places.isEmpty { places = try index.places(ofRoom: room, in: seq...seq) }
    guard let place = places.first else { throw Self.missing(seq, room: room) }
    return place.position
  }

  static func missing(_ seq: Int64, room: Int64) -> SQLiteError {
    SQLiteError(
      extendedCode: SQLITE_CORRUPT,
      message: "entry \(seq) of room \(room) is missing")
  }

  /// - Parameter seq: the `seq` of an entry that is kept.
  mutating func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(SQLiteError) -> Entry? {
    try statements.selectEntry.bind(1, position(of: seq, inRoom: number))
    defer { statements.selectEntry.reset() }
    return try statements.selectEntry.step() ? statements.selectEntry.entry(in: room) : nil
  }

  mutating func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(SQLiteError) -> Entry? {
    try statements.targets.lastEdit(of: target, through: seq, inRoom: number, named: room)
  }

  mutating func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(SQLiteError) -> Int {
    try statements.selectEditCount.bind(1, number)
    try statements.selectEditCount.bind(2, target)
    try statements.selectEditCount.bind(3, Int64(limit))
    defer { statements.selectEditCount.reset() }
    return try statements.selectEditCount.step() ? Int(statements.selectEditCount.integer(0)) : 0
  }

  mutating func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(SQLiteError) -> Set<String> {
    func read(_ statement: inout Statement) throws(SQLiteError) -> Set<String> {
      try statement.bind(1, number)
      try statement.bind(2, target)
      try statement.bind(3, Int64(limit))
      if let user { try statement.bind(4, user) }
      defer { statement.reset() }
      var emoji: Set<String> = []
      while try statement.step() { emoji.insert(statement.text(0)) }
      return emoji
    }
    return user == nil ? try read(&statements.selectEmoji) : try read(&statements.selectOwnEmoji)
  }

  mutating func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(SQLiteError) -> Int64 {
    try statements.targets.changes(inRoom: number, through: seq) ?? total
  }

  /// Ends the visits of users who were present when the previous process ended. The last entry is
  /// the best estimate of that time.
  private static func endVisits(in database: borrowing Database) throws(SQLiteError) {
    try database.execute(
      """
      UPDATE users SET here = 0, seen = max(
        seen, coalesce((SELECT iif(sound, at, 0) FROM entries ORDER BY position DESC LIMIT 1), 0))
      WHERE here = 1
      """)
  }

  // MARK: - Storing

  /// Stores all changes in one transaction.
  mutating func commit(_ changes: StoreChanges) throws(SQLiteError) {
    do {
      try statements.begin.run()
      if let unstoredEpoch { try Self.store(unstoredEpoch, in: database) }
      try apply(changes)
      let began = MonotonicClock.nanoseconds
      try statements.commit.run()
      sync = began..<MonotonicClock.nanoseconds
    } catch {
      database.rollback()
      throw error
    }
    unstoredEpoch = nil
    if !changes.redactions.isEmpty || !changes.erasedUsers.isEmpty { hasDeleted = true }
    if !changes.trims.isEmpty { tail.recordTrim() }
    // Only after the commit: entries must not be found before they are stored.
    for room in changes.newRooms { nextRoom = max(nextRoom, room.number + 1) }
    if changes.entries.isEmpty { return }
    let isSealed = tail.append { segment in
      var position = position
      // A span's elements are not copied for each access.
      let entries = changes.entries.span
      for place in entries.indices {
        position += 1
        segment.append(
          position: position, room: entries[place].room, seq: entries[place].entry.seq,
          identity: entries[place].identity, sender: entries[place].entry.from)
      }
    }
    position += Int64(changes.entries.count)
    if isSealed { hasSealed = true }
  }

  private mutating func apply(_ changes: StoreChanges) throws(SQLiteError) {
    for room in changes.newRooms {
      try statements.insertRoom.bind(1, room.number)
      try statements.insertRoom.bind(2, room.name)
      try statements.insertRoom.run()
    }
    for file in changes.files { try statements.files.add(file) }
    var next = position
    // How many entries of each room change other entries.
    var totals: [Int64: Int64] = [:]
    let entries = changes.entries.span
    statements.entries.startAgain()
    for place in entries.indices {
      next += 1
      try statements.entries.append(entries[place], at: next, epoch: epoch)
      if entries[place].entry.kind == .file {
        try statements.files.record(entries[place].entry, inRoom: entries[place].room)
      }
      if let change = entries[place].change {
        let room = entries[place].room
        try statements.changes.record(entries[place].entry, room: room, position: next, change)
        totals[room] = change.number
      }
    }
    // The changes below may be about them.
    try statements.entries.flush()
    for (room, total) in totals {
      try statements.updateChanges.bind(1, room)
      try statements.updateChanges.bind(2, total)
      try statements.updateChanges.run()
    }
    var slice = Leftovers.Slice()
    for redaction in changes.redactions {
      try overwrite(
        redaction.seq, inRoom: redaction.room,
        at: position(of: redaction.seq, inRoom: redaction.room), redaction.body)
      try statements.files.forget(redaction.seq, inRoom: redaction.room)
      _ = try redactEdits(of: redaction.seq, inRoom: redaction.room, after: 0, &slice)
    }
    redactedEdits += slice.edits
    for user in changes.seen {
      try statements.upsertUser.bind(1, user.user)
      try statements.upsertUser.bind(2, user.at)
      try statements.upsertUser.bind(3, user.isOnline ? 1 : 0)
      try statements.upsertUser.run()
    }
    for member in changes.formerMembers {
      try statements.deleteMember.bind(1, member.room)
      try statements.deleteMember.bind(2, member.user)
      try statements.deleteMember.run()
    }
    for member in changes.members {
      try statements.upsertMember.bind(1, member.room)
      try statements.upsertMember.bind(2, member.user)
      try statements.upsertMember.bind(3, member.marks.read)
      try statements.upsertMember.bind(4, member.marks.received)
      try statements.upsertMember.bind(5, member.head)
      try statements.upsertMember.run()
    }
    for (room, rules) in changes.rules { try statements.rules.store(rules, ofRoom: room) }
    if changes.hasRareChanges {
      try statements.blocks.store(changes)
      try statements.files.forget(changes)
    }
    for (room, user, standing) in changes.standings {
      try statements.rules.store(standing, of: user, inRoom: room)
    }
    for trim in changes.trims {
      try statements.updateFirst.bind(1, trim.room)
      try statements.updateFirst.bind(2, trim.first)
      try statements.updateFirst.run()
      try statements.deleteChanges.bind(1, trim.room)
      try statements.deleteChanges.bind(2, trim.first)
      try statements.deleteChanges.run()
      try statements.deleteEdits.bind(1, trim.room)
      try statements.deleteEdits.bind(2, trim.first)
      try statements.deleteEdits.run()
      try statements.files.forget(before: trim.first, inRoom: trim.room)
      try recordTrimmedReactions(ofRoom: trim.room, before: trim.first)
    }
  }

  /// Replaces the content of an entry.
  mutating func overwrite(
    _ seq: Int64, inRoom room: Int64, at position: Int64, _ body: [UInt8]
  ) throws(SQLiteError) {
    try statements.updateBody.bind(1, position)
    try statements.updateBody.bind(2, body)
    try statements.updateBody.run()
    guard database.changes == 1 else { throw Self.missing(seq, room: room) }
  }

  /// Deletes entries in one transaction. Of the last one of the journal an empty row remains: the next
  /// start goes on from its position, which the index has seen.
  mutating func delete(_ slice: Garbage.Slice) throws(SQLiteError) {
    var positions = slice.positions
    do throws(SQLiteError) {
      try statements.begin.run()
      if let last = positions.last, last == position {
        try statements.emptyEntry.bind(1, last)
        try statements.emptyEntry.run()
        positions.removeLast()
      }
      try statements.entries.delete(positions)
      try statements.commit.run()
      if !slice.positions.isEmpty { hasDeleted = true }
    } catch {
      database.rollback()
      throw error
    }
  }
}
