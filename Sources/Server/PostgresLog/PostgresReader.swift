internal import Postgres
internal import Relay
internal import Wire

/// Reads entries for catch-up and history, on a connection of its own. Used by one thread.
final class PostgresReader: EntryReader {
  private let connector: Connector
  private let lineage: CurrentLineage
  private var connection: PostgresConnection?
  /// Why the last request could not be answered.
  private(set) var failure: StoreFailure?

  private static let entriesAtOnce: Int64 = 256
  /// No list of users is longer than this: see `Reaction.Budget`, where the shortest name takes 4
  /// bytes.
  private static let giversLimit = Int64(Reaction.Budget.limitBytes / 4 + 1)

  init(_ connector: Connector, lineage: CurrentLineage) {
    self.connector = connector
    self.lineage = lineage
  }

  /// Answers from one snapshot. A connection that was lost while it was not used is replaced.
  func answer(_ request: ReadRequest, _ framing: Framing) -> LogAnswer {
    let wasConnected = connection != nil
    let answer = attempt(request, framing)
    guard failure != nil, connection == nil, wasConnected else { return answer }
    return attempt(request, framing)
  }

  private func attempt(_ request: ReadRequest, _ framing: Framing) -> LogAnswer {
    failure = nil
    do throws(PostgresError) {
      if connection == nil { connection = try connector.connect("read") }
      try connection?.run(Statements.beginSnapshot())
    } catch {
      _ = note(error)
    }
    var reader = self
    let answer = request.answer(from: &reader, lineage.value, framing)
    do throws(PostgresError) { try connection?.run(Statements.rollback()) } catch {
      _ = note(error)
    }
    return answer
  }

  private func note(_ error: PostgresError) -> StoreFailure {
    if error.isConnectionLost { connection = nil }
    let failure = StoreFailure("could not read from PostgreSQL: \(error)")
    self.failure = failure
    return failure
  }

  private func read(_ call: PostgresCall) throws(StoreFailure) -> PostgresRows {
    if let failure { throw failure }
    guard let connection else { throw StoreFailure("there is no connection to PostgreSQL") }
    do throws(PostgresError) { return try connection.run(call)[0] } catch { throw note(error) }
  }

  func bounds(
    of room: String
  ) throws(StoreFailure) -> (number: Int64, first: Int64, head: Int64)? {
    let rows = try read(Statements.selectBounds(.text(room)))
    return rows.isEmpty ? nil : (rows.int(0, 0), rows.int(0, 1), rows.int(0, 2))
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
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    let rows = try read(Statements.selectLastEdit(.int(number), .int(target)))
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
    giving emoji: String, to target: Int64, inRoom number: Int64, _ body: (String) -> Bool
  ) throws(StoreFailure) {
    let rows = try read(
      Statements.selectGivers(.int(number), .int(target), .text(emoji), .int(Self.giversLimit)))
    for row in 0..<rows.count {
      guard body(rows.text(row, 0)) else { return }
    }
  }

  func lastSeen(_ user: String) throws(StoreFailure) -> Int64? {
    let rows = try read(Statements.selectSeen(.text(user)))
    return rows.isEmpty ? nil : rows.int(0, 0)
  }
}
