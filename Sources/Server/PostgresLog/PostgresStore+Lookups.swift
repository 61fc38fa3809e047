internal import Cluster
package import Moderation
package import Postgres
package import Relay
package import Wire

/// What the sequencer asks for in a transaction.
extension PostgresStore {
  /// What was read ahead for the current batch.
  struct LookedUp {
    var rooms: [String: StoredRoom?] = [:]
    var identities: [EntryIdentity: [(room: Int64, entry: Entry)]] = [:]
    var runs: [Int64: [Int64: ContentRun]] = [:]
  }

  /// Runs statements that only read.
  private func read(_ calls: PostgresCall...) throws(StoreFailure) -> [PostgresRows] {
    if let failure = state.failure { throw failure }
    do throws(DatabaseFailure) { return try run(calls) } catch { throw fail(error, "read") }
  }

  package func read(_ call: PostgresCall) throws(StoreFailure) -> PostgresRows {
    let rows: [PostgresRows] = try read(call)
    return rows[0]
  }

  /// Reads rooms, each with all of its members, and keeps them for `loadRoom`.
  package func lookUp(rooms names: [String]) throws(StoreFailure) {
    guard !names.isEmpty else { return }
    let found = try read(
      Statements.selectRooms(.texts(names)), Statements.selectMembers(.texts(names)))
    for name in names { lookedUp.rooms.updateValue(nil, forKey: name) }
    var byNumber: [Int64: (name: String, room: StoredRoom)] = [:]
    for row in 0..<found[0].count {
      var room = found[0].room(row)
      room.rules = try found[0].rules(row, from: 12)
      room.direct = try found[0].direct(row, 16)
      byNumber[room.number] = (found[0].text(row, 1), room)
    }
    for row in 0..<found[1].count {
      let number = found[1].int(row, 0)
      let user = found[1].text(row, 1)
      guard let room = byNumber[number]?.room else { continue }
      byNumber[number]?.room.members[user] = found[1].marks(row, from: 2, of: user, in: room)
    }
    for (name, room) in byNumber.values { lookedUp.rooms[name] = .some(room) }
  }

  func remember(_ identities: [EntryIdentity], _ rows: PostgresRows) {
    for identity in identities { lookedUp.identities[identity] = [] }
    for row in 0..<rows.count {
      lookedUp.identities[EntryIdentity(hash: rows.int(row, 0)), default: []].append(
        (rows.int(row, 1), rows.entry(row, in: "", from: 2)))
    }
  }

  package func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    // A room changes with the batch: what was looked up is good for one use.
    if let known = lookedUp.rooms.removeValue(forKey: name) { return known }
    try lookUp(rooms: [name])
    return lookedUp.rooms.removeValue(forKey: name) ?? nil
  }

  package func nextRoomNumber() throws(StoreFailure) -> Int64 { lastRoom + 1 }

  package func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    if lookedUp.identities[identity] == nil {
      remember([identity], try read(Statements.selectIdentities(.ints([identity.hash]))))
    }
    let found = lookedUp.identities[identity]?.first {
      $0.room == room && $0.entry.from == sender && $0.entry.id == id
    }
    var entry = found?.entry
    entry?.room = name
    return entry
  }

  package func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    try read(Statements.selectRoomEpochs(.int(room))).lastEntry(throughEpoch: number)
  }

  package func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    let rows = try read(Statements.selectEntry(.int(number), .int(seq)))
    return rows.isEmpty ? nil : rows.entry(0, in: room)
  }

  package func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    let rows = try read(Statements.selectLastEdit(.int(number), .int(target), .int(seq)))
    return rows.isEmpty ? nil : rows.entry(0, in: room)
  }

  package func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    Int(
      try read(Statements.countEdits(.int(number), .int(target), .int(Int64(limit)))).int(0, 0))
  }

  package func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    let (room, target, limit) = (
      PostgresValue.int(number), PostgresValue.int(target), PostgresValue.int(Int64(limit))
    )
    let rows = try read(
      user.map { Statements.selectOwnEmoji(room, target, limit, .text($0)) }
        ?? Statements.selectEmoji(room, target, limit))
    return Set((0..<rows.count).map { rows.text($0, 0) })
  }

  package func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    // The total is that of all nodes: with the commit lock held, the same as here.
    min(total, try read(Statements.countChanges(.int(number), .int(seq))).int(0, 0))
  }

  /// How many runs are read at once.
  private static let runsAtOnce: Int64 = 64

  package func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    if let known = lookedUp.runs[number]?[seq] { return known }
    let rows = try read(
      Statements.selectRuns(.int(number), .int(seq), .int(Self.runsAtOnce)))
    guard !rows.isEmpty else { return nil }
    for row in 0..<rows.count {
      let run = ContentRun(
        last: rows.int(row, 0), sender: rows.text(row, 1), others: rows.int(row, 2))
      lookedUp.runs[number, default: [:]][run.last] = run
    }
    return ContentRun(last: rows.int(0, 0), sender: rows.text(0, 1), others: rows.int(0, 2))
  }

  package func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    let rows = try read(
      Statements.selectMemberships(.text(user), .int(number), .int(Int64(limit))))
    var memberships: [StoredMembership] = []
    for row in 0..<rows.count { memberships.append(try rows.membership(row, of: user)) }
    return memberships
  }

  package func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    let rows = try read(Statements.selectMembership(.text(user), .text(name)))
    return rows.isEmpty ? nil : try rows.membership(0, of: user)
  }

  package func standing(
    of user: String, inRoom number: Int64
  ) throws(StoreFailure) -> Standing {
    try read(Statements.selectStanding(.int(number), .text(user))).standing()
  }

  package func blocks() throws(StoreFailure) -> BlockTable {
    try read(Statements.selectBlocks()).blocks
  }

  package func bans() throws(StoreFailure) -> [BanChange] {
    try read(Statements.selectBans()).bans
  }

  package func copies(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [Int64] {
    try read(
      Statements.selectCopies(.int(number), .int(seqs.lowerBound), .int(seqs.upperBound))
    ).integers
  }

  package func copies(before at: Int64, limit: Int) throws(StoreFailure) -> [Int64] {
    try read(Statements.selectOldCopies(.int(at), .int(Int64(limit)))).integers
  }

  package func members(ofRoom number: Int64, limit: Int) throws(StoreFailure) -> [String] {
    let rows = try read(Statements.selectMemberNames(.int(number), .int(Int64(limit))))
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  package func membershipCount(of user: String) throws(StoreFailure) -> Int {
    Int(try read(Statements.countMemberships(.text(user))).int(0, 0))
  }
}
