import Wire

/// The relay's own records, which only operators read: reports of users about entries, and what operators
/// have done. Each is an entry of `data` from `UserName.relay`.
extension Sequencer {
  /// How long a report has a copy of its entry.
  static let copyMilliseconds: Int64 = 30 * 86_400_000
  /// How often copies that are too old are looked for, and how many at a time.
  private static let copiesInterval: Int64 = 3_600_000
  private static let copiesLimit = 100

  // MARK: - Reports

  /// Records a report about an entry that the user may read. The same report again is the first one.
  mutating func report(
    _ report: LogRequest.Report, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    let room = try room(report.room, knowing: report.user, &store)
    let refusal = try readingRefusal(
      of: report.user, report.isOperator, in: room, re: .report, batch.now, &store)
    if let refusal, refusal.code != .noSuchRoom {
      batch.answers.append((loop, .answer(report.origin, .error(refusal))))
      return
    }
    guard refusal == nil,
      try isReadable(report.seq, by: report.user, report.isOperator, in: room, &batch, &store),
      let entry = try content(report.seq, in: room, &batch, &store),
      !hides(entry, from: report.user, in: room), let number = rooms[room].number
    else {
      let error = WireError(
        .noSuchEntry,
        "Entry \(report.seq) in \(report.room) does not exist, was deleted, or has the wrong kind.",
        re: .report, room: report.room, field: "seq")
      batch.answers.append((loop, .answer(report.origin, .error(error))))
      return
    }
    guard mayReport(report.user, batch.now) else {
      let error = WireError(
        .limitReached, "You have reached the limit of \(EntryLimits.reportsPerDay) reports a day.",
        re: .report, room: report.room, field: "reports_per_day")
      batch.answers.append((loop, .answer(report.origin, .error(error))))
      return
    }
    var copy = entry
    if entry.kind.isEditable {
      let text = try currentText(of: entry, for: report.user, in: room, &batch, &store)
      if text != entry.text ?? "" {
        if var file = entry.file {
          file.caption = text
          copy.body = file.body
        } else {
          copy.body =
            ClientMessage.Send(room: "", id: "", text: text, replyTo: entry.replyTo).body
        }
      }
    }
    let body = ReportRecord(
      room: report.room, seq: report.seq, by: report.user, reason: report.reason, copy: copy)
    let hash = EntryIdentity.hash(
      UInt64(bitPattern: number), sender: report.user, id: "\(report.seq)", key: store.identityKey)
    let id = "\(number).\(report.seq).\(hash)"
    let bytes = body.body
    guard batch.hasRoom(forBody: bytes.count, limitBytes: batchBytesLimit) else {
      let error = WireError.unavailable(re: .report, room: report.room)
      batch.answers.append((loop, .answer(report.origin, .error(error))))
      return
    }
    if let seq = try record(
      bytes, in: RoomName.reports, id: id, receivedAt: report.receivedAt, &batch, &store)
    {
      reportCounts.users[report.user, default: 0] += 1
      batch.reporters.append(report.user)
      batch.reports.append(
        .init(report: seq, room: number, seq: report.seq, at: batch.now, hasCopy: true))
    }
    batch.promises.append((loop, report.origin, room: report.room))
  }

  private mutating func mayReport(_ user: String, _ now: Int64) -> Bool {
    let day = now / 86_400_000
    if reportCounts.day != day { reportCounts = (day, [:]) }
    return reportCounts.users[user] ?? 0 < EntryLimits.reportsPerDay
  }

  /// The reports of a batch that was not stored do not count.
  mutating func undoReports(_ batch: borrowing Batch) {
    for user in batch.reporters { reportCounts.users[user]? -= 1 }
  }

