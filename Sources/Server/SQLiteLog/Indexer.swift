package import Relay
internal import SQLite

/// Writes the journal's entries to the index, one segment at a time. The only writer of the index;
/// used by one thread.
///
/// A segment that cannot be written stays in the tail, and can be tried again at any time.
package final class Indexer {
  let store: OpenStore
  var state: State
  /// The merge in progress.
  var merge: Merge?

  struct State: ~Copyable {
    var database: Database
    /// Read only.
    let journal: Database
    var begin: Statement
    var commit: Statement
    var insertSegment: Statement
    var insertPostings: Statement
    var insertRun: Statement
    var upsertSender: Statement
    var setProgress: Statement
  }

  package init(_ store: OpenStore) throws(StoreError) {
    self.store = store
    let path = store.folder.indexPath
    do throws(SQLiteError) {
      let database = try Database(path: path, mode: .readWrite, vfs: store.vfs)
      try IndexSchema.configure(database)
      let journal = try Database(
        path: store.folder.databasePath, mode: .readOnly, vfs: store.vfs)
      try EntryTable.add(to: journal)
      try journal.execute("PRAGMA cache_size = -1024")
      let begin = try Statement("BEGIN IMMEDIATE", on: database)
      let commit = try Statement("COMMIT", on: database)
      let insertSegment = try Statement(
        """
        INSERT INTO segments (number, base, last, entries, kept, bucket_bits, distance_bits)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        """, on: database)
      let insertPostings = try Statement(
        "INSERT INTO identities (place, postings) VALUES (?1, ?2)", on: database)
      let insertRun = try Statement(
        "INSERT INTO runs (room, first_seq, last_seq, positions) VALUES (?1, ?2, ?3, ?4)",
        on: database)
      let upsertSender = try Statement(
        """
        INSERT INTO senders (room, user, seq) VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET seq = excluded.seq
        """, on: database)
      let setProgress = try Statement(
        """
        INSERT INTO progress (rowid, position, epoch, seen) VALUES (1, ?1, ?2, ?1)
        ON CONFLICT (rowid) DO UPDATE SET
          seen = iif(epoch = excluded.epoch, max(seen, excluded.seen), excluded.seen),
          position = excluded.position, epoch = excluded.epoch
        """, on: database)
      state = State(
        database: database, journal: journal, begin: begin, commit: commit,
        insertSegment: insertSegment,
        insertPostings: insertPostings, insertRun: insertRun, upsertSender: upsertSender,
        setProgress: setProgress)
    } catch {
      throw StoreError(error, "open", path: path)
    }
  }

  /// Indexes the oldest sealed segment in one transaction, and frees its memory.
  /// - Returns: whether there was one.
  package func indexNext() throws(StoreFailure) -> Bool {
    do { return try indexFirst() } catch { throw failure(error) }
  }

  func indexFirst() throws(SQLiteError) -> Bool {
    guard let sealed = store.tail.firstSealed else { return false }
    let indexSegment = try state.write(sealed.segment, epoch: store.epoch)
    store.tail.indexed(sealed, as: indexSegment)
    return true
  }

  func failure(_ error: SQLiteError) -> StoreFailure {
    if error.isFaultOfIndex { store.distrustIndex() }
    return StoreFailure("could not write \(store.folder.indexPath): \(error)")
  }

  /// Moves as much of the write-ahead log to the file as is possible now.
  package func checkpoint() throws(UnsyncedCheckpoint) { _ = try state.database.syncedCheckpoint() }

  /// Returns up to this many unused pages to the file system, if they are a large part of the file.
  package func vacuum(pages: Int = 1000) { _ = try? state.database.vacuum(pages: pages) }

  /// Limits the file's size to a number of pages, as a full disk does; 0 = no limit.
  package func limit(pages: Int64) {
    _ = try? state.database.integer(
      "PRAGMA max_page_count = \(pages == 0 ? 0xFFFF_FFFE : pages)")
  }
}

extension Indexer.State {
  fileprivate mutating func write(
    _ segment: TailSegment, epoch: String
  ) throws(SQLiteError) -> Tail.IndexSegment {
    let (postings, indexSegment) = try file(segment)
    do throws(SQLiteError) {
      try begin.run()
      try insert(indexSegment, kept: indexSegment.entries)
      try insert(postings, on: indexSegment)
      try insertRuns(of: segment)
      try setProgress.bind(1, segment.lastPosition)
      try setProgress.bind(2, epoch)
      try setProgress.run()
      try commit.run()
    } catch {
      database.rollback()
      throw error
    }
    return indexSegment
  }

