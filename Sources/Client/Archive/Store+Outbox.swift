internal import SQLite
internal import Wire

extension Store {
  /// - Parameter owner: See `InstanceLock`.
  func insert(_ outgoing: Archive.Outgoing, owner: Int64) throws(SQLiteError) {
    let send = outgoing.send
    try statements.insertOutgoing.bind(1, send.room)
    try statements.insertOutgoing.bind(2, send.id)
    try statements.insertOutgoing.bind(3, send.kind.rawValue)
    try statements.insertOutgoing.bind(4, send.body)
    let reference = StoredReference(send.reference)
    try statements.insertOutgoing.bind(5, reference?.kind)
    try statements.insertOutgoing.bind(6, reference?.seq)
    try statements.insertOutgoing.bind(7, reference?.room)
    try statements.insertOutgoing.bind(8, reference?.from)
    try statements.insertOutgoing.bind(9, outgoing.at)
    try statements.insertOutgoing.bind(10, outgoing.refusal)
    try statements.insertOutgoing.bind(11, owner)
    try statements.insertOutgoing.run()
  }

  /// - Parameter isWanted: Called with the owner of each message.
  func outbox(where isWanted: (Int64) -> Bool) throws(SQLiteError) -> [Archive.Outgoing] {
    var outbox: [Archive.Outgoing] = []
    defer { statements.selectOutgoing.reset() }
    while try statements.selectOutgoing.step() {
      guard isWanted(statements.selectOutgoing.integer(10)) else { continue }
      outbox.append(Archive.Outgoing(row: statements.selectOutgoing))
    }
    return outbox
  }

  func outboxOwners() throws(SQLiteError) -> [Int64] {
    var owners: [Int64] = []
    defer { statements.selectOwners.reset() }
    while try statements.selectOwners.step() { owners.append(statements.selectOwners.integer(0)) }
    return owners
  }

  func adoptOutbox(of owner: Int64, by other: Int64) throws(SQLiteError) {
    try statements.adoptOutgoing.bind(1, owner)
    try statements.adoptOutgoing.bind(2, other)
    try statements.adoptOutgoing.run()
  }

  func deleteOutgoing(room: String, id: String) throws(SQLiteError) {
    try statements.deleteOutgoing.bind(1, room)
    try statements.deleteOutgoing.bind(2, id)
    try statements.deleteOutgoing.run()
  }

  func setRefusal(_ refusal: String?, room: String, id: String) throws(SQLiteError) {
    try statements.refuseOutgoing.bind(1, room)
    try statements.refuseOutgoing.bind(2, id)
    try statements.refuseOutgoing.bind(3, refusal)
    try statements.refuseOutgoing.run()
  }
}

extension Archive.Outgoing {
  /// Decodes a row that begins with `Statements.outgoingColumns`.
  init(row: borrowing Statement) {
    let reference = row.optionalText(4).flatMap { kind in
      StoredReference(
        kind: kind, seq: row.integer(5), room: row.optionalText(6), from: row.optionalText(7)
      ).reference
    }
    send = ClientMessage.Send(
      room: row.text(0), id: row.text(1), kind: EntryKind(rawValue: row.text(2)),
      body: row.blob(3), reference: reference)
    at = row.integer(8)
    refusal = row.optionalText(9)
  }
}

/// An outgoing message's reference, in the form in which a row stores it: that of a file has its id as the room.
private struct StoredReference {
  var kind: String
  var seq: Int64
  var room: String?
  var from: String?

  init(kind: String, seq: Int64, room: String?, from: String?) {
    self.kind = kind
    self.seq = seq
    self.room = room
    self.from = from
  }

  init?(_ reference: ClientMessage.Reference?) {
    switch reference {
    // The body has all of what a notice says.
    case nil, .settings, .member: return nil
    case .reply(let seq): self.init(kind: "reply", seq: seq, room: nil, from: nil)
    case .file(let id, let replyTo):
      self.init(kind: "file", seq: replyTo ?? 0, room: id, from: nil)
    case .target(let seq): self.init(kind: "target", seq: seq, room: nil, from: nil)
    case .forward(let forward):
      self.init(kind: "forward", seq: forward.seq, room: forward.room, from: forward.from)
    }
  }

  var reference: ClientMessage.Reference? {
    switch kind {
    case "reply": .reply(to: seq)
    case "target": .target(seq)
    case "file": room.map { .file(id: $0, replyTo: seq == 0 ? nil : seq) }
    case "forward": room.map { .forward(Forward(room: $0, seq: seq, from: from)) }
    default: nil
    }
  }
}
