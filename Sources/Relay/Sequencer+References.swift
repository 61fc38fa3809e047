import Wire

#if PLANTED_BUGS
  internal import PlantedBugs
#endif

/// Entries that are about others: whether they may be, and what becomes of those.
extension Sequencer {
  /// Holds what an append refers to against the log, before the append has a place in it.
  /// - Returns: what the entry is to say, or why it is refused.
  mutating func resolve(
    _ append: LogRequest.Append, _ room: Int, _ batch: inout Batch, _ store: inout some EntryStore
  ) throws(StoreFailure) -> Result<[UInt8], WireError> {
    switch append.reference {
    case nil: return .success(append.body)
    case .reply(let seq):
      // What was deleted or is no longer kept may be answered all the same: it was there.
      guard (1...max(1, rooms[room].head)).contains(seq), rooms[room].head > 0 else {
        return .failure(Self.noSuchEntry(append, seq, in: append.room, "reply_to"))
      }
      return .success(append.body)
    case .forward(let forward):
      let source = try self.room(forward.room, &store)
      guard let entry = try text(forward.seq, in: source, &batch, &store) else {
        return .failure(Self.noSuchEntry(append, forward.seq, in: forward.room, "forward"))
      }
      let text = try currentText(of: entry, in: source, &batch, &store)
      var body = ClientMessage.Send(room: append.room, id: append.id, text: text).body
      body += Array(",\"forward\":".utf8)
      Forward(room: forward.room, seq: forward.seq, from: entry.from).append(to: &body)
      return .success(body)
    case .target(let target):
      guard let entry = try text(target, in: room, &batch, &store) else {
        return .failure(Self.noSuchEntry(append, target, in: append.room, "target"))
      }
      if append.kind != .react, entry.from != append.user {
        return .failure(
          WireError(
            .forbidden, "Only \(entry.from) may change or delete entry \(target), which is theirs.",
            re: "send", room: append.room, id: append.id, field: "target"))
      }
      if append.kind == .edit, entry.forward != nil {
        return .failure(
          WireError(
            .forbidden, "Entry \(target) is a forwarded one: its words are another's.", re: "send",
            room: append.room, id: append.id, field: "target"))
      }
      if append.kind == .delete { try blank(entry, in: room, &batch, &store) }
      return .success(append.body)
    }
  }

  private static func noSuchEntry(
    _ append: LogRequest.Append, _ seq: Int64, in room: String, _ field: String
  ) -> WireError {
    WireError(
      .noSuchEntry,
      "There is no text \(seq) in \(room): it was deleted, is no longer kept, or never was one.",
      re: "send", room: append.room, id: append.id, field: field)
  }

  /// The entry, if it is a text that is there and was not deleted.
  private mutating func text(
    _ seq: Int64, in room: Int, _ batch: inout Batch, _ store: inout some EntryStore
  ) throws(StoreFailure) -> Entry? {
    guard let number = rooms[room].number, seq >= rooms[room].first, seq <= rooms[room].head else {
      return nil
    }
    var entry: Entry?
    if let index = batch.index(ofRoom: room, seq: seq) {
      entry = batch.entries[index].entry
    } else if batch.blanks.contains(where: { $0.room == room && $0.seq == seq }) {
      return nil
    } else {
      entry = try store.entry(seq, ofRoom: number, named: rooms[room].name)
    }
    guard let entry, entry.kind == .text, entry.body != Entry.deletedTextBody else { return nil }
    return entry
  }

  /// What a text says with its last edit.
  private mutating func currentText(
    of entry: Entry, in room: Int, _ batch: inout Batch, _ store: inout some EntryStore
  ) throws(StoreFailure) -> String {
    if let last = batch.edits(of: entry.seq, room: room).last {
      return batch.entries[last].entry.text ?? ""
    }
    guard rooms[room].changes > 0, let number = rooms[room].number else { return entry.text ?? "" }
    let edits = try store.edits(of: entry.seq, inRoom: number, named: rooms[room].name)
    return (edits.last ?? entry).text ?? ""
  }

  /// Takes the text out of an entry and of every edit of it.
  private mutating func blank(
    _ entry: Entry, in room: Int, _ batch: inout Batch, _ store: inout some EntryStore
  ) throws(StoreFailure) {
    for index in batch.edits(of: entry.seq, room: room) {
      batch.entries[index].entry.body = Entry.deletedEditBody(of: entry.seq)
    }
    if let index = batch.index(ofRoom: room, seq: entry.seq) {
      batch.entries[index].entry.body = Entry.deletedTextBody
      // Its edits are of this batch as well.
      return
    }
    guard let number = rooms[room].number else { return }
    #if PLANTED_BUGS
      if PlantedBug.editsOfDeletedStay.isActive {
        batch.blanks.append(Batch.Blank(room: room, seq: entry.seq, body: Entry.deletedTextBody))
        return
      }
    #endif
    for edit in try store.edits(of: entry.seq, inRoom: number, named: rooms[room].name) {
      batch.blanks.append(
        Batch.Blank(room: room, seq: edit.seq, body: Entry.deletedEditBody(of: entry.seq)))
    }
    batch.blanks.append(Batch.Blank(room: room, seq: entry.seq, body: Entry.deletedTextBody))
  }

  /// What was deleted, as loops have to know it.
  static func blankings(_ batch: Batch, _ rooms: [SequencedRoom]) -> [Commit.Blanking] {
    var through: [Int: Int64] = [:]
    for blank in batch.blanks { through[blank.room] = max(through[blank.room] ?? 0, blank.seq) }
    return through.map { Commit.Blanking(room: rooms[$0.key].name, through: $0.value) }
  }

  /// Entries of others that say something and that lie behind a read mark, as of the last batch.
  mutating func unread(
    _ room: Int, read: Int64, _ store: inout some EntryStore
  ) throws(StoreFailure) -> Int64 {
    let base = max(read, rooms[room].first - 1)
    let total = rooms[room].changes
    guard base < rooms[room].head else { return 0 }
    var unread = rooms[room].head - base
    if total > 0, let number = rooms[room].number {
      unread -= total - (try store.changes(inRoom: number, through: base, total: total))
    }
    return unread
  }
}

extension Sequencer {
  /// As `unread`, and where the store cannot be read what it is at most: `activity` with it comes late
  /// rather than not at all, and the next `rooms` puts it right.
  mutating func unreadIfKnown(
    _ room: Int, read: Int64, _ store: inout some EntryStore
  ) -> Int64 {
    (try? unread(room, read: read, &store))
      ?? max(0, rooms[room].head - max(read, rooms[room].first - 1))
  }
}

extension WireError {
  /// Whether it tells that a send may not refer to what it refers to.
  var isAboutEntries: Bool { re == "send" && (code == .noSuchEntry || code == .forbidden) }
}
