internal import CSQLite
internal import Relay
internal import Wire

/// The commit connection, its statements, and how far the log has come.
struct StoreState: ~Copyable {
  var database: Database
  /// The `position` of the last entry.
  var position: Int64
  let epoch: Int64
  private var statements: Statements

  /// Adds this run's line to the lineage.
  init(
    _ database: consuming Database, epochName: String, now: Int64
  ) throws(SQLiteError) {
    let position = try database.integer(
      """
      SELECT max(coalesce((SELECT max(position) FROM entries), 0),
                 coalesce((SELECT max(position) FROM epochs), 0))
      """)
    let epoch = try Self.addEpoch(epochName, position: position, now: now, to: database)
    let statements = try Statements.prepare(on: database, epoch: epoch)
    self.database = database
    self.position = position
    self.epoch = epoch
    self.statements = statements
  }

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
    // The step that finds no further row is the one that commits.
    _ = try insert.step()
    return number
  }

  func lineage() throws(SQLiteError) -> Lineage {
    var select = try Statement("SELECT number, name FROM epochs ORDER BY number", on: database)
    var epochs: [Lineage.Epoch] = []
    while try select.step() {
      epochs.append(Lineage.Epoch(number: select.integer(0), name: select.text(1)))
    }
    return Lineage(epochs)
  }

  mutating func loadRoom(_ name: String) throws(SQLiteError) -> StoredRoom? {
    try statements.selectRoom.bind(1, name)
    defer { statements.selectRoom.reset() }
    guard try statements.selectRoom.step() else { return nil }
    var room = StoredRoom(
      number: statements.selectRoom.integer(0), head: statements.selectRoom.integer(2),
      first: statements.selectRoom.integer(1), lastAt: statements.selectRoom.integer(3),
      members: [:])
    try statements.selectMembers.bind(1, room.number)
    defer { statements.selectMembers.reset() }
    while try statements.selectMembers.step() {
      room.members[statements.selectMembers.text(0)] = MemberMarks(
        read: statements.selectMembers.integer(1), received: statements.selectMembers.integer(2))
    }
    return room
  }

  func nextRoomNumber() throws(SQLiteError) -> Int64 {
    try database.integer("SELECT coalesce(max(number), 0) + 1 FROM rooms")
  }

  mutating func find(
    room: Int64, sender: String, id: String
  ) throws(SQLiteError) -> (seq: Int64, at: Int64)? {
    let identity = EntryIdentity.hash(room: room, sender: sender, id: id)
    try statements.selectIdentity.bind(1, identity)
    try statements.selectIdentity.bind(2, room)
    try statements.selectIdentity.bind(3, sender)
    try statements.selectIdentity.bind(4, id)
    defer { statements.selectIdentity.reset() }
    guard try statements.selectIdentity.step() else { return nil }
    return (statements.selectIdentity.integer(0), statements.selectIdentity.integer(1))
  }

  /// Epochs rise with `seq`, so halving finds the border in some twenty look-ups, where a scan
  /// from the head would hold up the commits.
  mutating func lastSeq(room: Int64, throughEpoch number: Int64) throws(SQLiteError) -> Int64 {
    try statements.selectBounds.bind(1, room)
    defer { statements.selectBounds.reset() }
    guard try statements.selectBounds.step(), !statements.selectBounds.isNull(0) else { return 0 }
    // Every entry before `lower` is of epoch `number` or earlier, every one from `upper` on later.
    let first = statements.selectBounds.integer(0)
    var lower = first
    var upper = statements.selectBounds.integer(1) + 1
    while lower < upper {
      let middle = lower + (upper - lower) / 2
      try statements.selectEpoch.bind(1, room)
      try statements.selectEpoch.bind(2, middle)
      defer { statements.selectEpoch.reset() }
      guard try statements.selectEpoch.step() else {
        throw SQLiteError(
          extendedCode: SQLITE_CORRUPT, message: "room \(room) has no entry \(middle)")
      }
      if statements.selectEpoch.integer(0) <= number { lower = middle + 1 } else { upper = middle }
    }
    return lower == first ? 0 : lower - 1
  }

  mutating func belongings(
    of user: String
  ) throws(SQLiteError) -> [(room: String, read: Int64)] {
    try statements.selectBelongings.bind(1, user)
    defer { statements.selectBelongings.reset() }
    var belongings: [(room: String, read: Int64)] = []
    while try statements.selectBelongings.step() {
      belongings.append(
        (statements.selectBelongings.text(0), statements.selectBelongings.integer(1)))
    }
    return belongings
  }

  /// Stores all of it in one transaction.
  mutating func commit(_ changes: StoreChanges) throws(SQLiteError) {
    let before = position
    do {
      try statements.begin.run()
      try apply(changes)
      try statements.commit.run()
    } catch {
      database.rollback()
      position = before
      throw error
    }
  }

  private mutating func apply(_ changes: StoreChanges) throws(SQLiteError) {
    for room in changes.newRooms {
      try statements.insertRoom.bind(1, room.number)
      try statements.insertRoom.bind(2, room.name)
      try statements.insertRoom.run()
    }
    for (room, entry) in changes.entries { try insert(entry, room: room) }
    for member in changes.formerMembers {
      try statements.deleteMember.bind(1, member.room)
      try statements.deleteMember.bind(2, member.user)
      try statements.deleteMember.run()
    }
    for member in changes.members { try upsert(member) }
    for member in changes.senders { try upsert(member) }
    for trim in changes.trims {
      try statements.deleteEntries.bind(1, trim.room)
      try statements.deleteEntries.bind(2, trim.first)
      try statements.deleteEntries.run()
      try statements.updateFirst.bind(1, trim.room)
      try statements.updateFirst.bind(2, trim.first)
      try statements.updateFirst.run()
    }
  }

  private mutating func insert(_ entry: Entry, room: Int64) throws(SQLiteError) {
    position += 1
    try statements.insertEntry.bind(1, position)
    try statements.insertEntry.bind(2, room)
    try statements.insertEntry.bind(3, entry.seq)
    try statements.insertEntry.bind(5, entry.at)
    try statements.insertEntry.bind(
      6, EntryIdentity.hash(room: room, sender: entry.from, id: entry.id))
    try statements.insertEntry.bind(7, entry.from)
    try statements.insertEntry.bind(8, entry.id)
    try statements.insertEntry.bind(9, entry.kind.rawValue)
    try statements.insertEntry.bind(10, entry.body)
    try statements.insertEntry.run()
  }

  private mutating func upsert(
    _ member: (room: Int64, user: String, marks: MemberMarks)
  ) throws(SQLiteError) {
    try statements.upsertMember.bind(1, member.room)
    try statements.upsertMember.bind(2, member.user)
    try statements.upsertMember.bind(3, member.marks.read)
    try statements.upsertMember.bind(4, member.marks.received)
    try statements.upsertMember.run()
  }

}

