import Wire

/// What of a batch that was not stored is taken back, and what is tried again.
extension Sequencer {
  /// Adds what earlier batches could not have stored to this one.
  mutating func retryMembers(_ batch: inout Batch, _ store: inout some EntryStore) {
    for key in membersToRetry.keys.sorted() {
      guard (try? refresh(key.room, &store)) != nil,
        let retry = membersToRetry.removeValue(forKey: key)
      else { continue }
      // Of a room that is not stored nothing was lost.
      guard rooms[key.room].number != nil else { continue }
      batch.retried[key] = retry
      if retry.belongs {
        add(key.user, to: key.room, &batch)
        mark(key.room, user: key.user, retry.marks, &batch)
      } else {
        forget(key.user, key.room, &batch)
      }
      // It was counted when it was kept.
      membershipCounts[key.user] = nil
    }
  }

  /// Brings the rooms back to what the store has, or has not.
  mutating func takeBack(_ batch: inout Batch) {
    for index in batch.touched.sorted() {
      guard batch.newRooms.contains(index) else {
        rooms[index].isStale = true
        continue
      }
      rooms[index].becomeUnstored()
      let name = rooms[index].name
      // Who came by a send only has sent nothing.
      let joiners = Set(
        batch.subscribing.filter { $0.room == index && $0.refusal == nil }.map(\.request.user))
      for change in batch.membershipChanges
      where change.room == name && change.belongs && !joiners.contains(change.user) {
        rooms[index].members[change.user] = nil
      }
      for user in rooms[index].members.keys { unstored[user, default: []].insert(name) }
      forgetIfAbandoned(index, &batch)
    }
  }

  /// Keeps what nobody will ask for a second time.
  /// - Parameter subscribed: who has joined all the same.
  mutating func retryLater(_ batch: Batch, _ subscribed: Set<MemberKey>) {
    for (key, retry) in batch.retried { keep(retry, for: key) }
    for change in batch.membershipChanges {
      guard let room = indices[change.room], rooms[room].number != nil else { continue }
      let key = MemberKey(room: room, user: change.user)
      if !change.belongs {
        keep(MemberRetry(belongs: false), for: key)
      } else if subscribed.contains(key) {
        keep(MemberRetry(belongs: true), for: key)
      }
    }
  }

  /// The later one decides who belongs; marks never go back.
  private mutating func keep(_ retry: MemberRetry, for key: MemberKey) {
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

  /// A request whose room could not even be read.
  mutating func refuseUnread(_ request: LogRequest, from loop: Int, _ batch: inout Batch) {
    switch request {
    case .append(let append):
      batch.refuse(
        append.session, from: loop,
        Self.unavailable(re: "send", room: append.room, id: append.id))
    case .subscribe(let enter):
      batch.refuse(enter.session, from: loop, Self.unavailable(re: "join", room: enter.room))
    case .mark(let name, let marks):
      guard let room = indices[name] else { return }
      let key = MemberKey(room: room, user: marks.user)
      guard membersToRetry[key]?.belongs != false else { return }
      let marks = MemberMarks(read: marks.read, received: marks.received)
      keep(MemberRetry(belongs: true, marks: marks), for: key)
    case .forget(let name, let user):
      guard let room = indices[name] else { return }
      keep(MemberRetry(belongs: false), for: MemberKey(room: room, user: user))
    case .unsubscribe, .typing, .presence, .memberships: break
    }
  }
}
