import Wire

/// Rolls back a batch that was not stored, and keeps the parts of it that are retried.
extension Sequencer {
  /// Adds the membership changes and marks that earlier batches could not store to this batch.
  mutating func retryMembers(_ batch: inout Batch, _ store: inout some EntryStore) {
    for key in membersToRetry.keys.sorted() {
      guard (try? refresh(key.room, &store)) != nil,
        let retry = membersToRetry.removeValue(forKey: key)
      else { continue }
      // A room that is not stored has lost nothing.
      guard rooms[key.room].number != nil else { continue }
      batch.retried[key] = retry
      if retry.belongs {
        add(key.user, to: key.room, marks: MemberMarks(sent: rooms[key.room].head), &batch)
        mark(key.room, user: key.user, retry.marks, &batch)
      } else {
        forget(key.user, key.room, &batch)
      }
      // The user was counted when the retry was kept.
      membershipCounts[key.user] = nil
    }
  }

  /// Resets the rooms that the batch touched to their state in the store, or to having none.
  mutating func rollBack(_ batch: inout Batch) {
    for index in batch.touched.sorted() {
      guard batch.newRooms.contains(index) else {
        rooms[index].isStale = true
        continue
      }
      rooms[index].becomeUnstored()
      let name = rooms[index].name
      // A user who became a member only by sending did not become one: nothing was sent.
      let joiners = Set(
        batch.subscribing.filter { $0.room == index && $0.refusal == nil }.map(\.request.user))
      for change in batch.membershipChanges
      where change.room == name && change.belongs && !joiners.contains(change.user) {
        rooms[index].members[change.user] = nil
      }
      for user in rooms[index].members.keys { unstored.insert(name, of: user) }
      forgetIfAbandoned(index, &batch)
    }
  }

  /// Returns the refusals for one loop of a batch that was not stored, in the order of its requests:
  /// those of the batch, and one for each send that the batch has accepted.
  func refusals(of batch: Batch, for loop: Int) -> [Batch.RefusedAppend] {
    var refusals: [Batch.RefusedAppend] = []
    var others = batch.refusals.filter { $0.loop == loop }[...]
    var stored = batch.acks[loop].stored[...]
    for (index, answer) in batch.acks[loop].answers.enumerated() {
      while let other = others.first, other.acksBefore <= index {
        refusals.append(other)
        others.removeFirst()
      }
      if stored.first == index {
        stored.removeFirst()
      } else if case .ack(let session, let ack) = answer {
        let error = WireError.unavailable(re: .send, room: ack.room, id: ack.id, ref: ack.ref)
        refusals.append(
          Batch.RefusedAppend(loop: loop, session: session, error: error, acksBefore: index))
      }
    }
    return refusals + others
  }

  /// Returns the members who were added by a send alone, and are none if the batch is not stored.
  func membersBySending(_ batch: Batch) -> Set<MemberKey> {
    var members: Set<MemberKey> = []
    for change in batch.membershipChanges where change.belongs {
      if let room = indices[change.room] {
        members.insert(MemberKey(room: room, user: change.user))
      }
    }
    return members.subtracting(
      batch.subscribing.lazy.filter { $0.refusal == nil }
        .map { MemberKey(room: $0.room, user: $0.request.user) })
  }

  /// Keeps the changes that no client requests a second time.
  /// - Parameter subscribed: users whose join succeeded although the batch was not stored.
  mutating func retryLater(_ batch: Batch, _ subscribed: Set<MemberKey>) {
    for (key, retry) in batch.retried { keep(retry, for: key) }
    for change in batch.membershipChanges {
      guard let room = indices[change.room], rooms[room].number != nil else { continue }
      let key = MemberKey(room: room, user: change.user)
      if !change.belongs {
        keep(MemberRetry(belongs: false), for: key)
      } else if subscribed.contains(key) {
        keep(MemberRetry(belongs: true, marks: rooms[room].firstMarks), for: key)
      }
    }
  }

  /// Keeps a retry. The later one decides whether the user belongs to the room; marks never go
  /// back.
  mutating func keep(_ retry: MemberRetry, for key: MemberKey) {
    var retry = retry
    if let earlier = membersToRetry[key] {
      if retry.belongs, earlier.belongs {
        retry.marks.read = max(retry.marks.read, earlier.marks.read)
        retry.marks.received = max(retry.marks.received, earlier.marks.received)
      }
    } else if membersToRetry.count >= Self.membersToRetryLimit {
      return
    }
    membersToRetry[key] = retry
  }

  /// Refuses a request whose room could not be read.
  mutating func refuseUnread(_ request: LogRequest, from loop: Int, _ batch: inout Batch) {
    switch request {
    case .append(let append):
      batch.refuse(
        append.session, from: loop,
        WireError.unavailable(re: .send, room: append.room, id: append.id, ref: append.ref))
    case .subscribe(let subscribe):
      batch.refuse(
        subscribe.session, from: loop, WireError.unavailable(re: .join, room: subscribe.room))
    case .mark(let name, _, let origin?), .forget(let name, _, let origin?):
      refuse(origin, room: name, from: loop, &batch)
    case .mark(let name, let marks, nil):
      guard let room = indices[name] else { return }
      let key = MemberKey(room: room, user: marks.user)
      guard membersToRetry[key]?.belongs != false else { return }
      let marks = MemberMarks(read: marks.read, received: marks.received)
      keep(MemberRetry(belongs: true, marks: marks), for: key)
    case .forget(let name, let user, nil):
      guard let room = indices[name] else { return }
      keep(MemberRetry(belongs: false), for: MemberKey(room: room, user: user))
    case .typing(let name, _, _, let origin?): refuse(origin, room: name, from: loop, &batch)
    case .typing, .unsubscribe, .presence, .spent, .memberships, .trace: break
    }
  }

  /// The room could not be read: whether the user belongs to it is unknown.
  private func refuse(
    _ origin: LogRequest.Origin, room: String, from loop: Int, _ batch: inout Batch
  ) {
    batch.answers.append(
      (loop, .answer(origin, .error(WireError.unavailable(re: origin.re, room: room)))))
  }
}
