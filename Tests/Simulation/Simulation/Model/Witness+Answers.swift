internal import Relay
internal import Wire

/// Checks of answers to requests, and of activity.
extension Witness {
  func take(_ page: ServerMessage.HistoryPage) {
    referee.tally.count(.historyRead)
    guard !histories.isEmpty else {
      fault("unrequested history")
      return
    }
    let (request, headAtLeast) = histories.removeFirst()
    if request.room != page.room { fault("a history of another room: \(page.room)") }
    if isHidden(page, since: headAtLeast) { return }
    if page.head < headAtLeast || page.head > referee.ledger.room(page.room).head {
      fault("a history of \(page.room) up to \(page.head)")
    }
    if page.first > firstShown(page.room, since: headAtLeast) {
      fault("a history of \(page.room) from \(page.first)")
    }
    if request.isFolded {
      for entry in page.entries { checkFolded(entry) }
      if page.entries.count > request.limit { fault("a history of \(page.entries.count)") }
      return
    }
    for entry in page.entries { check(entry) }
    let seqs = page.entries.map(\.seq)
    if let first = seqs.first, seqs != Array(first..<first + Int64(seqs.count)) {
      fault("a history with gaps: \(seqs)")
    }
    if page.epoch != epoch { fault("a history of another epoch: \(page.epoch)") }
    checkResume(page, request)
    if let after = page.after ?? request.after {
      let lower = max(after + 1, page.first)
      if let first = seqs.first, first != lower { fault("a history from \(first), not \(lower)") }
      if page.more != ((seqs.last ?? page.head) < page.head) {
        fault("wrong more of a history: \(request) \(page.first)…\(page.head) \(seqs)")
      }
      if lower <= page.head, seqs.isEmpty { fault("an empty history: \(request)") }
    } else {
      let upper = min((request.before ?? page.head + 1) - 1, page.head)
      if let last = seqs.last, last != upper { fault("a history up to \(last), not \(upper)") }
      if page.more != ((seqs.first ?? page.first) > page.first) {
        fault("wrong more of a history: \(request) \(page.first)…\(page.head) \(seqs)")
      }
      if upper >= page.first, seqs.isEmpty { fault("an empty history: \(request)") }
    }
    if seqs.count > request.limit { fault("a history of \(seqs.count)") }
  }

  /// A request that names an epoch is told from where its entries follow.
  private func checkResume(
    _ page: ServerMessage.HistoryPage, _ request: ClientMessage.HistoryRequest
  ) {
    let isNamed = request.epoch != nil || request.lineage?.isEmpty == false
    guard request.after != nil, isNamed else {
      if page.resume != nil || page.after != nil { fault("an unrequested resume: \(request)") }
      return
    }
    let expected = referee.ledger.expectations(
      request.room, .init(after: request.after, epoch: request.epoch, lineage: request.lineage),
      current: epoch, first: page.first, head: page.head)
    guard let after = page.after, let resume = page.resume,
      expected.contains(.init(after: after, resume: resume))
    else {
      fault(
        "a history \(page.first)…\(page.head) after \(page.after ?? -1) "
          + "\(page.resume?.rawValue ?? "without resume"): \(request)")
      return
    }
    referee.tally.count(.historyResumed)
  }

