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
    if !defersArrivals || !changes.isEmpty || !unstoredSeen.mayWait {
      changes.seen = unstoredSeen.next
      batch.seen = changes.seen.map(\.user)
    }
    return changes
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
      guard let limit = entriesLimit(isReserved: rooms[index].isReserved) else { continue }
      let kept = rooms[index].head - rooms[index].first + 1
      if kept > limit + (exact.contains(index) ? 0 : limit / 10) {
        rooms[index].first = rooms[index].head - limit + 1
        batch.trimmed.append(index)
      }
    }
  }

  /// The number of entries that a room keeps; `nil` = all.
  private func entriesLimit(isReserved: Bool) -> Int64? {
    Self.entriesLimit(isReserved: isReserved, keepEntriesPerRoom: keepEntriesPerRoom)
  }

  /// The number of entries that a room keeps; `nil` = all.
  package static func entriesLimit(isReserved: Bool, keepEntriesPerRoom: Int64) -> Int64? {
    let limit = isReserved ? reservedEntriesLimit : keepEntriesPerRoom
    return limit > 0 ? limit : nil
  }
}
