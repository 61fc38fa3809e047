import Wire

/// The changes of a batch to the store.
extension Sequencer {
  /// - Parameter defersArrivals: whether the times at which users came may wait for a batch that has
  ///   other changes.
  func changes(of batch: inout Batch, defersArrivals: Bool = false) -> StoreChanges {
    var changes = StoreChanges()
    for index in batch.newRooms {
      if let number = rooms[index].number { changes.newRooms.append((number, rooms[index].name)) }
    }
    changes.entries = batch.entries
    for key in batch.dirtyMembers {
      guard let number = rooms[key.room].number, let marks = rooms[key.room].members[key.user]
      else { continue }
      assert(max(marks.read, marks.received) <= rooms[key.room].head, "a mark is at most the head")
      changes.members.append((number, key.user, marks, rooms[key.room].head))
    }
    for key in batch.formerMembers {
      if let number = rooms[key.room].number { changes.formerMembers.append((number, key.user)) }
    }
    for index in batch.trimmed {
      if let number = rooms[index].number { changes.trims.append((number, rooms[index].first)) }
      if rooms[index].name == RoomName.reports { changes.firstReport = rooms[index].first }
    }
    for redaction in batch.redactions {
      if let number = rooms[redaction.room].number {
        changes.redactions.append((number, redaction.seq, redaction.body))
      }
    }
    for room in batch.ruled {
      if let number = rooms[room].number, let rules = governed[number]?.rules {
        changes.rules.append((number, rules))
      }
    }
    for key in batch.judged {
      if let number = rooms[key.room].number,
        let standing = governed[number]?.standings[key.user]
      {
        changes.standings.append((number, key.user, standing))
      }
    }
    if batch.hasRareChanges { addRareChanges(of: batch, to: &changes) }
    if !defersArrivals || !changes.isEmpty || !unstoredSeen.mayWait {
      changes.seen = unstoredSeen.next
      batch.seen = changes.seen.map(\.user)
    }
    return changes
  }

  private func addRareChanges(of batch: Batch, to changes: inout StoreChanges) {
    for room in batch.directs.sorted() {
      if let number = rooms[room].number { changes.directs.append((number, rooms[room].direct)) }
    }
    changes.blocks = batch.blocks
    changes.reports = batch.reports
    changes.bans = batch.bans
    changes.erasedUsers = batch.erasedUsers
    changes.cleared = batch.cleared.compactMap { rooms[$0].number }
  }

  /// Moves `first` up in rooms that exceed their limit by more than a tenth. The slack makes trims
  /// rare, because a trim costs the same for one entry as for many.
  /// - Parameter names: rooms that are trimmed to exactly their limit.
  mutating func trimRooms(
    _ batch: inout Batch, exactly names: [String], _ store: inout some EntryLookup
  ) {
    var exact: Set<Int> = []
    for name in names {
      // A room that cannot be read now is trimmed by a later batch.
      guard let room = try? room(name, &store), rooms[room].number != nil else { continue }
      touch(room, &batch)
      exact.insert(room)
    }
    for index in batch.touched {
      let name = rooms[index].isReserved ? rooms[index].name : nil
      guard let limit = entriesLimit(reserved: name) else { continue }
      let kept = rooms[index].head - rooms[index].first + 1
      if kept > limit + (exact.contains(index) ? 0 : limit / 10) {
        let trimmed = rooms[index].first...rooms[index].head - limit
        rooms[index].first = trimmed.upperBound + 1
        batch.trimmed.append(index)
        // If they cannot be read now, the copies are removed with their age.
        try? removeCopies(ofEntries: trimmed, in: index, &batch, &store)
      }
    }
  }

  /// The number of entries that a room keeps; `nil` = all.
  private func entriesLimit(reserved name: String?) -> Int64? {
    Self.entriesLimit(reserved: name, keepEntriesPerRoom: keepEntriesPerRoom)
  }

  /// The number of entries that a room keeps; `nil` = all.
  /// - Parameter name: that of a room of the relay's own; `nil` = it is none.
  package static func entriesLimit(reserved name: String?, keepEntriesPerRoom: Int64) -> Int64? {
    let limit =
      switch name {
      case nil: keepEntriesPerRoom
      case RoomName.audit: Int64(0)
      case RoomName.reports: reportsLimit
      default: reservedEntriesLimit
      }
    return limit > 0 ? limit : nil
  }
}
