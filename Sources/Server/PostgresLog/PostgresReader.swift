internal import Moderation
internal import Platform
internal import Postgres
internal import Relay
internal import Wire

/// Reads entries for catch-up and history, on connections of its own: to a replica, if there is one
/// that has everything that clients were shown, and otherwise to the primary. Used by one thread.
final class PostgresReader: EntryReader {
  /// A server to read from.
  private struct Source {
    let connector: Connector
    var connection: PostgresConnection?
    /// When it may be tried again, in nanoseconds of the monotonic clock.
    var nextAttempt: UInt64 = 0
  }

  private var primary: Source
  private var replica: Source?
  private let progress: ShownProgress
  private let hidesUnreplicated: Bool
  /// Requests that the writer follows the other nodes.
  private let follow: @Sendable () -> Void
  /// The one of the current request.
  private var connection: PostgresConnection?
  /// Why the last request could not be answered.
  private(set) var failure: StoreFailure?

  private static let entriesAtOnce: Int64 = 256
  /// No list of users is longer than this: see `Reaction.Budget`, where the shortest name takes 4
  /// bytes.
  private static let giversLimit = Int64(Reaction.Budget.limitBytes / 4 + 1)
  /// How long a replica that failed is left alone.
  private static let replicaNanoseconds: UInt64 = 5_000_000_000
  /// How long an answer waits until everything in it is known to be replicated.
  private static let replicationMilliseconds = 5_000

  init(
    _ connector: Connector, replica: Connector?, progress: ShownProgress, hidesUnreplicated: Bool,
    follow: @escaping @Sendable () -> Void
  ) {
    primary = Source(connector: connector)
    self.replica = replica.map { Source(connector: $0) }
    self.progress = progress
    self.hidesUnreplicated = hidesUnreplicated
    self.follow = follow
  }

  /// Answers from one snapshot. A connection that was lost while it was not used is replaced.
  func answer(_ request: ReadRequest, _ framing: Framing) -> LogAnswer {
    if var replica, Instant.now().nanoseconds >= replica.nextAttempt {
      let answer = attempt(request, from: &replica, minimum: progress.position, framing)
      if answer == nil {
        replica.nextAttempt = Instant.now().nanoseconds + Self.replicaNanoseconds
      }
      self.replica = replica
      if let answer { return answer }
    }
    let wasConnected = primary.connection != nil
    if let answer = attempt(request, from: &primary, minimum: 0, framing) { return answer }
    if wasConnected, primary.connection == nil,
      let answer = attempt(request, from: &primary, minimum: 0, framing)
    {
      return answer
    }
    return refuse(request, framing)
  }

  /// - Parameter minimum: the batch that the source must have.
  /// - Returns: `nil` if the source cannot answer; `failure` says why then.
  private func attempt(
    _ request: ReadRequest, from source: inout Source, minimum: Int64, _ framing: Framing
  ) -> LogAnswer? {
    failure = nil
    var (position, epoch): (Int64, Int64) = (0, 0)
    do throws(PostgresError) {
      if source.connection == nil { source.connection = try source.connector.connect("read") }
      connection = source.connection
      let rows = try connection?.run(Statements.beginSnapshot(), Statements.selectPosition())
      if let row = rows?[1] { (position, epoch) = (row.int(0, 0), row.int(0, 1)) }
    } catch {
      _ = failure(of: error)
    }
    if failure == nil, epoch != progress.lineage.current.number {
      follow()
      failure = StoreFailure("the log has another epoch, which this relay has not joined yet")
    }
    if failure == nil, position < minimum {
      failure = StoreFailure("the replica has not got batch \(minimum) yet")
    }
    var reader = self
    let answer = failure == nil ? request.answer(from: &reader, progress.lineage, framing) : nil
    do throws(PostgresError) { try connection?.run(Statements.rollback()) } catch {
      _ = failure(of: error)
    }
    source.connection = connection
    if failure == nil, hidesUnreplicated, progress.position < position {
      follow()
      if !progress.wait(for: position, milliseconds: Self.replicationMilliseconds) {
        failure = StoreFailure("what was read is not known to be replicated")
      }
    }
    return failure == nil ? answer : nil
  }

  /// Answers that the request cannot be answered: every read fails.
  private func refuse(_ request: ReadRequest, _ framing: Framing) -> LogAnswer {
    var reader = self
    return request.answer(from: &reader, progress.lineage, framing)
  }

