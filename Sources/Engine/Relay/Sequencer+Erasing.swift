import Moderation
import Wire

/// The erasure of a user, in requests of bounded cost: one for each entry, one for each room, and one for what
/// is in no room. Each can be repeated: what is gone already stays so.
extension Sequencer {
  /// Removes a part of what a user has said, or is.
  mutating func erase(
    _ erasure: LogRequest.Erasure, _ order: LogRequest.Order, from loop: Int,
    _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    guard let name = erasure.room else {
      try record(
        Act(by: order.user, verb: "erase", user: erasure.user), order, &batch, &store)
      unstoredSeen.remove([erasure.user])
      batch.erasedUsers.append(erasure.user)
      batch.promises.append((loop, order.origin, room: nil))
      return
    }
    let room = try room(name, knowing: erasure.user, &store)
    if let seq = erasure.seq {
      guard try eraseEntry(seq, of: erasure.user, in: room, order, &batch, &store) else {
        let error = WireError(
          .noSuchEntry, "Entry \(seq) in \(name) is not by \(erasure.user), and no forward.",
          re: .erase, room: name, field: "seq")
        batch.answers.append((loop, .answer(order.origin, .error(error))))
        return
      }
    } else {
      try eraseMember(erasure.user, of: room, order, &batch, &store)
    }
    batch.promises.append((loop, order.origin, room: name))
  }

  // MARK: - Entries

  /// - Returns: whether the entry, if it is kept, is one that may be erased for the user.
  private mutating func eraseEntry(
    _ seq: Int64, of user: String, in room: Int, _ order: LogRequest.Order, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard let entry = try kept(seq, in: room, &batch, &store) else { return true }
    if rooms[room].name == RoomName.reports {
      return try eraseReport(entry, of: user, in: room, &batch, &store)
    }
    guard let body = entry.erasedBody else { return true }
    guard entry.isErasable(for: user) else { return false }
    switch entry.kind {
    case .text, .data, .file:
      try redact(entry, by: UserName.relay, in: room, &batch, &store)
      try appendUnasked(
        .init(
          unasked: ClientMessage.Send(
            room: rooms[room].name, id: "erase-\(seq)", delete: seq), by: UserName.relay, order),
        to: room, &batch, &store)
    case .react:
      try takeBack(entry, in: room, order, &batch, &store)
      rewrite(entry, body, in: room, &batch)
    default: rewrite(entry, body, in: room, &batch)
    }
    return true
  }

  /// Replaces the body of an entry.
  private mutating func rewrite(
    _ entry: Entry, _ body: [UInt8], in room: Int, _ batch: inout Batch
  ) {
    if let own = batch.index(ofRoom: room, seq: entry.seq) {
      batch.entries[own].entry.body = body
    } else {
      batch.redactions.append(
        Batch.Redaction(room: room, seq: entry.seq, through: entry.seq, body: body))
    }
  }

  /// Takes a reaction back that is still given: clients that show it are told by an entry, in which the emoji
  /// stays until that entry is erased as well.
  private mutating func takeBack(
    _ entry: Entry, in room: Int, _ order: LogRequest.Order, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    guard let number = rooms[room].number, let (emoji, isOn) = entry.reaction, isOn,
      let target = entry.target,
      try store.emoji(
        of: target, inRoom: number, by: entry.from, upTo: EntryLimits.reactionsPerUser
      ).contains(emoji)
    else { return }
    let id = try freeID("erase-\(entry.seq)", of: entry.from, in: room, &batch, &store)
    let send = ClientMessage.Send(
      room: rooms[room].name, id: id, react: target, emoji: emoji, isOn: false)
    try appendUnasked(.init(unasked: send, by: entry.from, order), to: room, &batch, &store)
    rooms[room].recordSend(by: entry.from)
  }

