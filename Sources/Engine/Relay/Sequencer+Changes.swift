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

  private func addRareChanges(of batch: borrowing Batch, to changes: inout StoreChanges) {
    for room in batch.directs.sorted() {
      if let number = rooms[room].number { changes.directs.append((number, rooms[room].direct)) }
    }
    changes.blocks = batch.blocks
    changes.reports = batch.reports
    changes.bans = batch.bans
    changes.erasedUsers = batch.erasedUsers
    changes.files = batch.newFiles
    changes.expiredFiles = batch.expiredFiles
    changes.removedBytes = batch.removedBytes
    changes.cleared = batch.cleared.compactMap { rooms[$0].number }
  }
}
