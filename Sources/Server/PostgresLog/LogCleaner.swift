internal import Cluster
internal import Platform
internal import Postgres
internal import Relay
internal import Synchronization

/// What the leading node does for retention: finds what is no longer kept, has its writer trim it, and
/// deletes what was trimmed. Used by the thread of the `FeedListener`, which it holds up only briefly.
final class LogCleaner: Sendable {
  /// How many entries that are no longer kept are deleted at once.
  private static let deletedAtOnce: Int64 = 1_000
  /// How long it works on each beat of the node, which the others expect soon.
  private static let turnMilliseconds: Int64 = 500
  /// How long a batch of the writer may take.
  private static let answerMilliseconds = 1_000

  private struct State {
    var pass: RetentionPass
    /// When the next pass is due, in milliseconds of the monotonic clock.
    var due: Int64 = 0
  }
  private let state: Mutex<State>
  private let intervalMilliseconds: Int64
  private let tasks: WorkQueue<NodeTask>
  private let answers = WorkQueue<Void>()

  init(_ pass: RetentionPass, intervalMilliseconds: Int, tasks: WorkQueue<NodeTask>) {
    state = Mutex(State(pass: pass))
    self.intervalMilliseconds = Int64(intervalMilliseconds)
    self.tasks = tasks
  }

  private static let selectTime = PostgresStatement(
    "select_retention_time",
    """
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,
      (SELECT coalesce(max(position), 0) FROM feed)
    """)
  private static let deleteTrimmed = PostgresStatement(
    "delete_trimmed",
    """
    WITH trimmed AS (
      SELECT entries.room, entries.seq FROM rooms JOIN LATERAL (
        SELECT room, seq FROM entries WHERE room = rooms.number AND seq < rooms.first
        ORDER BY seq LIMIT $1::bigint) AS entries ON true
      WHERE rooms.first > 1 LIMIT $1::bigint),
    reactions AS (
      DELETE FROM reactions USING trimmed
      WHERE reactions.room = trimmed.room AND reactions.target = trimmed.seq),
    deleted AS (
      DELETE FROM entries USING trimmed
      WHERE entries.room = trimmed.room AND entries.seq = trimmed.seq RETURNING 1)
    SELECT count(*) FROM deleted
    """)

  /// Does a part of the work.
  func clean(_ connection: PostgresConnection) throws(PostgresError) {
    let end = Self.now + Self.turnMilliseconds
    var failure: PostgresError?
    state.withLock { state in
      do throws(PostgresError) {
        if state.pass.hasNewRules || Self.now >= state.due {
          try retain(connection, until: end, &state)
        }
        var deleted = Self.deletedAtOnce
        while deleted == Self.deletedAtOnce {
          deleted = try connection.run(Self.deleteTrimmed(.int(Self.deletedAtOnce)))[0].int(0, 0)
          if Self.now >= end { break }
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private func retain(
    _ connection: PostgresConnection, until end: Int64, _ state: inout State
  ) throws(PostgresError) {
    let rows = try connection.run(Self.selectTime())[0]
    var reader = RetentionReader(connection)
    state.pass.run(
      &reader, appended: Int(rows.int(0, 1)), wall: rows.int(0, 0), monotonic: Self.now,
      mayContinue: { Self.now < end }, trim: trim)
    if !state.pass.isPaused { state.due = Self.now + intervalMilliseconds }
  }

  private func trim(_ trims: [RoomTrim]) -> Bool {
    // The answer to one that has taken too long.
    _ = answers.takeAll(timeoutMilliseconds: 0)
    tasks.append(.trim(trims) { [answers] in answers.append(()) })
    return answers.takeAll(timeoutMilliseconds: Self.answerMilliseconds)?.isEmpty == false
  }

  private static var now: Int64 { Int64(Instant.now().nanoseconds / 1_000_000) }
}

/// What retention reads of a log in PostgreSQL.
struct RetentionReader: RetentionSource {
  private let connection: PostgresConnection

  init(_ connection: PostgresConnection) { self.connection = connection }

  /// The last entry of a room is its newest.
  private static let selectNewest = PostgresStatement(
    "select_newest",
    """
    SELECT max(at) FROM rooms JOIN LATERAL (
      SELECT at FROM entries WHERE room = rooms.number ORDER BY seq DESC LIMIT 1) AS last ON true
    """)
  private static let selectRooms = PostgresStatement(
    "select_retained_rooms",
    """
    SELECT number, name, first,
      greatest(first - 1, (SELECT max(seq) FROM entries WHERE room = rooms.number))
    FROM rooms WHERE number > $1::bigint ORDER BY number LIMIT $2::bigint
    """)
  private static let selectEntries = PostgresStatement(
    "select_retained_entries",
    """
    SELECT seq, at, length(body) FROM entries
    WHERE room = $1::bigint AND seq BETWEEN $2::bigint AND $3::bigint ORDER BY seq
    """)

  private func run(_ call: PostgresCall) throws(StoreFailure) -> PostgresRows {
    do throws(PostgresError) { return try connection.run(call)[0] } catch {
      throw StoreFailure("could not read what retention needs: \(error)")
    }
  }

  mutating func newestEntryAt() throws(StoreFailure) -> Int64? {
    let rows = try run(Self.selectNewest())
    return rows.isNull(0, 0) ? nil : rows.int(0, 0)
  }

  mutating func retainedRooms(
    after number: Int64, limit: Int
  ) throws(StoreFailure) -> [RetainedRoom] {
    let rows = try run(Self.selectRooms(.int(number), .int(Int64(limit))))
    return (0..<rows.count).map {
      RetainedRoom(
        number: rows.int($0, 0), name: rows.text($0, 1), first: rows.int($0, 2),
        head: rows.int($0, 3))
    }
  }

  mutating func retainedEntries(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [RetainedEntry] {
    let rows = try run(
      Self.selectEntries(.int(number), .int(seqs.lowerBound), .int(seqs.upperBound)))
    return (0..<rows.count).map {
      RetainedEntry(seq: rows.int($0, 0), at: rows.int($0, 1), bytes: rows.int($0, 2))
    }
  }
}
