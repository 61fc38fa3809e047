internal import CSQLite
internal import Relay
internal import SQLite
internal import Wire

extension SQLiteReader {
  /// What is read with: statements on a connection of their own.
  struct State: ~Copyable {
    let tail: Tail
    var database: Database
    var index: IndexReader
    var begin: Statement
    var end: Statement
    var selectNumber: Statement
    var selectFirst: Statement
    var selectRules: Statement
    var selectStanding: Statement
    var selectDirect: Statement
    var selectReports: Statement
    var selectFirstNotice: Statement
    var selectLastNotice: Statement
    var selectEntries: Statement
    var selectEpoch: Statement
    var selectTarget: Statement
    var selectEmoji: Statement
    var selectUsers: Statement
    var selectTotal: Statement
    var targets: TargetStatements
    var selectRedactions: Statement
    var selectSeen: Statement
    var selectNames: Statement
    var files: FileLookups
    /// Deleted texts of the current room whose edits are not all overwritten yet.
    var redacted: Set<Int64> = []

    static func prepare(
      _ tail: Tail, _ database: consuming Database, _ index: consuming IndexReader
    ) throws(SQLiteError) -> State {
      // Catch-up reads each page once, in order, so a larger cache would only cost memory.
      try database.execute("PRAGMA cache_size = -256")
      let begin = try Statement("BEGIN", on: database)
      let end = try Statement("COMMIT", on: database)
      let selectNumber = try Statement("SELECT number FROM rooms WHERE name = ?1", on: database)
      let selectFirst = try Statement("SELECT first FROM rooms WHERE number = ?1", on: database)
      let selectRules = try Statement(
        "SELECT \(RulesStatements.columns) FROM rules WHERE room = ?1", on: database)
      let selectStanding = try Statement(RulesStatements.selectStandingText, on: database)
      let selectDirect = try Statement("SELECT state FROM directs WHERE room = ?1", on: database)
      let selectReports = try Statement(
        "SELECT report FROM reports WHERE room = ?1 ORDER BY report DESC LIMIT ?2", on: database)
      let selectNotice =
        "SELECT seq FROM changes WHERE room = ?1 AND target = 0 AND seq BETWEEN ?2 AND ?3 ORDER BY seq"
      let selectFirstNotice = try Statement("\(selectNotice) LIMIT 1", on: database)
      let selectLastNotice = try Statement("\(selectNotice) DESC LIMIT 1", on: database)
      let selectEntries = try Statement(
        """
        SELECT seq, at, sender, id, kind, body, position, room FROM entries WHERE position >= ?1
        ORDER BY position
        """, on: database)
      let selectEpoch = try Statement(
        "SELECT epoch FROM entries WHERE position = ?1", on: database)
      let selectTarget = try Statement(
        """
        SELECT target FROM changes WHERE room = ?1 AND target BETWEEN ?2 AND ?3
        ORDER BY target LIMIT 1
        """, on: database)
      let selectEmoji = try Statement(
        """
        SELECT emoji, users, (
          SELECT seq FROM reactions
          WHERE room = ?1 AND target = ?2 AND reactions.emoji = first.emoji ORDER BY seq LIMIT 1)
        FROM (SELECT emoji, users FROM emoji WHERE room = ?1 AND target = ?2
          ORDER BY emoji LIMIT \(Reaction.emojiLimit)) AS first
        ORDER BY 3
        """, on: database)
      let selectUsers = try Statement(
        """
        SELECT user, seq FROM reactions WHERE room = ?1 AND target = ?2 AND emoji = ?3 ORDER BY seq
        """, on: database)
      let selectTotal = try Statement("SELECT changes FROM rooms WHERE number = ?1", on: database)
      let targets = try TargetStatements.prepare(on: database)
      let selectRedactions = try Statement(
        "SELECT target FROM redactions WHERE room = ?1", on: database)
      let selectSeen = try Statement("SELECT seen FROM users WHERE name = ?1", on: database)
      let selectNames = try Statement(
        "SELECT name FROM users WHERE name > ?1 ORDER BY name LIMIT ?2", on: database)
      let files = try FileLookups.prepare(on: database)
      return State(
        tail: tail, database: database, index: index, begin: begin, end: end,
        selectNumber: selectNumber, selectFirst: selectFirst, selectRules: selectRules,
        selectStanding: selectStanding, selectDirect: selectDirect, selectReports: selectReports,
        selectFirstNotice: selectFirstNotice,
        selectLastNotice: selectLastNotice, selectEntries: selectEntries,
        selectEpoch: selectEpoch, selectTarget: selectTarget, selectEmoji: selectEmoji,
        selectUsers: selectUsers,
        selectTotal: selectTotal, targets: targets, selectRedactions: selectRedactions,
        selectSeen: selectSeen, selectNames: selectNames,
        files: files)
    }
  }
}