  /// The copies of an entry go with it.
  mutating func removeCopies(
    ofEntries seqs: ClosedRange<Int64>, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    guard let number = rooms[room].number, rooms[room].name != RoomName.reports else { return }
    for place in batch.reports.indices
    where batch.reports[place].room == number && seqs.contains(batch.reports[place].seq) {
      try removeCopy(batch.reports[place].report, &batch, &store)
    }
    for report in try store.copies(ofRoom: number, in: seqs) {
      try removeCopy(report, &batch, &store)
    }
  }

  /// Removes copies that are too old.
  mutating func removeOldCopies(
    _ batch: inout Batch, _ store: inout some EntryLookup
  ) {
    guard batch.now >= copiesDue else { return }
    do throws(StoreFailure) {
      let old = try store.copies(
        before: batch.now - Self.copyMilliseconds, limit: Self.copiesLimit)
      for report in old { try removeCopy(report, &batch, &store) }
      if old.count < Self.copiesLimit { copiesDue = batch.now + Self.copiesInterval }
    } catch {
      copiesDue = batch.now + Self.copiesInterval
    }
  }

  private mutating func removeCopy(
    _ seq: Int64, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    let room = try room(RoomName.reports, &store)
    if let place = batch.index(ofRoom: room, seq: seq) {
      guard let record = ReportRecord(batch.entries[place].entry) else { return }
      batch.entries[place].entry.body = record.withoutCopy.body
    } else if let number = rooms[room].number, seq >= rooms[room].first,
      let record = try storedRecord(seq, ofRoom: number, &store)
    {
      batch.redactions.append(
        Batch.Redaction(room: room, seq: seq, through: seq, body: record.withoutCopy.body))
    }
    batch.reports.append(.init(report: seq, room: 0, seq: 0, at: 0, hasCopy: false))
  }

  /// Returns a record of a report; in place of a damaged one, whose copy has to go all the same, one
  /// that says nothing.
  private func storedRecord(
    _ seq: Int64, ofRoom number: Int64, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> ReportRecord? {
    do throws(StoreFailure) {
      return try store.entry(seq, ofRoom: number, named: RoomName.reports).flatMap(
        ReportRecord.init)
    } catch {
      guard error.damage == .entry else { throw error }
      return ReportRecord(
        room: RoomName.reports, seq: seq, by: UserName.relay, reason: "This report was damaged.",
        copy: nil)
    }
  }

  // MARK: - Acts

  /// Records what an operator has done by an entry that their role in the room does not allow.
  mutating func recordAct(
    _ append: LogRequest.Append, _ seq: Int64, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    guard let number = rooms[room].number else { return }
    var act = Act(by: append.user, verb: append.kind.rawValue, room: append.room)
    if case .member(let change)? = append.reference {
      (act.verb, act.user, act.until) = (change.role.rawValue, change.user, change.until)
    }
    _ = try record(
      act.body, in: RoomName.audit, id: "\(number).\(seq)", receivedAt: append.receivedAt,
      &batch, &store)
  }

  // MARK: - The relay's own entries

  /// Appends an entry of the relay.
  /// - Parameter receivedAt: as in `LogRequest.Append`, of the request that it records.
  /// - Returns: its `seq`; `nil` if there is one with this id.
  @discardableResult
  mutating func record(
    _ body: [UInt8], in name: String, id: String, receivedAt: Int64, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Int64? {
    let room = try room(name, &store)
    let number = try makeStorable(room, &batch, &store)
    let identity = EntryIdentity(
      room: number, sender: UserName.relay, id: id, key: store.identityKey)
    guard batch.find(identity, room: room, sender: UserName.relay, id: id) == nil,
      try store.find(identity, room: number, named: name, sender: UserName.relay, id: id) == nil
    else { return nil }
    let append = LogRequest.Append(
      session: SessionID(slot: Slot(0), generation: 0), room: name, user: UserName.relay, id: id,
      kind: .data, body: body, mayCreate: true, receivedAt: receivedAt)
    return try appendUnasked(append, to: room, &batch, &store).seq
  }
}
