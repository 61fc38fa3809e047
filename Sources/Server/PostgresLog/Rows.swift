internal import Moderation
internal import Postgres
internal import Relay
internal import Wire

/// Rows as values of the relay.
extension PostgresRows {
  /// - Parameter column: that of `seq`, before `at`, `sender`, `id`, `kind` and `body`.
  func entry(_ row: Int, in room: String, from column: Int = 0) -> Entry {
    Entry(
      room: room, seq: int(row, column), id: text(row, column + 3), from: text(row, column + 2),
      at: int(row, column + 1), kind: EntryKind(rawValue: text(row, column + 4)),
      body: byteString(row, column + 5))
  }

  /// Returns a room, without its members, from `Statements.roomColumns`.
  func room(_ row: Int) -> StoredRoom {
    let first = int(row, 2)
    var room = StoredRoom(
      number: int(row, 0), head: first - 1, first: first, lastAt: 0, members: [:],
      changes: int(row, 11))
    guard !isNull(row, 3) else { return room }
    room.head = int(row, 3)
    room.lastAt = int(row, 4)
    room.last.sender = text(row, 5)
    room.last.others = int(row, 6)
    room.last.content =
      isNull(row, 7)
      ? ContentRun(last: int(row, 10))
      : ContentRun(last: int(row, 7), sender: text(row, 8), others: int(row, 9))
    return room
  }

  /// Returns the rules of a room from `Statements.ruleColumns`; `nil` if it has none.
  /// - Throws: if they are invalid.
  func rules(_ row: Int, from column: Int) throws(StoreFailure) -> RoomRules? {
    if isNull(row, column) { return nil }
    let counts = RoomRules.Counts(
      owners: Int(int(row, column + 1)), members: Int(int(row, column + 2)),
      barred: Int(int(row, column + 3)))
    guard let rules = RoomRules(settings: byteString(row, column), counts) else {
      throw StoreFailure("the settings of a room are invalid; run `relay verify` for details")
    }
    return rules
  }

  /// Returns what a direct room has; empty if the column is `NULL`.
  /// - Throws: if it is invalid.
  func direct(_ row: Int, _ column: Int) throws(StoreFailure) -> DirectState {
    if isNull(row, column) { return DirectState() }
    guard let state = DirectState(text: text(row, column)) else {
      throw StoreFailure("the state of a direct room is invalid; run `relay verify` for details")
    }
    return state
  }

  /// Returns blocks from `Statements.selectBlocks`.
  var blocks: BlockTable {
    var blocks = BlockTable()
    for row in 0..<count { blocks.apply(block(row)) }
    return blocks
  }

  func block(_ row: Int) -> BlockChange {
    BlockChange(user: text(row, 0), blocked: text(row, 1), at: int(row, 2))
  }

  /// Returns bans from `Statements.selectBans`.
  var bans: [BanChange] { (0..<count).map(ban) }

  func ban(_ row: Int) -> BanChange {
    BanChange(user: text(row, 0), isBanned: true, until: int(row, 1) == 0 ? nil : int(row, 1))
  }

  /// The first column.
  var integers: [Int64] { (0..<count).map { int($0, 0) } }

  /// Returns what a user is in a room, from `Statements.selectStanding`.
  /// - Throws: if it is invalid.
  func standing() throws(StoreFailure) -> Standing { isEmpty ? .unnamed : try standing(0) }

  func standing(_ row: Int) throws(StoreFailure) -> Standing {
    guard
      let standing = Standing(
        role: text(row, 0), ban: int(row, 1), mute: int(row, 2), since: int(row, 3),
        inviter: text(row, 4))
    else {
      throw StoreFailure("the role of a user is invalid; run `relay verify` for details")
    }
    return standing
  }

  /// Returns the marks of a member.
  /// - Parameter column: that of `read`, before `received` and `since`.
  func marks(_ row: Int, from column: Int, of user: String, in room: StoredRoom) -> MemberMarks {
    // Who sent which entry is not looked up: no member has sent a later one than the last.
    let marks = MemberMarks(
      read: int(row, column), received: int(row, column + 1), sent: room.head)
    return marks.current(of: user, since: int(row, column + 2), head: room.head, room.last)
  }

  /// Returns a room with the membership of a user.
  /// - Throws: if a part of it is invalid.
  func membership(_ row: Int, of user: String) throws(StoreFailure) -> StoredMembership {
    let room = room(row)
    var membership = StoredMembership(
      number: room.number, room: text(row, 1), head: room.head, first: room.first,
      lastAt: room.lastAt, changes: room.changes,
      marks: isNull(row, 12) ? nil : marks(row, from: 12, of: user, in: room))
    membership.direct = try direct(row, 15)
    return membership
  }

  /// Returns the last entry of an epoch or of one before it, from `Statements.selectRoomEpochs`.
  func lastEntry(throughEpoch number: Int64) -> (seq: Int64, epoch: Int64)? {
    guard let row = (0..<count).last(where: { int($0, 0) <= number }) else { return nil }
    let seq = row + 1 < count ? int(row + 1, 1) : int(row, 2)
    return seq < int(row, 3) ? nil : (seq, int(row, 0))
  }
}
