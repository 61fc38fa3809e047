internal import Relay
internal import SQLite
internal import Wire

/// Finds entries by room, sender and id.
extension StoreState {
  mutating func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(SQLiteError) -> Entry? {
    var lookup = tail.lookup(of: identity)
    for position in lookup.positions {
      if let entry = try entry(at: position, room, named: name, sender, id) { return entry }
    }
    while true {
      for position in try index.candidates(for: identity, on: lookup.indexSegments) {
        if let entry = try entry(at: position, room, named: name, sender, id) { return entry }
      }
      // Rows of merged index segments are deleted: a queried segment may have been removed
      // meanwhile.
      if lookup.indexSegments.isEmpty || tail.isCurrent(lookup) { return nil }
      lookup = tail.lookup(of: identity)
    }
  }

  /// How many index segments were queried for identities.
  var probes: Int { index.probes }

  private mutating func entry(
    at position: Int64, _ room: Int64, named name: String, _ sender: String, _ id: String
  ) throws(SQLiteError) -> Entry? {
    try statements.selectIdentical.bind(1, position)
    try statements.selectIdentical.bind(2, room)
    try statements.selectIdentical.bind(3, sender)
    try statements.selectIdentical.bind(4, id)
    defer { statements.selectIdentical.reset() }
    guard try statements.selectIdentical.step() else { return nil }
    var entry = try statements.selectIdentical.entry(in: name)
    if hasLeftovers, entry.kind == .edit, let target = entry.target,
      try isToBeRedacted(target, inRoom: room)
    {
      entry.redact(ifAbout: [target])
    }
    return entry
  }

  /// Whether a deleted text has edits that are not overwritten yet.
  private mutating func isToBeRedacted(
    _ target: Int64, inRoom room: Int64
  ) throws(SQLiteError) -> Bool {
    try statements.selectPendingRedaction.bind(1, room)
    try statements.selectPendingRedaction.bind(2, target)
    defer { statements.selectPendingRedaction.reset() }
    return try statements.selectPendingRedaction.step()
  }
}