  private func failure(of error: PostgresError) -> StoreFailure {
    if error.isConnectionLost { connection = nil }
    let failure = StoreFailure("could not read from PostgreSQL: \(error)")
    self.failure = failure
    return failure
  }

  func read(_ call: PostgresCall) throws(StoreFailure) -> PostgresRows {
    if let failure { throw failure }
    guard let connection else { throw StoreFailure("there is no connection to PostgreSQL") }
    do throws(PostgresError) { return try connection.run(call)[0] } catch {
      throw failure(of: error)
    }
  }

  func room(_ name: String) throws(StoreFailure) -> ReadableRoom? {
    let rows = try read(Statements.selectBounds(.text(name)))
    guard !rows.isEmpty else { return nil }
    var room = ReadableRoom(
      number: rows.int(0, 0), first: rows.int(0, 1), head: rows.int(0, 2),
      rules: try rows.rules(0, from: 3))
    room.direct = try rows.direct(0, 7)
    return room
  }

  func standing(of user: String, inRoom number: Int64) throws(StoreFailure) -> Standing {
    try read(Statements.selectStanding(.int(number), .text(user))).standing()
  }

  func notice(
    inRoom number: Int64, in seqs: ClosedRange<Int64>, last: Bool
  ) throws(StoreFailure) -> Int64? {
    let (room, lower, upper) = (
      PostgresValue.int(number), PostgresValue.int(seqs.lowerBound),
      PostgresValue.int(seqs.upperBound)
    )
    let rows = try read(
      last
        ? Statements.selectLastNotice(room, lower, upper)
        : Statements.selectFirstNotice(room, lower, upper))
    return rows.isEmpty ? nil : rows.int(0, 0)
  }

  func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>, _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    var lower = seqs.lowerBound
    while lower <= seqs.upperBound {
      let upper = min(seqs.upperBound, lower + Self.entriesAtOnce - 1)
      let rows = try read(Statements.selectEntries(.int(number), .int(lower), .int(upper)))
      for row in 0..<rows.count {
        guard body(rows.entry(row, in: room)) else { return }
      }
      lower = upper + 1
    }
  }

  func lastSeq(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64? {
    let last = try read(Statements.selectRoomEpochs(.int(room))).lastEntry(throughEpoch: number)
    return last.flatMap { seqs.contains($0.seq) ? $0.seq : nil }
  }

  func changes(inRoom number: Int64, through seq: Int64) throws(StoreFailure) -> Int64 {
    try read(Statements.countChanges(.int(number), .int(seq))).int(0, 0)
  }

  func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64? {
    let rows = try read(
      Statements.selectFirstTarget(.int(number), .int(seqs.lowerBound), .int(seqs.upperBound)))
    return rows.isEmpty ? nil : rows.int(0, 0)
  }

  func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    let rows = try read(Statements.selectLastEdit(.int(number), .int(target), .int(seq)))
    return rows.isEmpty ? nil : rows.entry(0, in: room)
  }

  func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)] {
    let rows = try read(
      Statements.selectReactions(.int(number), .int(target), .int(Int64(Reaction.emojiLimit))))
    return (0..<rows.count).map { (rows.text($0, 0), rows.int($0, 1)) }
  }

  func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64,
    _ body: (_ user: String, _ seq: Int64) -> Bool
  ) throws(StoreFailure) {
    let rows = try read(
      Statements.selectGivers(.int(number), .int(target), .text(emoji), .int(Self.giversLimit)))
    for row in 0..<rows.count {
      guard body(rows.text(row, 0), rows.int(row, 1)) else { return }
    }
  }

  func reports(ofRoom number: Int64, limit: Int) throws(StoreFailure) -> [Int64] {
    try read(Statements.selectReports(.int(number), .int(Int64(limit)))).integers
  }

  func lastSeen(_ user: String) throws(StoreFailure) -> Int64? {
    let rows = try read(Statements.selectSeen(.text(user)))
    return rows.isEmpty ? nil : rows.int(0, 0)
  }

  func users(after user: String, limit: Int) throws(StoreFailure) -> [String] {
    let rows = try read(Statements.selectUsers(.text(user), .int(Int64(limit))))
    return (0..<rows.count).map { rows.text($0, 0) }
  }
}
