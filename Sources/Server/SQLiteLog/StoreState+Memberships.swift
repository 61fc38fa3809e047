internal import CSQLite
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
      let (membership, member) = Self.membership(statements.selectMemberships)
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
    var (membership, stored) = Self.membership(statements.selectMembership)
    try complete(&membership, stored, of: user)
    return membership
  }

  /// A member's row.
  private struct StoredMember {
    var marks: MemberMarks
    var since: Int64
  }

  private static func membership(
    _ row: borrowing Statement
  ) -> (StoredMembership, StoredMember?) {
    let first = row.integer(1)
    let membership = StoredMembership(
      number: row.integer(0), room: row.text(3), head: first - 1, first: first, lastAt: 0,
      changes: row.integer(2), marks: nil)
    guard !row.isNull(4) else { return (membership, nil) }
    return (
      membership,
      StoredMember(
        marks: MemberMarks(read: row.integer(4), received: row.integer(5)), since: row.integer(6))
    )
  }

  /// Adds the read mark that follows from the user's own entries.
  private mutating func complete(
    _ membership: inout StoredMembership, _ stored: StoredMember?, of user: String
  ) throws(SQLiteError) {
    let room = membership.number
    if let head = try head(of: room) {
      membership.head = head.seq
      membership.lastAt = try time(ofLast: head, room)
    }
    guard let stored else { return }
    membership.marks = stored.marks
    // A member's own entries count as read.
    var sent = tail.lastSeq(of: user, inRoom: room)
    if sent == nil { sent = try index.lastSeq(of: user, inRoom: room) }
    if let sent, sent > stored.since {
      membership.marks?.read = max(stored.marks.read, sent)
      membership.marks?.received = max(stored.marks.received, sent)
    }
  }

  mutating func time(
    ofLast head: (seq: Int64, position: Int64), _ room: Int64
  ) throws(SQLiteError) -> Int64 {
    try statements.selectTime.bind(1, head.position)
    defer { statements.selectTime.reset() }
    guard try statements.selectTime.step() else { throw Self.missing(head.seq, room: room) }
    return statements.selectTime.integer(0)
  }

  mutating func membershipCount(of user: String) throws(SQLiteError) -> Int {
    try statements.countMemberships.bind(1, user)
    defer { statements.countMemberships.reset() }
    return try statements.countMemberships.step()
      ? Int(clamping: statements.countMemberships.integer(0)) : 0
  }
}
