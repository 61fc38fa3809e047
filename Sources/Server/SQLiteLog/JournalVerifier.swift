internal import Moderation
internal import Relay
internal import SQLite
internal import Wire

/// Checks a store's journal in one pass, in commit order. Its memory grows with the number of rooms
/// and members, not of entries.
struct JournalVerifier: ~Copyable {
  struct Room {
    var name: String
    /// The oldest entry that is kept.
    var first: Int64
    /// The last entry before it that is not deleted yet.
    var lastTrimmed: Int64?
    var head: Int64
    var at: Int64 = 0
    var epoch: Int64 = 0
    /// The places that the index should have.
    var indexed = PlaceSum()
    /// Entries that change other entries.
    var changes = PlaceSum()
    /// Entries that name files.
    var named = PlaceSum()
    /// Each sender's last indexed entry; empty if there is no index.
    var senders: [String: Int64] = [:]
  }

  private struct Gap: Hashable {
    var room: Int64
    var seqs: ClosedRange<Int64>
  }

  let database: Database
  var findings = Store.Verification()
  private(set) var rooms: [Int64: Room] = [:]
  private var epochs: Set<Int64> = []
  private var identityKey = EntryIdentity.Key.none
  private var gaps: [Gap] = []
  /// Whether all entries were read: otherwise the index cannot be compared with them.
  private(set) var hasReadAll = false

  init(database: consuming Database) { self.database = database }

  mutating func run(indexedThrough: Int64) throws(SQLiteError) {
    try database.execute("BEGIN")
    try checkStructure()
    try checkEpochs()
    try loadRooms()
    identityKey = try Schema.identityKey(of: database)
    // The other checks read all entries.
    guard try checkPacks() else { return }
    try checkEntries(indexedThrough)
    hasReadAll = true
    try checkIdentities()
    try checkChanges()
    try checkTargets()
    try checkMembers()
    try checkRules()
    try checkDirects()
    try checkFiles()
  }

  private mutating func checkStructure() throws(SQLiteError) {
    for finding in try database.integrityFindings() {
      findings.add("the structure of the file is damaged: \(finding)")
    }
  }

  private mutating func checkEpochs() throws(SQLiteError) {
    var select = try Statement(
      "SELECT number, name, position FROM epochs ORDER BY number", on: database)
    var last: (number: Int64, position: Int64) = (0, 0)
    while try select.step() {
      let (number, position) = (select.integer(0), select.integer(2))
      if number != last.number + 1 {
        findings.add("epoch \(number) follows epoch \(last.number) in the lineage")
      }
      if position < last.position {
        findings.add(
          "epoch \(number) begins at position \(position), before the previous epoch")
      }
      epochs.insert(number)
      last = (number, position)
    }
  }

  private mutating func loadRooms() throws(SQLiteError) {
    var select = try Statement("SELECT number, name, first FROM rooms", on: database)
    while try select.step() {
      let room = Room(
        name: select.text(1), first: select.integer(2), head: select.integer(2) - 1)
      if !RoomName.isValid(room.name) {
        findings.add("the room name is invalid", room: room.name)
      }
      rooms[select.integer(0)] = room
    }
    findings.count.rooms = rooms.count
  }

  /// Checks that each entry can be read, and has its checksum, and that packs do not overlap.
  private mutating func checkPacks() throws(SQLiteError) -> Bool {
    let found = findings.breakCount
    var select = try Statement(
      "SELECT first, content FROM packs ORDER BY first", on: database.connection,
      tolerance: .leavesAndOverflows)
    var last = try database.integer(EntryTable.lastRow)
    while try select.step() {
      let first = select.integer(0)
      if first <= last {
        findings.add("the entries from position \(first) on begin before the end of those before")
      }
      guard let pack = try? select.pack(), case let parts = pack.parts() else {
        findings.add("the entries from position \(first) on are damaged")
        continue
      }
      for part in parts.entries where (try? pack.row(at: part)) == nil {
        let numbers = (try? pack.row(at: part, isChecked: false))?.numbers
        let room = numbers.flatMap { rooms[$0.room]?.name }
        findings.add(
          "the entry at position \(part.position) is damaged", room: room,
          seq: room == nil ? nil : numbers?.seq)
      }
      last = max(last, parts.entries.last?.position ?? first)
      if !parts.rest.isEmpty {
        findings.add("the entries after position \(last), up to the next pack, are damaged")
      }
    }
    return findings.breakCount == found
  }