  /// Sorts the identities of a segment into the buckets of its index segment.
  private func file(
    _ segment: TailSegment
  ) throws(SQLiteError) -> (buckets: [ArraySlice<UInt64>], indexSegment: Tail.IndexSegment) {
    let indexSegment = Tail.IndexSegment(
      number: try nextSegmentNumber(), base: segment.records[0].position - 1,
      last: segment.lastPosition, entries: segment.count)
    precondition(indexSegment.isValid, "a segment must not be longer than a posting can address")
    var ends = Array(repeating: 0, count: 1 << Int(indexSegment.bucketBits))
    for record in segment.records {
      ends[Int(indexSegment.bucket(of: Tail.IndexSegment.hash(of: record.identity)).bucket)] += 1
    }
    for bucket in ends.indices.dropFirst() { ends[bucket] += ends[bucket - 1] }
    var postings: [UInt64] = Array(repeating: 0, count: segment.count)
    var next = ends
    for record in segment.records.reversed() {
      let (bucket, posting) = indexSegment.posting(
        of: Tail.IndexSegment.hash(of: record.identity), at: record.position)
      next[Int(bucket)] -= 1
      postings[next[Int(bucket)]] = posting
    }
    return (zip(next, ends).map { postings[$0..<$1] }, indexSegment)
  }

  /// Returns a number that no index segment has, and no unfinished one whose rows still exist.
  func nextSegmentNumber() throws(SQLiteError) -> Int64 {
    try database.integer(
      """
      SELECT max(coalesce((SELECT max(number) FROM segments), 0),
                 coalesce((SELECT max(number) FROM unfinished), 0)) + 1
      """)
  }

  mutating func insert(_ indexSegment: Tail.IndexSegment, kept: Int) throws(SQLiteError) {
    try insertSegment.bind(1, indexSegment.number)
    try insertSegment.bind(2, indexSegment.base)
    try insertSegment.bind(3, indexSegment.last)
    try insertSegment.bind(4, Int64(indexSegment.entries))
    try insertSegment.bind(5, Int64(kept))
    try insertSegment.bind(6, indexSegment.bucketBits)
    try insertSegment.bind(7, indexSegment.distanceBits)
    try insertSegment.run()
  }

  private mutating func insert(
    _ buckets: [ArraySlice<UInt64>], on indexSegment: Tail.IndexSegment
  ) throws(SQLiteError) {
    for (bucket, postings) in buckets.enumerated() where !postings.isEmpty {
      try insertPostings.bind(1, indexSegment.place(ofBucket: Int64(bucket)))
      try insertPostings.bind(2, postings)
      try insertPostings.run()
    }
  }

  /// Inserts in key order, so that each page of the file is written once.
  private mutating func insertRuns(of segment: TailSegment) throws(SQLiteError) {
    var positions: [UInt8] = []
    for run in segment.runs.sorted(by: { ($0.room, $0.firstSeq) < ($1.room, $1.firstSeq) }) {
      try insertRun.bind(1, run.room)
      var seq = run.firstSeq
      while seq <= run.lastSeq {
        let last = min(seq + Int64(IndexSchema.runEntries) - 1, run.lastSeq)
        positions.removeAll(keepingCapacity: true)
        var previous: Int64 = 0
        for record in run.records[Int(seq - run.firstSeq)...Int(last - run.firstSeq)] {
          let position = segment.records[Int(record)].position
          Places.append(position - previous, to: &positions)
          previous = position
        }
        try insertRun.bind(2, seq)
        try insertRun.bind(3, last)
        try insertRun.bind(4, positions)
        try insertRun.run()
        seq = last + 1
      }
    }
    for sending in segment.sendings.sorted(by: { ($0.room, $0.user) < ($1.room, $1.user) }) {
      try upsertSender.bind(1, sending.room)
      try upsertSender.bind(2, sending.user)
      try upsertSender.bind(3, sending.seq)
      try upsertSender.run()
    }
  }
}
