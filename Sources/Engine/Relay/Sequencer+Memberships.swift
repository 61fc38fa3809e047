import HeapModule
import Moderation
import Wire

/// Lists the memberships of users, and limits their number.
extension Sequencer {
  // MARK: - A slice

  /// Answers a question for one slice of a user's memberships. This neither loads rooms that are
  /// not in use into memory nor reads their members.
  mutating func memberships(
    _ question: Batch.Question, _ store: inout some EntryLookup
  ) -> LogAnswer {
    var memberships: [LogAnswer.Membership] = []
    var next = Optional(question.after)
    do throws(StoreFailure) {
      for name in question.listed {
        if let membership = try listed(name, question.user, &store) {
          memberships.append(membership)
        }
      }
      if question.limit > 0 {
        var slice: [LogAnswer.Membership] = []
        next = addUnstored(question, to: &slice)
        if case .stored(let number) = next {
          next = try addStored(question, after: number, to: &slice, &store)
        }
        memberships += slice
      }
    } catch {
      return .memberships(
        ticket: question.ticket, user: question.user, [], next: nil, isComplete: false)
    }
    return .memberships(
      ticket: question.ticket, user: question.user, memberships, next: next, isComplete: true)
  }

  /// - Returns: where the next slice begins.
  private func addUnstored(
    _ question: Batch.Question, to slice: inout [LogAnswer.Membership]
  ) -> MembershipsCursor {
    guard case .unstored(var last) = question.after else { return question.after }
    // The heap yields the names in order, and looks at each once per slice instead of sorting all
    // of them.
    var names = Heap(unstored.rooms(of: question.user, after: last))
    while slice.count < question.limit, let name = names.popMin() {
      slice.append(
        LogAnswer.Membership(room: name, belongs: true, head: 0, read: 0, unread: Unread()))
      last = name
    }
    return names.isEmpty ? .stored(after: 0) : .unstored(after: last)
  }

  /// - Returns: where the next slice begins; `nil` if this slice is the last.
  private func addStored(
    _ question: Batch.Question, after number: Int64, to slice: inout [LogAnswer.Membership],
    _ store: inout some EntryLookup
  ) throws(StoreFailure) -> MembershipsCursor? {
    let limit = question.limit - slice.count
    guard limit > 0 else { return .stored(after: number) }
    let stored = try store.memberships(of: question.user, after: number, limit: limit)
    var last = number
    var runs = 0
    for stored in stored {
      // The rest is for the next slices.
      if runs >= Self.unreadRunsLimit { return .stored(after: last) }
      last = stored.number
      let stored = try current(stored, question.user).checked()
      guard let marks = stored.marks, try isShown(stored, to: question.user, &store) else {
        continue
      }
      slice.append(
        LogAnswer.Membership(
          room: stored.room, belongs: true, head: stored.head, read: marks.read,
          unread: try Self.unread(of: question.user, stored, runs: &runs, &store),
          first: stored.first, lastAt: stored.lastAt))
    }
    return stored.count < limit ? nil : .stored(after: last)
  }

  /// Whether a room is in the user's list: not while it is an invitation by a user who is blocked.
  private func isShown(
    _ membership: StoredMembership, to user: String, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    if blocks.count(by: user) == 0 { return true }
    let inviter = try store.standing(of: user, inRoom: membership.number).inviter
    return inviter.map { blocks.since(user, blocked: $0) == nil } ?? true
  }

  /// Returns a listed room; `nil` if the user belongs to it.
  private mutating func listed(
    _ name: String, _ user: String, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> LogAnswer.Membership? {
    var membership = LogAnswer.Membership(
      room: name, belongs: false, head: 0, read: 0, unread: Unread())
    if let index = indices[name], !rooms[index].isStale,
      !rooms[index].mustRead(user, batch: batchNumber)
    {
      if rooms[index].members[user] != nil { return nil }
      membership.head = rooms[index].head
      membership.first = rooms[index].first
      membership.lastAt = rooms[index].lastAt
    } else if let stored = try store.membership(of: user, toRoom: name)?.checked() {
      if stored.marks != nil { return nil }
      membership.head = stored.head
      membership.first = stored.first
      membership.lastAt = stored.lastAt
    }
    return membership
  }

  /// Returns the membership with the room's state in memory, if it is there: its marks may be newer
  /// than those in the store.
  private func current(_ stored: StoredMembership, _ user: String) -> StoredMembership {
    guard let index = indices[stored.room], !rooms[index].isStale else { return stored }
    var stored = stored
    stored.head = rooms[index].head
    stored.first = rooms[index].first
    stored.lastAt = rooms[index].lastAt
    stored.changes = rooms[index].changes
    stored.direct = rooms[index].direct
    if !rooms[index].mustRead(user, batch: batchNumber) {
      stored.marks = rooms[index].members[user]
    }
    return stored
  }

  // MARK: - The limit of memberships

  /// Whether a user may belong to one more room.
  mutating func mayBelong(
    _ user: String, to room: Int, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard roomsPerUser > 0, !rooms[room].isReserved else { return true }
    if rooms[room].members[user] != nil,
      try standing(of: user, in: room, &store).inviter == nil
    {
      return true
    }
    return try membershipCount(user, batch, &store) < roomsPerUser
  }

  /// Whether a user may invite another one: until that one takes part in the room, it counts among the
  /// rooms of the inviter.
  mutating func mayInvite(
    _ user: String, _ batch: inout Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    if roomsPerUser == 0 { return true }
    return try membershipCount(user, batch, &store) < roomsPerUser
  }

  /// Returns how many rooms a user belongs to at this point of the batch. The count is read from
  /// the store once per user, and then kept up to date.
  private mutating func membershipCount(
    _ user: String, _ batch: borrowing Batch, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Int {
    if let count = membershipCounts[user] { return count }
    var count = try store.membershipCount(of: user)
    count += unstored.count(of: user) + (batch.unwritten[user] ?? 0)
    // They count, too, so that a full disk does not let a user exceed the limit.
    count += retries.rooms(of: user)
    membershipCounts[user] = count
    return count
  }

  /// Adjusts the user's counts after they became a member of a room or left one.
  mutating func countMembership(_ user: String, _ change: Int, isStored: Bool, _ batch: inout Batch)
  {
    if isStored { batch.unwritten[user, default: 0] += change }
    if let count = membershipCounts[user] { membershipCounts[user] = count + change }
  }

  /// Returns the error for a user who cannot belong to one more room.
  func roomsPerUserReached(_ user: String, re: RequestName, room: String, id: String? = nil)
    -> WireError
  {
    WireError(
      .limitReached,
      "\(user) has reached the limit of \(roomsPerUser) rooms; leave one with \"forget\" first.",
      re: re, room: room, id: id, field: "rooms_per_user")
  }
}
