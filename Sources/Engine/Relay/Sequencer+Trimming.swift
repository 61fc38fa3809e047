import Wire

/// Retention: the entries that a batch removes.
extension Sequencer {
  /// Moves `first` up in the rooms that are to be trimmed, and in those of the batch that exceed the
  /// number of entries that they keep by more than a tenth. The slack makes such trims rare; what
  /// exceeds the limit by less is trimmed by a `RetentionTracker`, as is everything of rooms with a limit
  /// of bytes, which it has to read.
  mutating func trimRooms(
    _ batch: inout Batch, _ trims: [RoomTrim], _ store: inout some EntryLookup
  ) {
    for trim in trims {
      // A room that cannot be read now is trimmed later.
      guard let room = try? room(trim.room, &store), rooms[room].number != nil,
        rooms[room].head >= trim.head, trim.first > rooms[room].first
      else { continue }
      touch(room, &batch)
      self.trim(room, to: trim.first, &batch, &store)
    }
    let mostEntries = Retention.trimmedAtOnce + Int64(batch.entries.count)
    for room in batch.touched {
      guard let limit = entriesLimit(of: room) else { continue }
      let kept = rooms[room].head - rooms[room].first + 1
      if kept > limit + limit / 10 {
        let first = min(rooms[room].head - limit + 1, rooms[room].first + mostEntries)
        trim(room, to: first, &batch, &store)
      }
    }
  }

  private mutating func trim(
    _ room: Int, to first: Int64, _ batch: inout Batch, _ store: inout some EntryLookup
  ) {
    let trimmed = rooms[room].first...first - 1
    rooms[room].first = first
    if !batch.trimmed.contains(room) { batch.trimmed.append(room) }
    batch.trimmedEntries += trimmed.count
    if first > rooms[room].head {
      // The marks of the last sender follow from the entries that are gone.
      let key = MemberKey(room: room, user: rooms[room].last.sender)
      if rooms[room].members[key.user] != nil { batch.dirtyMembers.insert(key) }
    }
    // If they cannot be read now, the copies are removed with their age.
    try? removeCopies(ofEntries: trimmed, in: room, &batch, &store)
  }

  /// The number of entries that a room keeps; `nil` = all, or those that its other limits leave.
  private mutating func entriesLimit(of room: Int) -> Int64? {
    if rooms[room].retention.version != retentionVersion {
      let rule = retention.rule(for: rooms[room].name)
      rooms[room].retention = (retentionVersion, rule?.bytes == nil ? rule?.entries : nil)
    }
    return rooms[room].retention.entries
  }
}
