internal import Relay
internal import Wire

/// Blocks: what must not reach a user who has blocked another one, or that another one has blocked.
extension Witness {
  private var blocks: Blocks { referee.ledger.blocks }

  /// Checks a message to any user.
  func checkBlocks(_ message: ServerMessage) {
    switch message {
    case .message(let entry): checkShown(entry)
    case .history(let page):
      for entry in page.entries { checkShown(entry) }
    case .activity(let activity):
      if let last = activity.last { checkLast(last) }
    case .rooms(let summaries, _):
      for summary in summaries {
        if let last = summary.last { checkLast(last) }
        if let peer = summary.peer, let presence = summary.presence, presence != .offline {
          checkContact(with: peer, "\(presence) in rooms")
        }
      }
    case .people(let page):
      for person in page.people where person.presence != .offline {
        checkContact(with: person.user, "\(person.presence) in people")
      }
    case .presence(let presence):
      if presence.presence != .offline {
        checkContact(with: presence.user, "\(presence.presence)")
      }
    case .typing(let room, let typist, let on):
      checkContact(with: typist, "typing \(on) in \(room)")
    case .receipt(let room, let marks): checkContact(with: marks.user, "a receipt in \(room)")
    case .joined(let joined):
      for member in joined.members ?? [] where RoomName.peer(in: joined.room, of: user) != nil {
        guard isSeparated(from: member.user),
          let head = blocks.head(ofSeparation: user, member.user),
          member.read > head || member.received > head
        else { continue }
        fault("marks of \(member) in \(joined.room), which ended at \(head) for the user")
      }
    default: break
    }
  }

  private func checkLast(_ last: Entry) {
    if last.kind == .hidden {
      fault("\(last.room) \(last.seq) is hidden, and the last of its room")
    }
    checkShown(last)
  }

  /// Checks that an entry is shown to a user who may see it, and that only its place is to another one.
  func checkShown(_ entry: Entry) {
    let room = referee.ledger.room(entry.room)
    let hidden = room.hidden[entry.seq]
    if entry.kind != .hidden {
      if let hidden, hidden.isCertain, hidden.from == user {
        fault("\(entry.room) \(entry.seq) is of a user who was blocked")
      }
      return checkVersion(entry)
    }
    referee.tally.count(.entryHidden)
    guard entry.seq >= room.first else { return }
    if hidden?.from != user { fault("\(entry.room) \(entry.seq) is hidden for no reason") }
    if let truth = room.entries[entry.seq], truth.at != entry.at {
      fault("the hidden \(entry.room) \(entry.seq) is of another time")
    }
  }

  /// Checks that the text of a folded entry is not that of a hidden edit.
  private func checkVersion(_ entry: Entry) {
    guard entry.editedAt != nil, let text = entry.text, !entry.isDeleted,
      !referee.ledger.room(entry.room).hidden.isEmpty,
      referee.ledger.entry(entry.room, entry.seq) != nil
    else { return }
    if !referee.ledger.versions(of: entry.seq, in: entry.room, shownTo: user).contains(text) {
      fault("\(entry.room) \(entry.seq) has the text of an edit that is hidden: \(text)")
    }
  }

  private func checkContact(with other: String, _ what: String) {
    if other != user, isSeparated(from: other) {
      fault("\(what) of \(other), although one has blocked the other")
    }
  }

  /// Returns whether the relay certainly knows that the two are separated: a client knew when this connection
  /// began, or was told on it.
  private func isSeparated(from other: String) -> Bool {
    guard let separation = blocks.separation(of: user, other) else { return false }
    if let known = separation.knownAt, known < startedAt { return true }
    let states = blocks.states(of: user)
    return toldBlocks.map { told in states[min(told, states.count - 1)...] }?
      .allSatisfy { $0.contains(other) } ?? false
  }

  // MARK: - Answers

  /// Takes the users that the user has blocked, as the relay tells it.
  func takeBlocks(_ names: [String]) {
    referee.tally.count(.blocksTold)
    let states = blocks.states(of: user)
    let least = toldBlocks ?? 0
    guard least < states.count,
      let index = states[least...].firstIndex(of: Set(names)), names == names.sorted()
    else {
      fault("blocks \(names), but they were \(states.dropFirst(least))")
      return
    }
    toldBlocks = index
    recordKnown()
  }

  /// Takes the acknowledgement of a block, or of its end.
  /// - Parameter least: the number of changes of the user's blocks before it was requested.
  func takeBlocked(_ other: String, on: Bool, since least: Int) {
    referee.tally.count(on ? .blocked : .unblocked)
    let states = blocks.states(of: user)
    guard least < states.count,
      let index = states[least...].firstIndex(where: { $0.contains(other) == on })
    else {
      fault("the block of \(other) is acknowledged as \(on), but was not stored")
      return
    }
    // Of two changes in one batch, both are told before the first is acknowledged.
    toldBlocks = max(toldBlocks ?? 0, index)
    recordKnown()
  }

  private func recordKnown() {
    for other in blocks.blocked(by: user) where isSeparated(from: other) {
      referee.ledger.blocks.recordKnown(.init(user, blocked: other), now: referee.now)
    }
  }

  /// Takes the answer to a report of an entry.
  func takeReported(_ room: String, _ seq: Int64) {
    referee.tally.count(.reported)
    if let hidden = referee.ledger.room(room).hidden[seq], hidden.isCertain, hidden.from == user {
      fault("reported \(room) \(seq), which is hidden from the user")
    }
  }

  /// Takes the refusal of a block or a report.
  func takeRefusedBlock(_ error: WireError) {
    switch (error.re, error.code) {
    case (_, .unavailable), (.report, .noSuchEntry), (.report, .forbidden), (.report, .noSuchRoom):
      referee.tally.count(.blockRefused)
    default: fault("\(error)")
    }
  }
}
