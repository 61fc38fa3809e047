import Wire

/// Assigns entries their places in the log, in batches: applies requests, commits the batch to the
/// store, and returns the answers and the commit to publish. Used by one thread, as the only writer
/// of its store.
///
/// The rooms in use are kept in memory in their state after the last batch. If a batch cannot be
/// stored, the rooms that it touched are read again from the store: it is the only truth, and
/// nothing has to be undone.
public struct Sequencer {
  /// The result of one batch.
  public struct Outcome: Sendable {
    public var commit: Commit?
    /// The answers for each loop.
    public var answers: [[LogAnswer]]
    /// Why the batch was not stored; for the operator.
    public var failure: StoreFailure?
  }

  /// The number of entries that each of the relay's own rooms keeps.
  static let reservedEntriesLimit: Int64 = 16
  /// The number of rooms without subscribers that are kept in memory.
  static let idleRoomLimit = 65_536
  /// The number of rooms that neither the store nor a user needs any more and that are kept in memory; or
  /// a quarter of all rooms, if that is more, so that removing them costs each of them the same.
  static let abandonedRoomLimit = 1024
  /// The number of holds, possibly over, that are kept in memory.
  static let holdLimit = 16_384

  var lineage: Lineage
  let keepEntriesPerRoom: Int64
  /// The maximum number of rooms that a user may belong to; 0 = no limit.
  let roomsPerUser: Int
  let limits: EntryLimits
  let loops: Int

  var rooms: [SequencedRoom] = []
  var indices: [String: Int] = [:]
  var unstored = UnstoredRooms()
  var nextRoomNumber: Int64?
  /// The number of rooms that users belong to, filled on demand; see `membershipCount`.
  var membershipCounts: [String: Int] = [:]
  static let membershipCountsLimit = 8192
  /// Sessions whose sends to a room are refused until the given time, which keeps their order.
  var holds: [HoldKey: Int64] = [:]
  /// Memberships and marks of batches that were not stored; no client sends them again.
  var membersToRetry: [MemberKey: MemberRetry] = [:]
  static let membersToRetryLimit = 10_000
  /// The presence of users over all loops, and over all nodes.
  var presences = PresenceBook()
  /// What this node and the others tell each other of presence, if the store is shared.
  var nodes = NodePresences()
  /// When users came or went, if that could not be stored yet.
  var seenToRetry: [String: Seen] = [:]
  /// `forgetHolds` does not run at fewer holds: it would free too little.
  var holdsBeforeForgetting = Sequencer.holdLimit
  /// `forgetIdleRooms` does not run at fewer rooms: it would free too little.
  var roomsBeforeForgetting = Sequencer.idleRoomLimit
  /// How often a room lost its last subscriber since rooms were last forgotten.
  var emptiedRooms = 0
  /// How often a room without entries was left by all since then.
  var abandonedRooms = 0

  var history = CommitHistory()
  /// Requests that `takeTraces` answers.
  var traces: [(loop: Int, request: LogRequest.Trace)] = []

  var batchNumber = 0
  /// `Batch.bytesLimit`, except in tests.
  var batchBytesLimit = Batch.bytesLimit

  struct HoldKey: Hashable {
    var loop: Int
    var session: SessionID
    /// The name, because the room itself may not have been readable.
    var room: String
  }

  /// The membership and marks that a user is to have in a room once the store accepts them.
  struct MemberRetry {
    var belongs: Bool
    var marks = MemberMarks()
  }

  struct MemberKey: Hashable, Comparable {
    var room: Int
    var user: String

    static func < (a: Self, b: Self) -> Bool { (a.room, a.user) < (b.room, b.user) }
  }

  /// - Parameters:
  ///   - keepEntriesPerRoom: 0 = all.
  ///   - roomsPerUser: 0 = no limit.
  public init(
    lineage: Lineage, keepEntriesPerRoom: Int64, roomsPerUser: Int = 0,
    limits: EntryLimits = EntryLimits(), loops: Int
  ) {
    self.lineage = lineage
    self.keepEntriesPerRoom = keepEntriesPerRoom
    self.roomsPerUser = roomsPerUser
    self.limits = limits
    self.loops = loops
  }

