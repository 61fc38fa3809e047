internal import CSQLite
internal import Moderation
internal import Relay
internal import SQLite
internal import Wire

/// The rooms that users belong to.
extension StoreState {
  mutating func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(SQLiteError) -> [StoredMembership] {
    try statements.selectMemberships.bind(1, user)
    try statements.selectMemberships.bind(2, number)
    try statements.selectMemberships.bind(3, Int64(limit))
    defer { statements.selectMemberships.reset() }
    var memberships: [StoredMembership] = []
    var stored: [StoredMember?] = []
    while try statements.selectMemberships.step() {
      let (membership, member) = try Self.membership(statements.selectMemberships)
      memberships.append(membership)
      stored.append(member)
    }
    for index in memberships.indices {
      try complete(&memberships[index], stored[index], of: user)
    }
    return memberships
  }

  mutating func membership(
    of user: String, toRoom name: String
  ) throws(SQLiteError) -> StoredMembership? {
    try statements.selectMembership.bind(1, user)
    try statements.selectMembership.bind(2, name)
    defer { statements.selectMembership.reset() }
    guard try statements.selectMembership.step() else { return nil }
    var (membership, stored) = try Self.membership(statements.selectMembership)
    try complete(&membership, stored, of: user)
    return membership
  }

  /// A member's row.
  struct StoredMember {
    var marks: MemberMarks
    var since: Int64

    /// - Parameter column: that of `read`, which `received` and `since` follow.
    init(_ row: borrowing Statement, from column: Int32) {
      marks = MemberMarks(read: row.integer(column), received: row.integer(column + 1))
      since = row.integer(column + 2)
    }
  }

  /// Returns the marks of a member, which include the member's own sends.
  mutating func marks(
    _ stored: StoredMember, of user: String, _ room: Int64, head: Int64, _ last: LastSenders
  ) throws(SQLiteError) -> MemberMarks {
    var marks = stored.marks
    var sent = tail.lastSeq(of: user, inRoom: room)
    if sent == nil { sent = try index.lastSeq(of: user, inRoom: room) }
    marks.sent = sent ?? 0
    return marks.current(of: user, since: stored.since, head: head, last)
  }

  private static func membership(
    _ row: borrowing Statement
  ) throws(SQLiteError) -> (StoredMembership, StoredMember?) {
    let first = row.integer(1)
    var membership = StoredMembership(
      number: row.integer(0), room: row.text(3), head: first - 1, first: first, lastAt: 0,
      changes: row.integer(2), marks: nil)
    membership.direct = try row.direct(7, ofRoom: membership.number)
    guard !row.isNull(4) else { return (membership, nil) }
    return (membership, StoredMember(row, from: 4))
  }

  /// Adds the state of the room, and what follows from it for the user's marks.
  private mutating func complete(
    _ membership: inout StoredMembership, _ stored: StoredMember?, of user: String
  ) throws(SQLiteError) {
    let room = membership.number
    var last = LastSenders()
    if let head = try head(of: room), head.seq >= membership.first {
      let row = try sender(ofEntry: head.seq, at: head.position, room)
      membership.head = head.seq
      membership.lastAt = row.at
      last.sender = row.sender
      last.others = row.others
    }
    if let stored {
      membership.marks = try marks(stored, of: user, room, head: membership.head, last)
    }
  }

  // MARK: - The members of a room

  mutating func loadMembers(of room: inout StoredRoom, named name: String) throws(SQLiteError) {
    try statements.selectMembers.bind(1, room.number)
    try statements.selectMembers.bind(2, Int64(StoredRoom.membersLimit) + 1)
    defer { statements.selectMembers.reset() }
    var members: [(user: String, stored: StoredMember)] = []
    while try statements.selectMembers.step() {
      members.append(
        (statements.selectMembers.text(0), StoredMember(statements.selectMembers, from: 1)))
    }
    if members.count <= StoredRoom.membersLimit {
      for (user, stored) in members {
        room.members[user] = try marks(stored, of: user, room.number, head: room.head, room.last)
      }
      return
    }
    room.members[room.last.sender] = try membership(of: room.last.sender, toRoom: name)?.marks
    try statements.countMembers.bind(1, room.number)
    defer { statements.countMembers.reset() }
    guard try statements.countMembers.step() else { return }
    room.otherMembers = Int(statements.countMembers.integer(0)) - room.members.count
  }

  mutating func standing(
    of user: String, inRoom number: Int64
  ) throws(SQLiteError) -> Standing {
    try statements.rules.standing(of: user, inRoom: number)
  }

  mutating func members(ofRoom number: Int64, limit: Int) throws(SQLiteError) -> [String] {
    try statements.selectMembers.bind(1, number)
    try statements.selectMembers.bind(2, Int64(limit))
    defer { statements.selectMembers.reset() }
    var users: [String] = []
    while try statements.selectMembers.step() { users.append(statements.selectMembers.text(0)) }
    return users
  }

  // MARK: - Senders

  /// An entry's time, sender, and `StoreChanges.NewEntry.others` and `content`.
  struct SenderRow {
    var at: Int64
    var sender: String
    var isContent: Bool
    var others: Int64
    var content: Int64
  }

  mutating func sender(
    ofEntry seq: Int64, at position: Int64, _ room: Int64
  ) throws(SQLiteError) -> SenderRow {
    try statements.selectLast.bind(1, position)
    defer { statements.selectLast.reset() }
    guard try statements.selectLast.step() else { throw Self.missing(seq, room: room) }
    // Damaged: as if it had no sender, and said nothing of the entries before it.
    guard statements.selectLast.integer(5) == 1 else {
      return SenderRow(at: 0, sender: "", isContent: false, others: seq - 1, content: seq - 1)
    }
    return SenderRow(
      at: statements.selectLast.integer(0), sender: statements.selectLast.text(1),
      isContent: EntryKind(rawValue: statements.selectLast.text(2)).isContent,
      others: max(0, seq - max(1, statements.selectLast.integer(3))),
      content: max(0, seq - max(1, statements.selectLast.integer(4))))
  }

  /// Returns the position of an entry; `nil` if it is no longer kept.
  private mutating func positionIfKept(
    of seq: Int64, inRoom room: Int64
  ) throws(SQLiteError) -> Int64? {
    try statements.selectFirst.bind(1, room)
    defer { statements.selectFirst.reset() }
    guard try statements.selectFirst.step(), seq >= statements.selectFirst.integer(0) else {
      return nil
    }
    return try position(of: seq, inRoom: room)
  }

  /// How many changes of an older version, each of which only leads to the entry before it, are
  /// read to find the content before them.
  private static let olderChangesLimit = 1024

  mutating func contentRun(
    endingAt seq: Int64, inRoom room: Int64
  ) throws(SQLiteError) -> ContentRun? {
    var seq = seq
    for _ in 0..<Self.olderChangesLimit where seq > 0 {
      guard let position = try positionIfKept(of: seq, inRoom: room) else { return nil }
      let row = try sender(ofEntry: seq, at: position, room)
      if row.isContent { return ContentRun(last: seq, sender: row.sender, others: row.content) }
      seq = row.content
    }
    return nil
  }

  mutating func membershipCount(of user: String) throws(SQLiteError) -> Int {
    try statements.countMemberships.bind(1, user)
    defer { statements.countMemberships.reset() }
    return try statements.countMemberships.step()
      ? Int(clamping: statements.countMemberships.integer(0)) : 0
  }
}
