internal import CSQLite
internal import Relay
internal import SQLite
internal import Wire

/// Which rooms users belong to.
extension StoreState {
  mutating func belongings(
    of user: String, after number: Int64, limit: Int
  ) throws(SQLiteError) -> [StoredBelonging] {
    try statements.selectBelongings.bind(1, user)
    try statements.selectBelongings.bind(2, number)
    try statements.selectBelongings.bind(3, Int64(limit))
    defer { statements.selectBelongings.reset() }
    var belongings: [StoredBelonging] = []
    var stored: [StoredMember?] = []
    while try statements.selectBelongings.step() {
      let (belonging, member) = Self.belonging(statements.selectBelongings)
      belongings.append(belonging)
      stored.append(member)
    }
    for index in belongings.indices {
      try complete(&belongings[index], stored[index], of: user)
    }
    return belongings
  }

  mutating func belonging(
    of user: String, toRoom name: String
  ) throws(SQLiteError) -> StoredBelonging? {
    try statements.selectBelonging.bind(1, user)
    try statements.selectBelonging.bind(2, name)
    defer { statements.selectBelonging.reset() }
    guard try statements.selectBelonging.step() else { return nil }
    var (belonging, stored) = Self.belonging(statements.selectBelonging)
    try complete(&belonging, stored, of: user)
    return belonging
  }

  /// A member's row.
  private struct StoredMember {
    var marks: MemberMarks
    var since: Int64
  }

  private static func belonging(
    _ row: borrowing Statement
  ) -> (StoredBelonging, StoredMember?) {
    let first = row.integer(1)
    let belonging = StoredBelonging(
      number: row.integer(0), room: row.text(3), head: first - 1, first: first, lastAt: 0,
      changes: row.integer(2), marks: nil)
    guard !row.isNull(4) else { return (belonging, nil) }
    return (
      belonging,
      StoredMember(
        marks: MemberMarks(read: row.integer(4), received: row.integer(5)), since: row.integer(6))
    )
  }

  /// Adds what follows from the entries.
  private mutating func complete(
    _ belonging: inout StoredBelonging, _ stored: StoredMember?, of user: String
  ) throws(SQLiteError) {
    let room = belonging.number
    if let head = try head(of: room) {
      belonging.head = head.seq
      belonging.lastAt = try time(ofLast: head, room)
    }
    guard let stored else { return }
    belonging.marks = stored.marks
    // What a member has sent counts as read.
    var sent = tail.lastSeq(of: user, inRoom: room)
    if sent == nil { sent = try index.lastSeq(of: user, inRoom: room) }
    if let sent, sent > stored.since {
      belonging.marks?.read = max(stored.marks.read, sent)
      belonging.marks?.received = max(stored.marks.received, sent)
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

  mutating func belongingCount(of user: String) throws(SQLiteError) -> Int {
    try statements.countBelongings.bind(1, user)
    defer { statements.countBelongings.reset() }
    return try statements.countBelongings.step()
      ? Int(clamping: statements.countBelongings.integer(0)) : 0
  }
}