  /// Processes the requests of several loops as one batch, which is stored as a whole or not at
  /// all.
  /// - Parameters:
  ///   - trimming: rooms that are trimmed to exactly their limit.
  ///   - now: milliseconds since 1970.
  public mutating func process(
    _ submissions: [(loop: Int, requests: [LogRequest])], trimming: [String] = [],
    store: inout some EntryStore, now: Int64, framing: Framing
  ) -> Outcome {
    if rooms.count > roomsBeforeForgetting || emptiedRooms > Self.idleRoomLimit {
      forgetIdleRooms()
    } else if abandonedRooms > max(Self.abandonedRoomLimit, rooms.count / 4) {
      forgetIdleRooms(keepingStored: true)
    }
    if holds.count > holdsBeforeForgetting { forgetHolds(now) }
    if membershipCounts.count > Self.membershipCountsLimit { membershipCounts = [:] }
    batchNumber += 1
    var batch = Batch(
      number: batchNumber, now: now, requests: submissions.reduce(0) { $0 + $1.requests.count },
      loops: loops)
    for (loop, requests) in submissions { batch.acks[loop].reserveCapacity(requests.count) }
    retryMembers(&batch, &store)
    for (loop, requests) in submissions { applyRequests(requests, from: loop, &batch, &store) }
    trimRooms(&batch, exactly: trimming, &store)
    recordSeen(batch)
    let changes = changes(of: batch, withNews: store.isShared)
    var failure = batch.failure
    if failure == nil, !changes.isEmpty {
      do throws(StoreFailure) { try store.commit(changes) } catch { failure = error }
    }
    if let failure { return refuse(batch, failure, &store) }
    recordAudiences(&batch)
    seenToRetry = [:]
    if let news = changes.news { nodes.recordTold(news) }
    return publish(batch, &store, framing)
  }

  /// Answers requests that change nothing: `memberships` and `trace`.
  public mutating func answer(
    _ submissions: [(loop: Int, requests: [LogRequest])], store: inout some EntryStore, now: Int64,
    framing: Framing
  ) -> Outcome {
    batchNumber += 1
    var batch = Batch(number: batchNumber, now: now, requests: 0, loops: loops)
    for (loop, requests) in submissions { applyRequests(requests, from: loop, &batch, &store) }
    return publish(batch, &store, framing)
  }

  // MARK: - Outcomes

  private mutating func publish(
    _ batch: Batch, _ store: inout some EntryStore, _ framing: Framing
  ) -> Outcome {
    var answers = batch.acks.map(\.answers)
    for refusal in batch.refusals {
      answers[refusal.loop].append(.refused(refusal.session, refusal.error))
    }
    for (loop, answer) in batch.answers { answers[loop].append(answer) }
    for subscribing in batch.subscribing {
      let session = subscribing.request.session
      answers[subscribing.loop].append(
        subscribing.refusal.map { .refused(session, $0) }
          ?? .subscribed(session, subscribed(subscribing)))
    }
    for question in batch.questions {
      answers[question.loop].append(memberships(question, &store))
    }
    return Outcome(commit: commit(of: batch, &store, framing), answers: answers, failure: nil)
  }

  /// Records that the stored state of a room changes.
  @inline(__always)
  mutating func touch(_ room: Int, _ batch: inout Batch) {
    guard rooms[room].touchedIn != batch.number else { return }
    rooms[room].touchedIn = batch.number
    batch.touched.append(room)
  }

  private mutating func spans(of batch: Batch, _ framing: Framing) -> SpannedEntries {
    var groups: [Int] = []
    var firstKept: [Int64] = []
    groups.reserveCapacity(batch.entries.count)
    for room in batch.entryRooms {
      if rooms[room].span.batch != batch.number {
        rooms[room].span = (batch.number, firstKept.count)
        firstKept.append(rooms[room].first)
      }
      groups.append(rooms[room].span.index)
    }
    return SpannedEntries(
      batch.entries, groups: groups, firstKept: firstKept, receivedAt: batch.received, framing)
  }

  mutating func commit(
    of batch: Batch, _ store: inout some EntryStore, _ framing: Framing
  ) -> Commit? {
    var runs = 0
    let marks = batch.marked.sorted().compactMap { key -> Commit.MarkChange? in
      let room = rooms[key.room]
      guard let marks = room.members[key.user] else { return nil }
      return Commit.MarkChange(
        room: room.name,
        marks: Marks(user: key.user, read: marks.read, received: marks.received),
        members: room.members.count,
        unread: unreadIfKnown(key.room, of: key.user, runs: &runs, &store))
    }
    let presences = presenceChanges(batch)
    if batch.entries.isEmpty, marks.isEmpty, batch.membershipChanges.isEmpty, batch.typing.isEmpty,
      batch.audiences.isEmpty, presences.isEmpty, batch.spendingElsewhere.isEmpty
    {
      return nil
    }
    return Commit(
      spans(of: batch, framing), marks: marks,
      membershipChanges: membershipChanges(of: batch, runs: &runs, &store),
      typing: batch.typing, audiences: batch.audiences, presences: presences,
      redactions: Self.redactions(batch, rooms), spendingElsewhere: batch.spendingElsewhere)
  }

