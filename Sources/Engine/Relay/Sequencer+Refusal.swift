import Wire

/// A batch that was not stored: what it has changed in memory is dropped, and its requests are
/// answered. The store is the only truth, so the rooms that it has touched are read again when they
/// are needed; docs/decisions/refused-batches.md says why nothing is copied before. Rooms that the
/// store does not know, and changes that no client requests again, are kept here.
extension Sequencer {
  /// Answers a batch that was not stored.
  mutating func refuseBatch(
    _ batch: consuming Batch, _ failure: StoreFailure, _ store: inout some EntryLookup
  ) -> Outcome {
    let senders = membersBySending(batch)
    for key in batch.marked where !batch.newRooms.contains(key.room) && !senders.contains(key) {
      if let marks = rooms[key.room].members[key.user] {
        batch.retried[member(key), default: .init(belongs: true)].marks = marks
      }
    }
    resetRooms(&batch, senders)
    undoBlocks(batch)
    undoReports(batch)
    var answers = batch.acks.map(\.ofStored)
    for loop in answers.indices {
      for var refusal in refusals(of: batch, for: loop) {
        if refusal.error.isAboutEntries, let room = refusal.error.room {
          // The entry that it refers to may have been of this batch: the next batch decides.
          refusal.error = WireError.unavailable(
            re: .send, room: room, id: refusal.error.id, ref: refusal.error.ref)
        }
        if refusal.error.re == .send, refusal.error.code == .unavailable,
          let room = refusal.error.room
        {
          let wait = refusal.error.retryAfterMilliseconds ?? Refusal.retryAfterMilliseconds
          holds.refuse(room, loop, refusal.session, for: wait, now: batch.now)
        }
        answers[loop].append(.refused(refusal.session, refusal.error))
      }
    }
    for (loop, answer) in batch.answers { answers[loop].append(answer) }
    for (loop, origin, room) in batch.promises {
      let error = WireError.unavailable(re: origin.re, room: room)
      answers[loop].append(.answer(origin, .error(error)))
    }
    for (loop, asker, _) in batch.filePromises { answers[loop].append(.file(asker, .unavailable)) }
    var subscribed: Set<MemberKey> = []
    for subscribing in batch.subscribing {
      // A join only reads, so it succeeds as long as the store can be read.
      let request = subscribing.request
      let answer: LogAnswer
      if let refusal = subscribing.refusal {
        // What was the reason may not be stored.
        answer = .refused(
          request.session,
          batch.ruled.contains(subscribing.room)
            ? WireError.unavailable(re: .join, room: request.room) : refusal)
      } else if let again = resubscribe(subscribing, failure, batch.now, &store) {
        subscribed.insert(MemberKey(room: subscribing.room, user: request.user))
        answer = .subscribed(request.session, self.subscribed(again, batch.now, &store))
      } else {
        unsubscribe(subscribing.room, request.user)
        answer = .refused(request.session, WireError.unavailable(re: .join, room: request.room))
      }
      answers[subscribing.loop].append(answer)
    }
    retryLater(batch, subscribed)
    for question in batch.questions {
      answers[question.loop].append(memberships(question, &store))
    }
    recordAudiences(&batch)
    // Memberships that are not in the store are published nevertheless.
    let changes = batch.membershipChanges.filter { change in
      guard let room = indices[change.room], rooms[room].number == nil else { return false }
      return change.belongs == (rooms[room].members[change.user] != nil)
    }
    let commit = Commit(
      membershipChanges: changes, typing: batch.typing, audiences: batch.audiences,
      presences: presenceChanges(batch))
    return Outcome(commit: commit, answers: answers, failure: failure)
  }

  /// Returns the subscription at the state that the store has; `nil` if that is not known.
  private mutating func resubscribe(
    _ subscribing: Batch.Subscribing, _ failure: StoreFailure, _ now: Int64,
    _ store: inout some EntryLookup
  ) -> Batch.Subscribing? {
    let request = subscribing.request
    guard (try? room(request.room, knowing: request.user, &store)) != nil,
      let resumption = try? resumption(of: request, subscribing.room, &store)
    else { return nil }
    if failure.mayHaveMore, resumption.resume == .diverged || resumption.resume == .reset {
      return nil
    }
    var again = subscribing
    again.resumption = resumption
    again.head = rooms[subscribing.room].head
    // In a refused batch the user may have been let in.
    let refusal = try? readingRefusal(
      of: request.user, request.isOperator, in: subscribing.room, re: .join, now, &store)
    return refusal == .some(nil) ? again : nil
  }