extension SQLiteReader.State {
  mutating func endReading() {
    if database.isInTransaction, (try? end.run()) == nil { database.rollback() }
  }

  /// Returns the oldest kept entry of a room.
  mutating func first(ofRoom number: Int64) throws(SQLiteError) -> Int64 {
    try selectFirst.bind(1, number)
    defer { selectFirst.reset() }
    return try selectFirst.step() ? selectFirst.integer(0) : 0
  }

  /// Asks the tail before the journal: every entry in the tail is in a journal transaction begun
  /// later.
  mutating func room(_ name: String) throws(SQLiteError) -> ReadableRoom? {
    endReading()
    try selectNumber.bind(1, name)
    defer { selectNumber.reset() }
    guard try selectNumber.step() else { return nil }
    let number = selectNumber.integer(0)
    selectNumber.reset()
    var head = tail.head(of: number)?.seq
    if head == nil { head = try index.head(of: number)?.seq }
    try begin.run()
    try selectFirst.bind(1, number)
    defer { selectFirst.reset() }
    _ = try selectFirst.step()
    let first = selectFirst.integer(0)
    try loadRedactions(ofRoom: number)
    try selectRules.bind(1, number)
    defer { selectRules.reset() }
    let rules = try selectRules.step() ? try selectRules.rules(from: 0, ofRoom: number) : nil
    var room = ReadableRoom(
      number: number, first: first, head: max(head ?? 0, first - 1), rules: rules)
    if RoomName.isDirect(name) {
      try selectDirect.bind(1, number)
      defer { selectDirect.reset() }
      if try selectDirect.step() { room.direct = try selectDirect.direct(0, ofRoom: number) }
    }
    return room
  }

  mutating func reports(ofRoom number: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
    try selectReports.bind(1, number)
    try selectReports.bind(2, Int64(limit))
    return try selectReports.integers()
  }

  mutating func notice(
    inRoom number: Int64, in seqs: ClosedRange<Int64>, last: Bool
  ) throws(SQLiteError) -> Int64? {
    func read(_ statement: inout Statement) throws(SQLiteError) -> Int64? {
      try statement.bind(1, number)
      try statement.bind(2, seqs.lowerBound)
      try statement.bind(3, seqs.upperBound)
      defer { statement.reset() }
      return try statement.step() ? statement.integer(0) : nil
    }
    return last ? try read(&selectLastNotice) : try read(&selectFirstNotice)
  }

  /// Returns the places of all these entries, in order.
  mutating func places(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>
  ) throws(SQLiteError) -> [Place] {
    let unindexed = tail.places(ofRoom: room, in: seqs)
    var places: [Place] = []
    let first = unindexed.first?.seq ?? seqs.upperBound + 1
    if first > seqs.lowerBound {
      places = try index.places(ofRoom: room, in: seqs.lowerBound...first - 1)
    }
    places += unindexed
    guard places.count == seqs.count else {
      throw StoreState.missing(seqs.lowerBound, room: room)
    }
    return places
  }

  mutating func lastSeq(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>, throughEpoch number: Int64
  ) throws(SQLiteError) -> Int64? {
    try StoreState.lastEntry(in: seqs, throughEpoch: number) { (seq) throws(SQLiteError) in
      let place = try places(ofRoom: room, in: seq...seq)[0]
      try selectEpoch.bind(1, place.position)
      defer { selectEpoch.reset() }
      guard try selectEpoch.step() else { throw StoreState.missing(seq, room: room) }
      return selectEpoch.integer(0)
    }?.seq
  }