extension StoreState {
  /// Prepared once, used for every batch.
  private struct Statements: ~Copyable {
    var begin: Statement
    var commit: Statement
    var selectRoom: Statement
    var selectMembers: Statement
    var selectIdentity: Statement
    var selectBounds: Statement
    var selectEpoch: Statement
    var selectBelongings: Statement
    var insertRoom: Statement
    var insertEntry: Statement
    var upsertMember: Statement
    var deleteMember: Statement
    var deleteEntries: Statement
    var updateFirst: Statement

    static func prepare(
      on database: borrowing Database, epoch: Int64
    ) throws(SQLiteError) -> Statements {
      var insertEntry = try Statement(Schema.insertEntry, on: database)
      // The same for every entry of a run; a binding outlives a reset.
      try insertEntry.bind(4, epoch)
      return Statements(
        begin: try Statement("BEGIN IMMEDIATE", on: database),
        commit: try Statement("COMMIT", on: database),
        selectRoom: try Statement(
          """
          SELECT number, first, coalesce(last.seq, first - 1), coalesce(last.at, 0)
          FROM rooms LEFT JOIN entries AS last ON last.room = number
            AND last.seq = (SELECT max(seq) FROM entries WHERE room = number)
          WHERE name = ?1
          """, on: database),
        selectMembers: try Statement(
          "SELECT user, read, received FROM members WHERE room = ?1", on: database),
        selectIdentity: try Statement(Schema.selectIdentity, on: database),
        // Two subqueries: each is one look-up in the index, where min and max side by side scan it.
        selectBounds: try Statement(
          """
          SELECT (SELECT min(seq) FROM entries WHERE room = ?1),
                 (SELECT max(seq) FROM entries WHERE room = ?1)
          """, on: database),
        selectEpoch: try Statement(
          "SELECT epoch FROM entries WHERE room = ?1 AND seq = ?2", on: database),
        selectBelongings: try Statement(
          """
          SELECT rooms.name, members.read FROM members JOIN rooms ON rooms.number = members.room
          WHERE members.user = ?1 ORDER BY rooms.name
          """, on: database),
        insertRoom: try Statement("INSERT INTO rooms (number, name) VALUES (?1, ?2)", on: database),
        insertEntry: insertEntry,
        upsertMember: try Statement(
          """
          INSERT INTO members (room, user, read, received) VALUES (?1, ?2, ?3, ?4)
          ON CONFLICT DO UPDATE SET read = excluded.read, received = excluded.received
          """, on: database),
        deleteMember: try Statement(
          "DELETE FROM members WHERE room = ?1 AND user = ?2", on: database),
        deleteEntries: try Statement(
          "DELETE FROM entries WHERE room = ?1 AND seq < ?2", on: database),
        updateFirst: try Statement("UPDATE rooms SET first = ?2 WHERE number = ?1", on: database))
    }
  }
}
