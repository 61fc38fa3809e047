internal import SQLite
internal import Wire

extension StoreState {
  /// Overwrites the edits of a deleted text until the slice is full, and records where to continue.
  /// - Returns: whether all edits are overwritten.
  mutating func redactEdits(
    of target: Int64, inRoom room: Int64, after: Int64, _ slice: inout Leftovers.Slice
  ) throws(SQLiteError) -> Bool {
    var through = after
    for edit in try editsToRedact(target, room, after, limit: slice.editsLeft + 1) {
      guard slice.take(bytes: edit.bytes) else {
        try statements.upsertRedaction.bind(1, room)
        try statements.upsertRedaction.bind(2, target)
        try statements.upsertRedaction.bind(3, through)
        try statements.upsertRedaction.run()
        hasLeftovers = true
        return false
      }
      try overwrite(
        edit.seq, inRoom: room, at: edit.position, Entry.deletedEditBody(of: target))
      through = edit.seq
    }
    return true
  }

  private mutating func editsToRedact(
    _ target: Int64, _ room: Int64, _ after: Int64, limit: Int
  ) throws(SQLiteError) -> [(seq: Int64, position: Int64, bytes: Int64)] {
    try statements.selectEditsToRedact.bind(1, room)
    try statements.selectEditsToRedact.bind(2, target)
    try statements.selectEditsToRedact.bind(3, after)
    try statements.selectEditsToRedact.bind(4, Int64(limit))
    defer { statements.selectEditsToRedact.reset() }
    var edits: [(seq: Int64, position: Int64, bytes: Int64)] = []
    while try statements.selectEditsToRedact.step() {
      edits.append(
        (
          statements.selectEditsToRedact.integer(0), statements.selectEditsToRedact.integer(1),
          statements.selectEditsToRedact.integer(2)
        ))
    }
    return edits
  }

  /// Defers the deletion of reactions to entries that are no longer kept, if there are any.
  mutating func recordTrimmedReactions(
    ofRoom room: Int64, before first: Int64
  ) throws(SQLiteError) {
    guard try hasReactions(inRoom: room, before: first) else { return }
    try statements.upsertTrim.bind(1, room)
    try statements.upsertTrim.bind(2, first)
    try statements.upsertTrim.run()
    hasLeftovers = true
  }

  private mutating func hasReactions(
    inRoom room: Int64, before first: Int64
  ) throws(SQLiteError) -> Bool {
    try statements.selectReactionsBefore.bind(1, room)
    try statements.selectReactionsBefore.bind(2, first)
    defer { statements.selectReactionsBefore.reset() }
    return try statements.selectReactionsBefore.step()
  }

  /// Processes one slice of the deferred work, in a transaction of its own.
  mutating func tidy() throws(SQLiteError) {
    guard hasLeftovers else { return }
    var slice = Leftovers.Slice()
    var isDone: Bool
    do throws(SQLiteError) {
      try statements.begin.run()
      isDone = try redact(&slice)
      if isDone { isDone = try deleteTrimmedReactions() }
      try statements.commit.run()
    } catch {
      database.rollback()
      throw error
    }
    redactedEdits += slice.edits
    if slice.edits > 0 { hasDeleted = true }
    if isDone { hasLeftovers = false }
  }

  /// - Returns: whether nothing is left.
  private mutating func redact(_ slice: inout Leftovers.Slice) throws(SQLiteError) -> Bool {
    while slice.editsLeft > 0 {
      guard let (room, target, through) = try nextRedaction() else { return true }
      guard try redactEdits(of: target, inRoom: room, after: through, &slice) else { return false }
      try statements.deleteRedaction.bind(1, room)
      try statements.deleteRedaction.bind(2, target)
      try statements.deleteRedaction.run()
    }
    return false
  }

  private mutating func nextRedaction() throws(SQLiteError) -> (Int64, Int64, Int64)? {
    defer { statements.selectRedaction.reset() }
    guard try statements.selectRedaction.step() else { return nil }
    return (
      statements.selectRedaction.integer(0), statements.selectRedaction.integer(1),
      statements.selectRedaction.integer(2)
    )
  }

  /// - Returns: whether nothing is left.
  private mutating func deleteTrimmedReactions() throws(SQLiteError) -> Bool {
    guard let (room, first) = try nextTrim() else { return true }
    try statements.deleteReactions.bind(1, room)
    try statements.deleteReactions.bind(2, first)
    try statements.deleteReactions.bind(3, Leftovers.reactionsLimit)
    try statements.deleteReactions.run()
    guard try !hasReactions(inRoom: room, before: first) else { return false }
    try statements.deleteTrim.bind(1, room)
    try statements.deleteTrim.run()
    return try nextTrim() == nil
  }

  private mutating func nextTrim() throws(SQLiteError) -> (Int64, Int64)? {
    defer { statements.selectTrim.reset() }
    guard try statements.selectTrim.step() else { return nil }
    return (statements.selectTrim.integer(0), statements.selectTrim.integer(1))
  }
}