  mutating func changes(inRoom number: Int64, through seq: Int64) throws(SQLiteError) -> Int64 {
    if let changes = try targets.changes(inRoom: number, through: seq) { return changes }
    try selectTotal.bind(1, number)
    defer { selectTotal.reset() }
    return try selectTotal.step() ? selectTotal.integer(0) : 0
  }

  mutating func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(SQLiteError) -> Int64? {
    try selectTarget.bind(1, number)
    try selectTarget.bind(2, seqs.lowerBound)
    try selectTarget.bind(3, seqs.upperBound)
    defer { selectTarget.reset() }
    return try selectTarget.step() ? selectTarget.integer(0) : nil
  }

  mutating func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(SQLiteError) -> [(emoji: String, users: Int64)] {
    try selectEmoji.bind(1, number)
    try selectEmoji.bind(2, target)
    defer { selectEmoji.reset() }
    var reactions: [(emoji: String, users: Int64)] = []
    while try selectEmoji.step() { reactions.append((selectEmoji.text(0), selectEmoji.integer(1))) }
    return reactions
  }

  mutating func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64,
    _ body: (_ user: String, _ seq: Int64) -> Bool
  ) throws(SQLiteError) {
    try selectUsers.bind(1, number)
    try selectUsers.bind(2, target)
    try selectUsers.bind(3, emoji)
    defer { selectUsers.reset() }
    while try selectUsers.step() {
      guard body(selectUsers.text(0), selectUsers.integer(1)) else { return }
    }
  }

  /// Loads the deleted texts of a room whose edits this transaction still sees with content.
  private mutating func loadRedactions(ofRoom number: Int64) throws(SQLiteError) {
    redacted.removeAll()
    try selectRedactions.bind(1, number)
    defer { selectRedactions.reset() }
    while try selectRedactions.step() { redacted.insert(selectRedactions.integer(0)) }
  }

  mutating func lastSeen(_ user: String) throws(SQLiteError) -> Int64? {
    try selectSeen.bind(1, user)
    defer { selectSeen.reset() }
    return try selectSeen.step() ? selectSeen.integer(0) : nil
  }

  mutating func users(after user: String, limit: Int) throws(SQLiteError) -> [String] {
    try selectNames.bind(1, user)
    try selectNames.bind(2, Int64(limit))
    defer { selectNames.reset() }
    var users: [String] = []
    while try selectNames.step() { users.append(selectNames.text(0)) }
    return users
  }

  /// - Returns: whether the caller wants more.
  mutating func forEachEntry(
    at places: [Place], ofRoom number: Int64, named room: String, _ body: (Entry) -> Bool
  ) throws(SQLiteError) -> Bool {
    defer { selectEntries.reset() }
    var reached: Int64?
    for place in places {
      // Steps over up to a few entries of other rooms instead of seeking.
      while let position = reached, position < place.position, place.position - position <= 4 {
        reached = try selectEntries.step() ? selectEntries.integer(6) : nil
      }
      if reached != place.position {
        selectEntries.reset()
        try selectEntries.bind(1, place.position)
        guard try selectEntries.step() else { throw StoreState.missing(place.seq, room: number) }
        reached = selectEntries.integer(6)
      }
      guard reached == place.position, selectEntries.integer(7) == number,
        selectEntries.integer(0) == place.seq
      else { throw StoreState.missing(place.seq, room: number) }
      var entry = try selectEntries.entry(in: room)
      if !redacted.isEmpty { entry.redact(ifAbout: redacted) }
      guard body(entry) else { return false }
    }
    return true
  }
}

extension Entry {
  /// Removes the text if this is an edit of one of these entries.
  mutating func redact(ifAbout deleted: Set<Int64>) {
    guard kind == .edit, let target, deleted.contains(target) else { return }
    body = Entry.deletedEditBody(of: target)
  }
}

extension Statement {
  /// Returns the row as an entry; its columns are seq, at, sender, id, kind and body, in this
  /// order.
  func entry(in room: String) throws(SQLiteError) -> Entry {
    let kind = EntryKind(rawValue: text(4))
    guard kind.isKnown else {
      throw SQLiteError(
        extendedCode: SQLITE_CORRUPT,
        message: "entry \(integer(0)) of room \(room) has the unknown kind \"\(text(4))\"")
    }
    return Entry(
      room: room, seq: integer(0), id: text(3), from: text(2), at: integer(1), kind: kind,
      body: blob(5))
  }
}