  func take(_ summaries: [ServerMessage.RoomSummary], _ more: Bool) {
    referee.tally.count(.roomsListed)
    guard !roomsAsked.isEmpty else {
      fault("unrequested rooms")
      return
    }
    let heads = roomsAsked.removeFirst()
    // An adversary may make the user a member of a room of its own.
    for summary in summaries where Simulation.isWatched(summary.room) {
      let truth = referee.ledger.room(summary.room)
      if summary.head < heads[summary.room] ?? 0 || summary.head > truth.head {
        fault("rooms has \(summary.room) at \(summary.head), not \(truth.head)")
      }
      if summary.unread > max(0, summary.head - summary.read) { fault("unread: \(summary)") }
      // Without a mark, the user may not belong to a room that is listed.
      if summary.unread > 0 || summary.read > 0, truth.first == 1 {
        let others = truth.entries.values.filter {
          $0.kind.isContent && $0.seq > summary.read && $0.seq <= summary.head && $0.from != user
        }
        let unread = others.count { truth.hidden[$0.seq]?.isCertain != true }
        let shown = others.count { truth.hidden[$0.seq] == nil }
        let least = summary.unreadMore ? min(shown, Int(Sequencer.unreadLimit)) : shown
        // If the store cannot be read, the relay reports the upper bound.
        if summary.unread < least || !referee.readsMayFail && summary.unread > unread {
          fault("unread is \(unread): \(summary)")
        }
      }
      if summary.read > 0 {
        take(MemberMarks(read: summary.read, received: summary.read), in: summary.room)
      }
      if let last = summary.last { checkFolded(last) }
      toldHeads[summary.room] = summary.head
    }
    guard !more else { return }
    let names = Set(summaries.map(\.room))
    checkListed(names, since: heads)
    for fate in fates where !names.contains(fate.room) && !referee.hasLeft(fate.room, user) {
      // A direct room is not listed if all entries that are kept are hidden.
      let truth = referee.ledger.room(fate.room)
      if truth.first > 1, truth.hidden.values.contains(where: { $0.from == user }) { continue }
      if case .stored(let seq, _) = fate.answer, seq <= heads[fate.room] ?? 0 {
        fault("rooms lacks \(fate.room), to which the user sent")
      }
    }
  }

  /// Whether a send may be acknowledged with the `seq` of an entry: the content must be the same,
  /// unless the entry was redacted meanwhile.
  func mayAcknowledge(_ fate: Fate, as seq: Int64) -> Bool {
    referee.ledger.hasContent(of: fate.send, seq) != false
      || referee.ledger.isRedacted(fate.room, seq)
  }

  func takeConflict(_ error: WireError, in room: String) {
    referee.tally.count(.conflictTold)
    guard let id = error.id, let seq = error.seq else {
      fault("a conflict without id or seq: \(error)")
      return
    }
    let known = referee.ledger.seqs[.init(room: room, user: user, id: id)]
    // If the entry has been trimmed since, a later one may have its id.
    if known != seq, seq >= referee.ledger.room(room).first {
      fault("a conflict of \(id) with \(room) \(seq), but it is \(known ?? 0)")
    }
    // An entry that was redacted meanwhile may have taken the ack of another send with this id.
    let isRedacted = referee.ledger.isRedacted(room, seq)
    answer(room, id, .rejected) { fate in
      (isRedacted || referee.ledger.hasContent(of: fate.send, seq) != true)
        && !(fate.first == seq && fate.isFirstRedacted)
    }
  }

  func take(_ activity: ServerMessage.Activity) {
    referee.tally.count(.activityTold)
    if !Simulation.isWatched(activity.room) { return }
    if let room = rooms[activity.room], room.isJoined, room.pending.isEmpty,
      !rights(activity.room).mayHaveEnded(
        room.joinedAt...max(room.joinedAt, activity.head), for: user)
    {
      fault("activity in \(activity.room), which is joined")
    }
    let truth = referee.ledger.room(activity.room)
    if let last = activity.last,
      last.seq > activity.head
        || (last.seq..<activity.head).contains(where: { truth.hidden[$0 + 1]?.from != user })
    {
      fault("activity with a last that is not the head")
    }
    if activity.head < toldHeads[activity.room] ?? 0 { fault("activity went back: \(activity)") }
    if let last = activity.last { check(last) }
    let others = truth.entries.values.count {
      $0.kind.isContent && $0.seq <= activity.head && $0.from != user
        && truth.hidden[$0.seq]?.isCertain != true
    }
    if truth.first == 1, activity.unread > others, !referee.readsMayFail {
      fault("activity counts \(activity.unread), but others sent \(others)")
    }
    toldHeads[activity.room] = activity.head
  }
}