  /// Adds the membership changes and marks that earlier batches could not store to this batch.
  mutating func retryMembers(_ batch: inout Batch, _ store: inout some EntryLookup) {
    for member in retries.members {
      guard let room = try? room(member.room, knowing: member.user, &store),
        let retry = retries.take(member)
      else {
        continue
      }
      // A room that is not stored has lost nothing; one that has become private has only those members
      // that entries have let in.
      guard rooms[room].number != nil,
        (try? mayJoin(member.user, room, batch.now, &store)) == true
      else { continue }
      batch.retried[member] = retry
      if retry.belongs {
        addMember(member.user, to: room, marks: MemberMarks(sent: rooms[room].head), &batch)
        mark(room, user: member.user, retry.marks, &batch)
      } else {
        removeMember(member.user, from: room, &batch)
      }
      // The user was counted when the retry was kept.
      membershipCounts[member.user] = nil
    }
  }

  /// Drops what the batch has changed in memory: rooms are read again from the store, or have no
  /// entries if it does not know them.
  /// - Parameter senders: see `membersBySending`.
  private mutating func resetRooms(_ batch: inout Batch, _ senders: Set<MemberKey>) {
    for user in batch.unwritten.keys { membershipCounts[user] = nil }
    nextRoomNumber = nil
    for room in batch.touched { rooms[room].isStale = true }
    for room in batch.newRooms {
      if let number = rooms[room].number { governed[number] = nil }
    }
    for key in batch.evicted { rooms[key.room].members[key.user] = MemberMarks() }
    // Nothing was sent, so it has made no user a member of a new room.
    for key in senders where batch.newRooms.contains(key.room) {
      rooms[key.room].members[key.user] = nil
    }
    for room in batch.newRooms.sorted() {
      rooms[room].isStale = false
      rooms[room].becomeUnstored()
      for user in rooms[room].members.keys { unstored.insert(rooms[room].name, of: user) }
      forgetIfAbandoned(room, &batch)
    }
  }

  /// Returns the refusals for one loop of a batch that was not stored, in the order of its requests:
  /// those of the batch, and one for each send that the batch has accepted.
  private func refusals(of batch: borrowing Batch, for loop: Int) -> [Batch.RefusedAppend] {
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
  private func membersBySending(_ batch: borrowing Batch) -> Set<MemberKey> {
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
  private mutating func retryLater(_ batch: borrowing Batch, _ subscribed: Set<MemberKey>) {
    for (member, retry) in batch.retried { retries.keep(retry, for: member) }
    for change in batch.membershipChanges {
      guard let room = indices[change.room], rooms[room].number != nil else { continue }
      let key = MemberKey(room: room, user: change.user)
      if batch.byEntry.contains(key) { continue }
      if !change.belongs {
        retries.keep(.init(belongs: false), for: member(key))
      } else if subscribed.contains(key) {
        retries.keep(.init(belongs: true, marks: rooms[room].firstMarks), for: member(key))
      }
    }
  }

  private func member(_ key: MemberKey) -> MemberRetries.Member {
    MemberRetries.Member(room: rooms[key.room].name, user: key.user)
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
      refuseOrigin(origin, room: name, from: loop, &batch)
    case .mark(let name, let marks, nil):
      let member = MemberRetries.Member(room: name, user: marks.user)
      guard indices[name] != nil, retries[member]?.belongs != false else { return }
      let marks = MemberMarks(read: marks.read, received: marks.received)
      retries.keep(.init(belongs: true, marks: marks), for: member)
    case .forget(let name, let user, nil):
      guard indices[name] != nil else { return }
      retries.keep(.init(belongs: false), for: .init(room: name, user: user))
    case .typing(let name, _, _, let origin?): refuseOrigin(origin, room: name, from: loop, &batch)
    case .accept(let name, _, let origin?): refuseOrigin(origin, room: name, from: loop, &batch)
    case .deleteRoom(let room, let order):
      refuseOrigin(order.origin, room: room, from: loop, &batch)
    case .erase(let erasure, let order):
      refuseOrigin(order.origin, room: erasure.room, from: loop, &batch)
    case .ban(_, let order), .act(_, let order):
      refuseOrigin(order.origin, room: nil, from: loop, &batch)
    case .report(let report):
      refuseOrigin(report.origin, room: report.room, from: loop, &batch)
    case .file(_, let asker): batch.answers.append((loop, .file(asker, .unavailable)))
    case .block(let block): refuseOrigin(block.origin, room: nil, from: loop, &batch)
    case .typing, .unsubscribe, .presence, .memberships, .trace, .accept: break
    }
  }

  /// The room could not be read: whether the user belongs to it is unknown.
  private func refuseOrigin(
    _ origin: LogRequest.Origin, room: String?, from loop: Int, _ batch: inout Batch
  ) {
    batch.answers.append(
      (loop, .answer(origin, .error(WireError.unavailable(re: origin.re, room: room)))))
  }
}