  private mutating func checkEntries(_ indexedThrough: Int64) throws(SQLiteError) {
    var select = try Statement(
      """
      SELECT seq, at, sender, id, kind, body, room, position, epoch, identity, others, content
      FROM entries ORDER BY position
      """, on: database)
    while try select.step() {
      let (seq, number) = (select.integer(0), select.integer(6))
      // Removed from the dictionary while it is changed, to avoid copying its senders for each
      // entry.
      var room = rooms.removeValue(forKey: number) ?? nameless(number, firstSeq: seq)
      defer { rooms[number] = room }
      // Trimmed; deleted later in the background.
      if seq < room.first {
        room.lastTrimmed = seq
        continue
      }
      findings.count.entries += 1
      checkOrder(select, &room)
      checkContent(select, &room)
      if select.integer(7) <= indexedThrough {
        room.indexed.add(seq: seq, position: select.integer(7))
        room.senders[select.text(2)] = seq
      }
    }
    for (number, room) in rooms where room.head < room.first {
      if gaps.contains(where: { $0.room == number }) { continue }
      // All have gone by their age: the last of them is deleted last.
      let isTrimmed = room.lastTrimmed.map { $0 == room.first - 1 } ?? true
      if isTrimmed, try !hadEntries(number, from: room.first) { continue }
      findings.add(
        "all entries are missing, from \(room.first) on", room: room.name)
    }
    for gap in gaps {
      let last = gap.seqs.upperBound
      let missing = gap.seqs.count == 1 ? "entry is" : "entries up to \(last) are"
      findings.add(
        "the \(missing) missing", room: rooms[gap.room]?.name, seq: gap.seqs.lowerBound)
    }
  }

  /// Whether a member's marks were stored after one of these entries. Without them, a room is stored that
  /// has many members, and one whose entries have all gone by their age.
  private func hadEntries(_ room: Int64, from first: Int64) throws(SQLiteError) -> Bool {
    try database.integer(
      "SELECT EXISTS (SELECT 1 FROM members WHERE room = \(room) AND since >= \(first))") == 1
  }

  private mutating func nameless(_ number: Int64, firstSeq: Int64) -> Room {
    findings.add("room \(number) has entries but no name")
    return Room(name: "#\(number)", first: firstSeq, head: firstSeq - 1)
  }

  private mutating func checkOrder(_ row: borrowing Statement, _ room: inout Room) {
    let (seq, at, epoch) = (row.integer(0), row.integer(1), row.integer(8))
    if !epochs.contains(epoch) {
      findings.add("epoch \(epoch) is not in the lineage", room: room.name, seq: seq)
    }
    if seq <= room.head {
      misplaced(seq, row.integer(6), room)
      return
    }
    if seq > room.head + 1 { gaps.append(Gap(room: row.integer(6), seqs: room.head + 1...seq - 1)) }
    if at < room.at {
      findings.add("the clock goes back from \(room.at) to \(at)", room: room.name, seq: seq)
    }
    if epoch < room.epoch {
      findings.add("the epoch goes back from \(room.epoch) to \(epoch)", room: room.name, seq: seq)
    }
    room.head = seq
    room.at = at
    room.epoch = epoch
  }

  /// Records an entry that was committed after an entry with a greater `seq`.
  private mutating func misplaced(_ seq: Int64, _ number: Int64, _ room: Room) {
    guard let index = gaps.firstIndex(where: { $0.room == number && $0.seqs.contains(seq) })
    else {
      findings.add("the seq is used by two entries", room: room.name, seq: seq)
      return
    }
    findings.add("it was committed after entry \(room.head)", room: room.name, seq: seq)
    let seqs = gaps.remove(at: index).seqs
    if seqs.lowerBound < seq {
      gaps.append(Gap(room: number, seqs: seqs.lowerBound...seq - 1))
    }
    if seqs.upperBound > seq {
      gaps.append(Gap(room: number, seqs: seq + 1...seqs.upperBound))
    }
  }

