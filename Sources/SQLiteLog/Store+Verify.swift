internal import CSQLite
internal import Relay
internal import Wire

extension Store {
  /// What `verify` has found.
  public struct Verification: Sendable {
    /// A place where the store is not what it should be.
    public struct Break: Equatable, Sendable, CustomStringConvertible {
      /// `nil` where it concerns the whole store.
      public var room: String?
      public var seq: Int64?
      public var problem: String

      public var description: String {
        guard let room else { return problem }
        guard let seq else { return "room \(room): \(problem)" }
        return "room \(room), seq \(seq): \(problem)"
      }
    }

    public internal(set) var count = StoreCount()
    /// At most `breakLimit`.
    public internal(set) var breaks: [Break] = []
    /// All that were found.
    public internal(set) var breakCount = 0

    public static let breakLimit = 1000
  }

  /// Reads the whole store and proves it: the file's own structure, every room gapless from the
  /// oldest kept entry to its head, every id once per room and sender, clocks and epochs that never
  /// go back, entries that say what they should, and marks within their rooms.
  /// - Throws: if the store cannot be opened. What is wrong inside is in the result.
  public static func verify(directory path: String) throws(StoreError) -> Verification {
    try verify(directory: path, vfs: nil)
  }

  /// - Parameter vfs: the SQLite VFS that holds the files; `nil` is the system's.
  package static func verify(
    directory path: String, vfs: String?
  ) throws(StoreError) -> Verification {
    let directory = DataDirectory(path, vfs: vfs)
    let database = try Schema.openForReading(directory)
    var verifier = Verifier(database: database)
    do throws(SQLiteError) {
      try verifier.run()
    } catch {
      guard error.isCorruption || error.code == SQLITE_ERROR else {
        throw StoreError(error, "read", path: directory.databasePath)
      }
      verifier.add("the file \(directory.databasePath) is damaged: \(error)")
    }
    return verifier.result
  }
}

/// One pass over a store.
private struct Verifier: ~Copyable {
  struct Room {
    var name: String
    var first: Int64
    var head: Int64
  }

  let database: Database
  var result = Store.Verification()
  private var rooms: [Int64: Room] = [:]
  private var epochs: Set<Int64> = []

  init(database: consuming Database) { self.database = database }

  mutating func add(_ problem: String, room: String? = nil, seq: Int64? = nil) {
    result.breakCount += 1
    if result.breaks.count < Store.Verification.breakLimit {
      result.breaks.append(Store.Verification.Break(room: room, seq: seq, problem: problem))
    }
  }

  mutating func run() throws(SQLiteError) {
    try database.execute("BEGIN")
    defer { database.rollback() }
    try checkStructure()
    try checkEpochs()
    try checkRooms()
    try checkEntries()
    try checkIdentities()
    try checkMembers()
  }

  /// SQLite's own proof: pages, order, and that indices and tables agree.
  private mutating func checkStructure() throws(SQLiteError) {
    var check = try Statement("PRAGMA integrity_check", on: database)
    while try check.step() {
      let finding = check.text(0)
      if finding != "ok" { add("the file's structure is broken: \(finding)") }
    }
  }

  private mutating func checkEpochs() throws(SQLiteError) {
    var select = try Statement(
      "SELECT number, name, position FROM epochs ORDER BY number", on: database)
    var last: (number: Int64, position: Int64) = (0, 0)
    while try select.step() {
      let (number, position) = (select.integer(0), select.integer(2))
      if number != last.number + 1 {
        add("epoch \(number) follows epoch \(last.number) in the lineage")
      }
      if position < last.position {
        add("epoch \(number) begins at position \(position), before the one that it follows")
      }
      epochs.insert(number)
      last = (number, position)
    }
  }

  private mutating func checkRooms() throws(SQLiteError) {
    var select = try Statement("SELECT number, name, first FROM rooms", on: database)
    while try select.step() {
      let room = Room(
        name: select.text(1), first: select.integer(2), head: select.integer(2) - 1)
      if !RoomName.isValid(room.name) { add("the name is not a room's", room: room.name) }
      rooms[select.integer(0)] = room
    }
    result.count.rooms = rooms.count
  }

