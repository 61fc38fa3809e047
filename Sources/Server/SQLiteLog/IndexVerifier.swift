internal import Relay
internal import SQLite

/// Compares the indexed part of a store's journal with its index, in both directions.
struct IndexVerifier: ~Copyable {
  private let path: String
  /// A snapshot of the index, from before the journal was read; `nil` if there is no index.
  private var database: Database?
  /// Why the index cannot be read.
  private var failure: SQLiteError?
  /// The position of the last indexed entry.
  private(set) var indexedThrough: Int64 = 0

  static func open(_ folder: DataFolder, vfs: String?) -> IndexVerifier {
    guard vfs != nil || folder.hasIndex else { return IndexVerifier(folder, nil, nil, 0) }
    do throws(SQLiteError) {
      let database = try Database(path: folder.indexPath, mode: .readOnly, vfs: vfs)
      try database.execute("BEGIN")
      let position = try IndexSchema.progress(of: database).position
      return IndexVerifier(folder, database, nil, position)
    } catch {
      return IndexVerifier(folder, nil, error, 0)
    }
  }

  private init(
    _ folder: DataFolder, _ database: consuming Database?, _ failure: SQLiteError?,
    _ indexedThrough: Int64
  ) {
    path = folder.indexPath
    self.database = database
    self.failure = failure
    self.indexedThrough = indexedThrough
  }

  /// - Returns: the problems found in the journal and in the index.
  consuming func run(_ journal: consuming JournalVerifier) -> Store.Verification {
    var findings = journal.findings
    do throws(SQLiteError) {
      if let failure { throw failure }
      guard let database = database.take() else { return findings }
      var problems: [(problem: String, room: String?)] = []
      if let misfit = try IndexSchema.misfit(of: database, to: journal.database) {
        problems.append((misfit, nil))
      } else {
        for finding in try database.integrityFindings() {
          problems.append(("the structure of the index is damaged: \(finding)", nil))
        }
        try Self.checkRuns(database, journal, &problems)
        try Self.checkSenders(database, journal, &problems)
        try Self.checkIdentities(database, journal, &problems)
      }
      for (problem, room) in problems { findings.add("\(problem); \(advice)", room: room) }
    } catch {
      findings.add("the index cannot be read: \(error); \(advice)")
    }
    return findings
  }

  private var advice: String {
    "stop the relay and delete \(path): the next start rebuilds it from the entries"
  }

  private typealias Problems = [(problem: String, room: String?)]

  /// Checks that every indexed entry is in a run at its position, and that runs have no other
  /// entries.
  private static func checkRuns(
    _ index: borrowing Database, _ journal: borrowing JournalVerifier, _ problems: inout Problems
  ) throws(SQLiteError) {
    var select = try Statement("SELECT room, first_seq, positions FROM runs", on: index)
    var sums: [Int64: PlaceSum] = [:]
    while try select.step() {
      let room = select.integer(0)
      var seq = select.integer(1)
      let first = journal.rooms[room]?.first ?? 0
      for position in select.positions(2) {
        if seq >= first { sums[room, default: PlaceSum()].add(seq: seq, position: position) }
        seq += 1
      }
    }
    for number in Set(journal.rooms.keys).union(sums.keys).sorted() {
      let (found, expected) = (sums[number] ?? PlaceSum(), journal.rooms[number]?.indexed)
      if found != expected ?? PlaceSum() {
        problems.append(
          (
            "the \(found.count.counted("entry", "entries")) in the index and the "
              + "\((expected?.count ?? 0).counted("entry", "entries")) in the journal do not match",
            journal.rooms[number]?.name ?? "#\(number)"
          ))
      }
    }
  }

  private static func checkSenders(
    _ index: borrowing Database, _ journal: borrowing JournalVerifier, _ problems: inout Problems
  ) throws(SQLiteError) {
    var select = try Statement("SELECT room, user, seq FROM senders", on: index)
    var matches: [Int64: Int] = [:]
    while try select.step() {
      let (number, user, seq) = (select.integer(0), select.text(1), select.integer(2))
      let last = journal.rooms[number]?.senders[user]
      if last == seq {
        matches[number, default: 0] += 1
      } else if last != nil || seq >= journal.rooms[number]?.first ?? 0 {
        problems.append(
          (
            "the last entry of \(user) is \(last ?? 0), but \(seq) in the index",
            journal.rooms[number]?.name
          ))
      }
    }
    for (number, room) in journal.rooms where matches[number] ?? 0 < room.senders.count {
      problems.append(("the index lacks some senders", room.name))
    }
  }

  /// Checks that every indexed entry can be found by its id.
  private static func checkIdentities(
    _ index: borrowing Database, _ journal: borrowing JournalVerifier, _ problems: inout Problems
  ) throws(SQLiteError) {
    var end: Int64 = 0
    for (indexSegment, _) in try IndexSchema.indexSegments(of: index) {
      try check(indexSegment, after: end, index, journal, &problems)
      end = indexSegment.last
    }
  }

  private static func check(
    _ indexSegment: Tail.IndexSegment, after end: Int64, _ index: borrowing Database,
    _ journal: borrowing JournalVerifier, _ problems: inout Problems
  ) throws(SQLiteError) {
    var postings: [Int64: IdentityFilter.Key] = [:]
    var selectPostings = try Statement(
      "SELECT place, postings FROM identities WHERE place >= ?1 AND place < ?2", on: index)
    try selectPostings.bind(1, indexSegment.places.lowerBound)
    try selectPostings.bind(2, indexSegment.places.upperBound)
    while try selectPostings.step() {
      let bucket = selectPostings.integer(0) - indexSegment.places.lowerBound
      selectPostings.forEachWord(1) {
        postings[indexSegment.position(of: $0)] = IdentityFilter.Key(
          hash: indexSegment.hash(of: $0, bucket: bucket))
      }
    }
    // From the end of the previous index segment: no entry lies between two segments.
    var selectEntries = try Statement(
      """
      SELECT position, identity, room, seq FROM entries WHERE position > ?1 AND position <= ?2
      """, on: journal.database)
    try selectEntries.bind(1, end)
    try selectEntries.bind(2, indexSegment.last)
    while try selectEntries.step() {
      let key = IdentityFilter.Key(EntryIdentity(hash: selectEntries.integer(1)))
      let (room, seq) = (journal.rooms[selectEntries.integer(2)], selectEntries.integer(3))
      if let room, seq < room.first { continue }
      if postings[selectEntries.integer(0)] != key {
        problems.append(("entry \(seq) cannot be found by its id in the index", room?.name))
      }
    }
  }
}