  /// Returns the membership changes with the state of the rooms.
  private mutating func membershipChanges(
    of batch: Batch, runs: inout Int, _ store: inout some EntryStore
  ) -> [Commit.MembershipChange] {
    if batch.membershipChanges.isEmpty { return [] }
    // The text and data of this batch, in total and by sender.
    var fresh: [Int: Int64] = [:]
    var own: [MemberKey: Int64] = [:]
    for (room, new) in zip(batch.entryRooms, batch.entries) where new.change == nil {
      fresh[room, default: 0] += 1
      own[MemberKey(room: room, user: new.entry.from), default: 0] += 1
    }
    return batch.membershipChanges.map { change in
      var change = change
      if change.belongs, let room = indices[change.room] {
        change.read = rooms[room].members[change.user]?.read ?? 0
        change.unread = unreadIfKnown(room, of: change.user, runs: &runs, &store)
        change.unread.count -=
          (fresh[room] ?? 0) - (own[MemberKey(room: room, user: change.user)] ?? 0)
        change.head = rooms[room].head
        change.first = rooms[room].first
        change.lastAt = rooms[room].lastAt
      }
      return change
    }
  }

  /// Answers a batch that was not stored.
  private mutating func refuse(
    _ refused: Batch, _ failure: StoreFailure, _ store: inout some EntryStore
  ) -> Outcome {
    var batch = refused
    let senders = membersBySending(batch)
    for key in batch.marked where !batch.newRooms.contains(key.room) && !senders.contains(key) {
      if let marks = rooms[key.room].members[key.user] {
        batch.retried[key, default: .init(belongs: true)].marks = marks
      }
    }
    rollBack(&batch)
    for user in batch.unwritten.keys { membershipCounts[user] = nil }
    nextRoomNumber = nil
    var answers = batch.acks.map(\.ofStored)
    let until = batch.now + Refusal.retryAfterMilliseconds
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
          let key = HoldKey(loop: loop, session: refusal.session, room: room)
          if (holds[key] ?? 0) <= batch.now { holds[key] = until }
        }
        answers[loop].append(.refused(refusal.session, refusal.error))
      }
    }
    for (loop, answer) in batch.answers { answers[loop].append(answer) }
    var subscribed: Set<MemberKey> = []
    for subscribing in batch.subscribing {
      // A join only reads, so it succeeds as long as the store can be read.
      let request = subscribing.request
      let answer: LogAnswer
      if let refusal = subscribing.refusal {
        answer = .refused(request.session, refusal)
      } else if let again = resubscribe(subscribing, &store) {
        subscribed.insert(MemberKey(room: subscribing.room, user: request.user))
        answer = .subscribed(request.session, self.subscribed(again))
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
      SpannedEntries(), marks: [], membershipChanges: changes, typing: batch.typing,
      audiences: batch.audiences, presences: presenceChanges(batch), redactions: [])
    return Outcome(commit: commit, answers: answers, failure: failure)
  }

  /// Returns the subscription at the state that the store has; `nil` if that is not known.
  private mutating func resubscribe(
    _ subscribing: Batch.Subscribing, _ store: inout some EntryStore
  ) -> Batch.Subscribing? {
    guard (try? refresh(subscribing.room, &store)) != nil,
      let resumption = try? resumption(of: subscribing.request, subscribing.room, &store)
    else { return nil }
    // The other nodes of a shared log may have gone on: what this one does not know need not be lost.
    if store.isShared, resumption.resume == .diverged || resumption.resume == .reset { return nil }
    var again = subscribing
    again.resumption = resumption
    again.head = rooms[subscribing.room].head
    return again
  }

  private func subscribed(_ subscribing: Batch.Subscribing) -> LogAnswer.Subscribed {
    var room = rooms[subscribing.room]
    let marks = room.members[subscribing.request.user] ?? room.firstMarks
    // If the batch was refused, the store does not have the new member yet.
    if room.members[subscribing.request.user] == nil {
      room.members[subscribing.request.user] = marks
    }
    var resumption = subscribing.resumption
    if resumption.after < room.first - 1 {
      // The same batch has trimmed the room.
      resumption.after = room.first - 1
      // The entries that the log lost may reach up to there.
      resumption.resume =
        resumption.resume == .ok || resumption.resume == .truncated ? .truncated : .reset
    }
    // The marks may have moved on in the same batch, for example by a send that followed the join.
    let head = max(subscribing.head, room.first - 1)
    return LogAnswer.Subscribed(
      joined: ServerMessage.Joined(
        room: room.name, epoch: lineage.current.name, head: head, first: room.first,
        after: resumption.after, resume: resumption.resume, read: min(marks.read, head),
        received: min(marks.received, head), members: room.memberList,
        lineage: room.epochs?.lineage(first: room.first, in: lineage) ?? [],
        subscribers: room.audience),
      user: subscribing.request.user)
  }
}
