import Moderation
import Wire

/// What only operators of the relay do. Each act is an entry of `sys:audit`.
extension Sequencer {
  /// Bans a user from the relay, or lets them in again. The loops keep them out.
  mutating func ban(
    _ change: BanChange, _ order: LogRequest.Order, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    try record(Act(change, by: order.user), order, &batch, &store)
    batch.bans.append(change)
    batch.promises.append((loop, order.origin, room: nil))
  }

  /// Removes the entries and the members of a room: only the entry remains that says so. The room is private
  /// then and has no owner: its name is not free, so that no old client meets a new room in it.
  mutating func deleteRoom(
    _ name: String, _ order: LogRequest.Order, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    let room = try room(name, &store)
    guard let number = rooms[room].number, Self.takesNotices(name) else {
      let error = WireError(
        .noSuchRoom, "There is no room \(name) that can be deleted.", re: order.origin.re,
        room: name)
      batch.answers.append((loop, .answer(order.origin, .error(error))))
      return
    }
    var members = Set(rooms[room].members.keys)
    if rooms[room].otherMembers > 0 {
      members.formUnion(try store.members(ofRoom: number, limit: .max))
    }
    let user = order.user
    try record(Act(deletionOf: name, by: user), order, &batch, &store)
    var closed = RoomSettings()
    closed.access = .private
    var change = RoomSettings.Change()
    change.access = .private
    let append = LogRequest.Append(
      unasked: ClientMessage.Send(
        room: name, id: "delete-\(rooms[room].head + 1)", settings: change), by: user, order)
    let entry = try appendUnasked(append, to: room, &batch, &store)
    batch.verdict = Verdict(
      rules: RoomRules(closed, RoomRules.Counts()), closes: true, outsiders: members.sorted())
    applyRules(append, entry, in: room, &batch)
    governed[number]?.clearStandings()
    batch.judged = batch.judged.filter { $0.room != room }
    batch.cleared.insert(room)
    try removeCopies(ofEntries: rooms[room].first...entry.seq, in: room, &batch, &store)
    rooms[room].first = entry.seq
    if !batch.trimmed.contains(room) { batch.trimmed.append(room) }
    membershipCounts = [:]
    batch.promises.append((loop, order.origin, room: name))
  }

  /// Records what an operator has changed that is not in the log.
  mutating func recordAct(
    _ act: Act, _ order: LogRequest.Order, from loop: Int, _ batch: inout Batch,
    _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    try record(act, order, &batch, &store)
    batch.promises.append((loop, order.origin, room: nil))
  }

  mutating func record(
    _ act: Act, _ order: LogRequest.Order, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) {
    // Each act is one of its own: its place in the log makes it so.
    let room = try room(RoomName.audit, &store)
    try record(
      act.body, in: RoomName.audit, id: "act-\(rooms[room].head + 1)",
      receivedAt: order.receivedAt, &batch, &store)
  }
}