  private mutating func checkContent(_ row: borrowing Statement, _ known: inout Room) {
    let (seq, sender, id) = (row.integer(0), row.text(2), row.text(3))
    let room = known.name
    let identity = EntryIdentity(room: row.integer(6), sender: sender, id: id, key: identityKey)
    if row.integer(9) != identity.hash {
      findings.add("it cannot be found by its id: the hash does not match", room: room, seq: seq)
    }
    if !(1...seq).contains(row.integer(10)) || !(1...seq).contains(row.integer(11)) {
      findings.add("the entries before it are counted wrongly", room: room, seq: seq)
    }
    if !UserName.isValid(sender) {
      findings.add("the sender's name is invalid", room: room, seq: seq)
    }
    guard let entry = try? row.entry(in: room) else {
      findings.add("the kind \"\(row.text(4))\" is unknown", room: room, seq: seq)
      return
    }
    let json = ServerMessage.message(entry).json
    if (try? Entry(decoding: json.span)) != entry {
      findings.add("the content is invalid", room: room, seq: seq)
    }
    if entry.file != nil { known.named.add(seq: seq, position: 0) }
    if entry.kind.isNotice {
      known.changes.add(seq: 0, position: row.integer(7))
    } else if let target = entry.target, !entry.kind.isContent {
      if target < 1 || target >= seq {
        findings.add("its target is entry \(target), which is not earlier", room: room, seq: seq)
      }
      known.changes.add(seq: target, position: row.integer(7))
    }
  }

  /// Checks that the table `changes` matches the entries.
  private mutating func checkChanges() throws(SQLiteError) {
    var select = try Statement(
      """
      SELECT room, target, position FROM changes JOIN rooms ON rooms.number = changes.room
      WHERE seq >= rooms.first
      """, on: database)
    var sums: [Int64: PlaceSum] = [:]
    while try select.step() {
      sums[select.integer(0), default: PlaceSum()]
        .add(seq: select.integer(1), position: select.integer(2))
    }
    for (number, room) in rooms where sums[number] ?? PlaceSum() != room.changes {
      findings.add(
        "the list of edits, deletions and reactions, which has "
          + "\((sums[number] ?? PlaceSum()).count.counted("entry", "entries")), does not match the journal, which has "
          + "\(room.changes.count)", room: room.name)
    }
  }

  /// Checks that the stored state of changed entries matches the entries that changed them. Rows of
  /// entries that are no longer kept may remain.
  private mutating func checkTargets() throws(SQLiteError) {
    let kept = [
      (
        "edits", Schema.currentEdits,
        """
        SELECT room, target, seq, position FROM edits JOIN rooms ON rooms.number = room
        WHERE seq >= rooms.first
        """
      ),
      (
        "reactions", Schema.currentReactions,
        """
        SELECT room, target, user, emoji, seq FROM reactions JOIN rooms ON rooms.number = room
        WHERE target >= rooms.first
        """
      ),
      (
        "emoji counts",
        "SELECT room, target, emoji, count(*) FROM reactions GROUP BY room, target, emoji",
        "SELECT room, target, emoji, users FROM emoji"
      ),
    ]
    for (what, said, noted) in kept {
      var select = try Statement(
        """
        SELECT room, target FROM (
          SELECT * FROM (\(said)) EXCEPT SELECT * FROM (\(noted)))
        UNION
        SELECT room, target FROM (
          SELECT * FROM (\(noted)) EXCEPT SELECT * FROM (\(said)))
        """, on: database)
      while try select.step() {
        findings.add(
          "the stored \(what) do not match the journal", room: rooms[select.integer(0)]?.name,
          seq: select.integer(1))
      }
    }
  }

