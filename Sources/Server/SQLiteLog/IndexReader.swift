internal import Relay
internal import SQLite

/// A connection that looks entries up in the index. Used by one thread.
struct IndexReader: ~Copyable {
  private let database: Database
  private var selectHead: Statement
  private var selectRuns: Statement
  private var selectSender: Statement
  private var selectPostings: Statement
  /// How many index segments were queried.
  private(set) var probes = 0

  /// - Parameter mode: a connection that may write deletes the write-ahead log if it is the last
  ///   one to close.
  static func open(
    _ store: OpenStore, _ mode: Database.Mode
  ) throws(StoreError) -> IndexReader {
    do {
      return try open(
        Database(path: store.folder.indexPath, mode: mode, vfs: store.vfs))
    } catch {
      throw StoreError(error, "open", path: store.folder.indexPath)
    }
  }

  private static func open(
    _ database: consuming Database
  ) throws(SQLiteError) -> IndexReader {
    try database.execute("PRAGMA wal_autocheckpoint = 0")
    try database.execute("PRAGMA cache_size = -2048")
    let selectHead = try Statement(
      "SELECT last_seq, positions FROM runs WHERE room = ?1 ORDER BY first_seq DESC LIMIT 1",
      on: database)
    let selectRuns = try Statement(
      """
      SELECT first_seq, positions FROM runs WHERE room = ?1 AND first_seq <= ?3 AND first_seq >=
        coalesce((SELECT max(first_seq) FROM runs WHERE room = ?1 AND first_seq <= ?2), 0)
      ORDER BY first_seq
      """, on: database)
    let selectSender = try Statement(
      "SELECT seq FROM senders WHERE room = ?1 AND user = ?2", on: database)
    let selectPostings = try Statement(
      "SELECT postings FROM identities WHERE place = ?1", on: database)
    return IndexReader(
      database: database, selectHead: selectHead, selectRuns: selectRuns,
      selectSender: selectSender, selectPostings: selectPostings)
  }

  private init(
    database: consuming Database, selectHead: consuming Statement,
    selectRuns: consuming Statement,
    selectSender: consuming Statement, selectPostings: consuming Statement
  ) {
    self.database = database
    self.selectHead = selectHead
    self.selectRuns = selectRuns
    self.selectSender = selectSender
    self.selectPostings = selectPostings
  }

  /// Returns the last indexed entry of a room.
  mutating func head(of room: Int64) throws(SQLiteError) -> (seq: Int64, position: Int64)? {
    try selectHead.bind(1, room)
    defer { selectHead.reset() }
    guard try selectHead.step(), let position = selectHead.positions(1).last else { return nil }
    return (selectHead.integer(0), position)
  }

  /// Returns the places of a room's indexed entries with these `seq`, in order.
  mutating func places(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>
  ) throws(SQLiteError) -> [Place] {
    try selectRuns.bind(1, room)
    try selectRuns.bind(2, seqs.lowerBound)
    try selectRuns.bind(3, seqs.upperBound)
    defer { selectRuns.reset() }
    var places: [Place] = []
    while try selectRuns.step() {
      var seq = selectRuns.integer(0)
      for position in selectRuns.positions(1) {
        if seqs.contains(seq) { places.append(Place(seq: seq, position: position)) }
        seq += 1
      }
    }
    return places
  }

  /// Returns a sender's last indexed entry in a room.
  mutating func lastSeq(of sender: String, inRoom room: Int64) throws(SQLiteError) -> Int64? {
    try selectSender.bind(1, room)
    try selectSender.bind(2, sender)
    defer { selectSender.reset() }
    return try selectSender.step() ? selectSender.integer(0) : nil
  }

  /// Returns the positions of indexed entries that may have this identity.
  mutating func candidates(
    for identity: EntryIdentity, on indexSegments: [Tail.IndexSegment]
  ) throws(SQLiteError) -> [Int64] {
    probes += indexSegments.count
    var positions: [Int64] = []
    let hash = Tail.IndexSegment.hash(of: identity)
    for indexSegment in indexSegments.reversed() {
      let (bucket, remainder) = indexSegment.bucket(of: hash)
      try selectPostings.bind(1, indexSegment.place(ofBucket: bucket))
      defer { selectPostings.reset() }
      guard try selectPostings.step() else { continue }
      selectPostings.forEachWord(0) { posting in
        guard posting >> UInt64(indexSegment.distanceBits) == remainder else { return }
        positions.append(indexSegment.position(of: posting))
      }
    }
    return positions
  }
}