  private mutating func checkEntries() throws(SQLiteError) {
    var select = try Statement(
      """
      SELECT seq, at, sender, id, kind, body, room, position, epoch, identity
      FROM entries INDEXED BY entries_by_place ORDER BY room, seq
      """, on: database)
    var number: Int64?
    var room = Room(name: "", first: 1, head: 0)
    var last: (at: Int64, position: Int64, epoch: Int64) = (0, 0, 0)
    while try select.step() {
      result.count.entries += 1
      if number != select.integer(6) {
        if let number { rooms[number] = room }
        let next = select.integer(6)
        if rooms[next] == nil { add("there are entries of room \(next), which has no name") }
        room = rooms[next] ?? Room(name: "#\(next)", first: select.integer(0), head: 0)
        room.head = room.first - 1
        number = next
        last = (0, 0, 0)
      }
      let seq = select.integer(0)
      let (at, position, epoch) = (select.integer(1), select.integer(7), select.integer(8))
      if seq < room.first {
        add("the entry is older than the oldest kept, \(room.first)", room: room.name, seq: seq)
      } else if seq != room.head + 1 {
        let missing = seq == room.head + 2 ? "entry is" : "entries up to \(seq - 1) are"
        add("the \(missing) missing", room: room.name, seq: room.head + 1)
      }
      if at < last.at {
        add("the clock goes back from \(last.at) to \(at)", room: room.name, seq: seq)
      }
      if position <= last.position {
        add("it was committed before the entry that it follows", room: room.name, seq: seq)
      }
      if epoch < last.epoch {
        add("the epoch goes back from \(last.epoch) to \(epoch)", room: room.name, seq: seq)
      }
      if !epochs.contains(epoch) {
        add("epoch \(epoch) is not in the lineage", room: room.name, seq: seq)
      }
      checkContent(select, room: room.name)
      room.head = max(room.head, seq)
      last = (at, position, epoch)
    }
    if let number { rooms[number] = room }
  }

  private mutating func checkContent(_ row: borrowing Statement, room: String) {
    let (seq, sender, id) = (row.integer(0), row.text(2), row.text(3))
    if row.integer(9) != EntryIdentity.hash(room: row.integer(6), sender: sender, id: id) {
      add("it cannot be found by its id: the hash is another", room: room, seq: seq)
    }
    if !UserName.isValid(sender) { add("the sender's name is not a user's", room: room, seq: seq) }
    guard let entry = try? row.entry(in: room) else {
      add("the kind \"\(row.text(4))\" is unknown", room: room, seq: seq)
      return
    }
    let json = ServerMessage.message(entry).json
    if (try? Entry(decoding: json.span)) != entry {
      add("the content is not that of a message", room: room, seq: seq)
    }
  }

  /// Equal hashes are rare, so that only theirs are compared in full.
  private mutating func checkIdentities() throws(SQLiteError) {
    var select = try Statement(
      """
      SELECT room, sender, id, min(seq), max(seq) FROM entries
      WHERE identity IN (
        SELECT identity FROM entries INDEXED BY entries_by_identity
        GROUP BY identity HAVING count(*) > 1)
      GROUP BY room, sender, id HAVING count(*) > 1
      """, on: database)
    while try select.step() {
      add(
        "the id \"\(select.text(2))\" of \(select.text(1)) is also that of entry "
          + "\(select.integer(4))",
        room: rooms[select.integer(0)]?.name, seq: select.integer(3))
    }
  }

  private mutating func checkMembers() throws(SQLiteError) {
    var select = try Statement("SELECT room, user, read, received FROM members", on: database)
    while try select.step() {
      let (number, user) = (select.integer(0), select.text(1))
      guard let room = rooms[number] else {
        add("\(user) belongs to room \(number), which has no name")
        continue
      }
      for (mark, seq) in [("read", select.integer(2)), ("received", select.integer(3))]
      where !(0...max(room.head, 0)).contains(seq) {
        add(
          "\(user) has \(mark) up to \(seq), and the last entry is \(room.head)", room: room.name)
      }
    }
  }
}
