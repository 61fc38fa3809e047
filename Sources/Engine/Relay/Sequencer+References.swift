import Wire

/// Entries that refer to other entries: whether the reference is valid, and its effect on the other
/// entry.
extension Sequencer {
  /// Checks the reference of an append against the log, before the append has a place in it.
  /// - Returns: the body of the entry, or the reason for which it is refused.
  mutating func resolve(
    _ append: LogRequest.Append, _ room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Result<[UInt8], WireError> {
    switch append.reference {
    case nil, .settings, .member: return .success(append.body)
    case .file(let id, let replyTo):
      if let replyTo, try !mayReply(to: replyTo, append, room, &batch, &store) {
        return .failure(Self.noSuchEntry(append, replyTo, in: append.room, "reply_to"))
      }
      return try resolve(file: id, append, &batch, &store)
    case .reply(let seq):
      guard try mayReply(to: seq, append, room, &batch, &store) else {
        return .failure(Self.noSuchEntry(append, seq, in: append.room, "reply_to"))
      }
      return .success(append.body)
    case .forward(let forward):
      let source = try self.room(forward.room, &store)
      guard
        try isReadable(forward.seq, by: append.user, append.isOperator, in: source, &batch, &store),
        let entry = try content(forward.seq, in: source, &batch, &store), entry.kind == .text,
        !hides(entry, from: append.user, in: source)
      else {
        return .failure(Self.noSuchEntry(append, forward.seq, in: forward.room, "forward"))
      }
      let text = try currentText(of: entry, for: append.user, in: source, &batch, &store)
      var body = ClientMessage.Send(room: append.room, id: append.id, text: text).body
      body += Array(",\"forward\":".utf8)
      Forward(room: forward.room, seq: forward.seq, from: entry.from).append(to: &body)
      return .success(body)
    case .target(let target):
      guard try isReadable(target, by: append.user, append.isOperator, in: room, &batch, &store),
        let entry = try content(target, in: room, &batch, &store),
        entry.kind.isEditable || append.kind == .delete, !hides(entry, from: append.user, in: room)
      else {
        return .failure(Self.noSuchEntry(append, target, in: append.room, "target"))
      }
      let isOwn = entry.from == append.user
      var mayChange = isOwn || append.kind == .react
      if !mayChange, append.kind == .delete {
        mayChange = try mayDelete(entry, append, in: room, &batch, &store)
      }
      if !mayChange {
        return .failure(
          WireError(
            .forbidden, "Only \(entry.from) may change or delete entry \(target).",
            re: .send, room: append.room, id: append.id, field: "target"))
      }
      if append.kind == .edit, entry.forward != nil {
        return .failure(
          WireError(
            .forbidden, "Entry \(target) is forwarded and cannot be edited.", re: .send,
            room: append.room, id: append.id, field: "target"))
      }
      switch append.kind {
      case .edit:
        if let error = try editLimit(append, target, in: room, &batch, &store) {
          return .failure(error)
        }
      case .react:
        if let error = try reactionLimit(append, target, in: room, &batch, &store) {
          return .failure(error)
        }
      case .delete: try redact(entry, by: isOwn ? nil : append.user, in: room, &batch, &store)
      default: break
      }
      return .success(append.body)
    }
  }

  /// Whether a reply may refer to an entry: also to one that was deleted or is no longer kept, because it did exist.
  private mutating func mayReply(
    to seq: Int64, _ append: LogRequest.Append, _ room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard (1...max(1, rooms[room].head)).contains(seq), rooms[room].head > 0,
      try isReadable(seq, by: append.user, append.isOperator, in: room, &batch, &store)
    else { return false }
    return try !isHidden(seq, from: append.user, in: room, &batch, &store)
  }

  /// Whether an entry that is kept is hidden from a user: it is read only if it may be.
  private mutating func isHidden(
    _ seq: Int64, from user: String, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard rooms[room].direct.hidden.contains(where: { $0.sender != user && $0.contains(seq) })
    else { return false }
    if let place = batch.index(ofRoom: room, seq: seq) {
      return hides(batch.entries[place].entry, from: user, in: room)
    }
    guard let number = rooms[room].number, seq >= rooms[room].first else { return false }
    let entry = try store.entry(seq, ofRoom: number, named: rooms[room].name)
    return entry.map { hides($0, from: user, in: room) } ?? false
  }

  // MARK: - Limits

  /// Refuses an edit beyond the limit of edits per entry. Counts no further than the limit.
  private func editLimit(
    _ append: LogRequest.Append, _ target: Int64, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> WireError? {
    let limit = limits.editsPerEntry
    guard limit > 0 else { return nil }
    var count = batch.edits(of: target, room: room).count
    if count < limit, rooms[room].changes > 0, let number = rooms[room].number {
      count += try store.editCount(of: target, inRoom: number, upTo: limit)
    }
    guard count >= limit else { return nil }
    return WireError(
      .limitReached, "Entry \(target) has reached the limit of \(limit) edits.",
      re: .send, room: append.room, id: append.id, field: "edits_per_entry")
  }

  /// Refuses a reaction beyond the limits. An emoji that the entry, or this user, has already does
  /// not count again.
  private func reactionLimit(
    _ append: LogRequest.Append, _ target: Int64, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> WireError? {
    let limit = limits.reactionsPerEntry
    let entry = Entry(
      room: append.room, seq: 0, id: append.id, from: append.user, at: 0, kind: append.kind,
      body: append.body)
    guard limit > 0, let (emoji, isOn) = entry.reaction, isOn else { return nil }
    let place = Batch.Place(room: room, seq: target)
    let number = rooms[room].changes > 0 ? rooms[room].number : nil
    var given = batch.emoji[place] ?? Batch.GivenEmoji(all: [])
    if let number, batch.emoji[place] == nil {
      given.all = try store.emoji(of: target, inRoom: number, by: nil, upTo: limit)
    }
    var own = given.own[append.user] ?? []
    if let number, given.own[append.user] == nil {
      own = try store.emoji(
        of: target, inRoom: number, by: append.user, upTo: EntryLimits.reactionsPerUser)
    }
    defer { batch.emoji[place] = given }
    var message: String?
    if !own.contains(emoji) {
      if own.count >= EntryLimits.reactionsPerUser {
        message =
          "You have reached the limit of \(own.count) emoji on entry \(target); remove one first."
      } else if !given.all.contains(emoji), given.all.count >= limit {
        message =
          "Entry \(target) has reached the limit of \(limit) different emoji; use one of them."
      } else {
        own.insert(emoji)
        given.all.insert(emoji)
      }
    }
    given.own[append.user] = own
    return message.map {
      WireError(
        .limitReached, $0, re: .send, room: append.room, id: append.id,
        field: "reactions_per_entry")
    }
  }

  static func noSuchEntry(
    _ append: LogRequest.Append, _ seq: Int64, in room: String, _ field: String
  ) -> WireError {
    WireError(
      .noSuchEntry,
      "Entry \(seq) in \(room) does not exist, was deleted, is no longer kept, or has the wrong kind.",
      re: .send, room: append.room, id: append.id, field: field)
  }

  /// Returns an entry with content; `nil` if it does not exist, is no longer kept, or was
  /// deleted.
  mutating func content(
    _ seq: Int64, in room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Entry? {
    guard let entry = try kept(seq, in: room, &batch, &store), entry.kind.isContent,
      !entry.hasDeletedBody
    else { return nil }
    return entry
  }

  /// Returns an entry of any kind; `nil` if it does not exist, is no longer kept, or was redacted in this
  /// batch.
  mutating func kept(
    _ seq: Int64, in room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Entry? {
    guard let number = rooms[room].number, seq >= rooms[room].first, seq <= rooms[room].head else {
      return nil
    }
    if let index = batch.index(ofRoom: room, seq: seq) { return batch.entries[index].entry }
    if batch.redactions.contains(where: { $0.room == room && $0.seq == seq }) { return nil }
    return try store.entry(seq, ofRoom: number, named: rooms[room].name)
  }

  /// Returns the text of an entry after its last edit that is shown to a user.
  mutating func currentText(
    of entry: Entry, for user: String, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> String {
    for place in batch.edits(of: entry.seq, room: room).reversed() {
      let edit = batch.entries[place].entry
      if !hides(edit, from: user, in: room) { return edit.text ?? "" }
    }
    guard rooms[room].changes > 0, let number = rooms[room].number else { return entry.text ?? "" }
    var through = Int64.max
    while let edit = try store.lastEdit(
      of: entry.seq, through: through, inRoom: number, named: rooms[room].name)
    {
      if !hides(edit, from: user, in: room) { return edit.text ?? "" }
      through = edit.seq - 1
    }
    return entry.text ?? ""
  }

  /// Redacts an entry and all of its edits. The store finds the edits that it has: of these only
  /// the last one is read here, however many there are.
  /// - Parameter moderator: who deletes it, unless that is its sender.
  mutating func redact(
    _ entry: Entry, by moderator: String?, in room: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    try removeCopies(ofEntries: entry.seq...entry.seq, in: room, &batch, &store)
    let own = batch.index(ofRoom: room, seq: entry.seq)
    var through = entry.seq
    // Those of an entry of this batch are in this batch as well.
    if own == nil, entry.kind.isEditable, rooms[room].changes > 0, let number = rooms[room].number {
      do throws(StoreFailure) {
        let edit = try store.lastEdit(
          of: entry.seq, through: .max, inRoom: number, named: rooms[room].name)
        through = edit?.seq ?? through
      } catch {
        // It is overwritten all the same.
        guard error.damage == .entry else { throw error }
        through = rooms[room].head
      }
    }
    for index in batch.edits(of: entry.seq, room: room) {
      batch.entries[index].entry.body = Entry.deletedEditBody(of: entry.seq)
    }
    if let own {
      batch.entries[own].entry.body = entry.deletedBody(by: moderator)
      return
    }
    batch.redactions.append(
      Batch.Redaction(
        room: room, seq: entry.seq, through: through, body: entry.deletedBody(by: moderator)))
  }

  /// Returns the redactions of a batch that the loops have to apply.
  static func redactions(_ batch: borrowing Batch, _ rooms: [SequencedRoom]) -> [Commit.Redaction] {
    var through: [Int: Int64] = [:]
    for redaction in batch.redactions {
      through[redaction.room] = max(through[redaction.room] ?? 0, redaction.through)
    }
    return through.map { Commit.Redaction(room: rooms[$0.key].name, through: $0.value) }
  }
}

extension WireError {
  /// Whether a send was refused because of other entries, possibly of the same batch.
  var isAboutEntries: Bool {
    guard re == .send else { return false }
    return code == .noSuchEntry || code == .noSuchRoom || code == .forbidden
      || code == .limitReached || code == .idConflict
  }
}