  /// Returns an id that no entry of the user has: clients choose theirs, and may have foreseen this one.
  private mutating func freeID(
    _ wanted: String, of user: String, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> String {
    guard let number = rooms[room].number else { return wanted }
    var (id, tries) = (wanted, 0)
    while true {
      let identity = EntryIdentity(room: number, sender: user, id: id, key: store.identityKey)
      if batch.find(identity, room: room, sender: user, id: id) == nil,
        try store.find(
          identity, room: number, named: rooms[room].name, sender: user, id: id) == nil
      {
        return id
      }
      tries += 1
      id = "\(wanted).\(tries)"
    }
  }

  /// Removes what a report has of the user: the reason, if it is the user's report, and a copy of what the
  /// user has said.
  /// - Returns: whether there is anything of the user in it.
  private mutating func eraseReport(
    _ entry: Entry, of user: String, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard let record = ReportRecord(entry), let erased = record.erased(of: user) else {
      return false
    }
    guard erased.body != record.body else { return true }
    rewrite(entry, erased.body, in: room, &batch)
    if record.copy != nil, erased.copy == nil {
      batch.reports.append(.init(report: entry.seq, room: 0, seq: 0, at: 0, hasCopy: false))
    }
    return true
  }

  // MARK: - Rooms

  /// Ends the user's membership and what belongs to it. The last owner's room belongs to the operators then.
  private mutating func eraseMember(
    _ user: String, of room: Int, _ order: LogRequest.Order, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    if let (a, b) = RoomName.peers(of: rooms[room].name), user == a || user == b {
      let other = user == a ? b : a
      for (user, blocked) in [(user, other), (other, user)]
      where blocks.since(user, blocked: blocked) != nil {
        setBlock(of: user, blocked, on: false, in: room, &batch)
      }
      if let request = rooms[room].direct.request { acceptRequest(request.user, in: room, &batch) }
    }
    let standing = try standing(of: user, in: room, &store)
    guard standing != .unnamed, var rules = rules(of: room) else {
      removeMember(user, from: room, &batch)
      return
    }
    rules.forget(standing)
    let change = MemberChange(user: user, role: .none)
    let append = LogRequest.Append(
      unasked: ClientMessage.Send(
        room: rooms[room].name, id: "erase-\(rooms[room].head + 1)", member: change),
      by: UserName.relay, order)
    let entry = try appendUnasked(append, to: room, &batch, &store)
    batch.verdict = Verdict(rules: rules, named: (user, .unnamed))
    applyRules(append, entry, in: room, &batch)
  }
}

extension Entry {
  /// Whether the entry may be erased for a user: it is theirs, or a forward, which may have their text.
  func isErasable(for user: String) -> Bool { from == user || forward != nil }

  /// The body that the entry has once its sender is erased; `nil` if it has nothing to erase. What a `settings`
  /// says is the room's.
  var erasedBody: [UInt8]? {
    switch kind {
    case .text, .data, .file: hasDeletedBody ? nil : deletedBody(by: UserName.relay)
    case .edit: text == "" ? nil : target.map(Self.deletedEditBody)
    case .react: reaction?.emoji == "" ? nil : target.map(Self.erasedReactionBody)
    case .member:
      member.flatMap { change in
        var change = change
        change.reason = nil
        return change.body == body ? nil : change.body
      }
    default: nil
    }
  }

  /// A reaction that takes nothing back: clients read it like any other.
  private static func erasedReactionBody(on target: Int64) -> [UInt8] {
    Array("\"target\":\(target),\"emoji\":\"\",\"on\":false".utf8)
  }
}

extension ReportRecord {
  /// The record without what a user has said; `nil` if the user has nothing to do with it.
  func erased(of user: String) -> ReportRecord? {
    guard by == user || copy?.from == user else { return nil }
    var erased = self
    if by == user { erased.reason = "" }
    if copy?.from == user { erased.copy = nil }
    return erased
  }
}

extension LogRequest.Append {
  /// An entry that no client has sent.
  convenience init(
    unasked send: ClientMessage.Send, by user: String, _ order: LogRequest.Order
  ) {
    self.init(
      session: order.origin.session, room: send.room, user: user, id: send.id, kind: send.kind,
      body: send.body, reference: send.reference, mayCreate: true, receivedAt: order.receivedAt)
  }
}