  /// SQLite sorts the hashes in temporary files. Equal hashes are rare, so that only their entries
  /// are compared in full.
  private mutating func checkIdentities() throws(SQLiteError) {
    var select = try Statement(
      """
      SELECT room, sender, id, min(seq), max(seq) FROM entries JOIN rooms ON rooms.number = room
      WHERE seq >= rooms.first AND identity IN (
        SELECT identity FROM entries GROUP BY identity HAVING count(*) > 1)
      GROUP BY room, sender, id HAVING count(*) > 1
      """, on: database)
    while try select.step() {
      findings.add(
        "the id \"\(select.text(2))\" of \(select.text(1)) is also used by entry "
          + "\(select.integer(4))",
        room: rooms[select.integer(0)]?.name, seq: select.integer(3))
    }
  }

  /// Checks that what users are in rooms can be read, and is counted. What made it so may be trimmed.
  private mutating func checkRules() throws(SQLiteError) {
    var standings: [Int64: [Standing]] = [:]
    var select = try Statement(
      "SELECT \(RulesStatements.standingColumns), room, user FROM standings", on: database)
    while try select.step() {
      let number = select.integer(5)
      guard let standing = try? select.standing(from: 0, ofRoom: number) else {
        findings.add("the role of \(select.text(6)) is invalid", room: rooms[number]?.name)
        continue
      }
      if standing.since > rooms[number]?.head ?? 0 {
        findings.add(
          "\(select.text(6)) was let in by entry \(standing.since), after the last one",
          room: rooms[number]?.name)
      }
      standings[number, default: []].append(standing)
    }
    var selectRules = try Statement(
      "SELECT \(RulesStatements.columns), room FROM rules", on: database)
    while try selectRules.step() {
      let number = selectRules.integer(4)
      let named = standings.removeValue(forKey: number) ?? []
      guard let rules = try? selectRules.rules(from: 0, ofRoom: number) else {
        findings.add("the settings are invalid", room: rooms[number]?.name)
        continue
      }
      if rules.counts != RoomRules.Counts(named) {
        findings.add(
          "the numbers of owners, members and banned users do not match their list",
          room: rooms[number]?.name)
      }
      if rooms[number] == nil { findings.add("there are settings of a room that does not exist") }
    }
    for number in standings.keys.sorted() {
      findings.add("there are members and no settings", room: rooms[number]?.name)
    }
  }

  /// Checks that what direct rooms have besides their entries can be read, and is within them.
  private mutating func checkDirects() throws(SQLiteError) {
    var select = try Statement("SELECT room, state FROM directs", on: database)
    while try select.step() {
      let room = rooms[select.integer(0)]
      guard let state = DirectState(text: select.text(1)) else {
        findings.add("what is hidden in it is invalid", room: room?.name)
        continue
      }
      for run in state.hidden
      where run.first > (room?.head ?? 0) + 1 || run.last ?? 0 > room?.head ?? 0 {
        findings.add("entries of \(run.sender) are hidden after the last one", room: room?.name)
      }
    }
  }

  private mutating func checkMembers() throws(SQLiteError) {
    var select = try Statement(
      "SELECT room, user, read, received, since FROM members", on: database)
    while try select.step() {
      let (number, user) = (select.integer(0), select.text(1))
      guard let room = rooms[number] else {
        findings.add("\(user) belongs to room \(number), which has no name")
        continue
      }
      for (mark, column) in [("read", 2), ("received", 3), ("marks", 4)] as [(String, Int32)]
      where !(0...max(room.head, 0)).contains(select.integer(column)) {
        findings.add(
          "\(user) has \(mark) up to \(select.integer(column)), but the last entry is \(room.head)",
          room: room.name)
      }
    }
  }
}

/// A checksum of any number of places: their count and a sum that depends on each, so that two
/// files are compared without holding either in memory.
struct PlaceSum: Equatable {
  private(set) var count = 0
  private var sum: UInt64 = 0

  mutating func add(seq: Int64, position: Int64) {
    count += 1
    sum &+= EntryIdentity.mix(
      UInt64(bitPattern: seq) &+ EntryIdentity.mix(UInt64(bitPattern: position)))
  }
}
