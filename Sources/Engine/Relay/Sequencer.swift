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
    /// Why a part of the store could not be read, so that a request was refused; for the operator.
    public var damage: StoreFailure?
    /// The number of entries that retention has removed.
    public var trimmedEntries = 0
  }

  /// The number of rooms without subscribers that are kept in memory.
  static let idleRoomLimit = 65_536

  package internal(set) var lineage: Lineage
  /// May change between batches.
  package var retention: Retention {
    didSet { retentionVersion += 1 }
  }
  private(set) var retentionVersion = 1
  /// The maximum number of rooms that a user may belong to; 0 = no limit.
  let roomsPerUser: Int
  let limits: EntryLimits
  package let loops: Int

  /// Some are vacant.
  var rooms: [SequencedRoom] = []
  var indices: [String: Int] = [:]
  /// The indices of those that are vacant.
  var vacant: [Int] = []
  /// The number of rooms with subscribers.
  var subscribedRooms = 0
  /// Rooms that are vacated before the next batch, unless they are needed again.
  var abandonedRooms: [Int] = []
  /// The next room that `forgetRooms` looks at.
  var sweep = 0
  /// The rules of rooms in memory, by number.
  var governed: [Int64: Governance] = [:]
  /// How many users were added to them since they were forgotten.
  var governedUsers = 0
  package internal(set) var blocks: BlockTable
  /// The last entries of rooms at times that were asked for; see `marks(_:seenBy:in:_:)`.
  var pastHeads: [PastHead: Int64] = [:]
  /// The number of reports that users have made on a day, counted from 1970.
  var reportCounts: (day: Int64, users: [String: Int]) = (0, [:])
  /// When `removeOldCopies` looks again, in milliseconds since 1970.
  var copiesDue: Int64 = 0
  var unstored = UnstoredRooms()
  var nextRoomNumber: Int64?
  /// The number of rooms that users belong to, filled on demand; see `membershipCount`.
  var membershipCounts: [String: Int] = [:]
  static let membershipCountsLimit = 8192
  var holds = SessionHolds()
  var retries = MemberRetries()
  var presences = PresenceBook()
  var unstoredSeen = UnstoredSeen()

  var history = CommitHistory()
  /// Requests that `takeTraces` answers.
  var traces: [(loop: Int, request: LogRequest.Trace)] = []

  /// Whether a later batch has to store when users came or went.
  public var hasUnstoredSeen: Bool { !unstoredSeen.isEmpty }

  var batchNumber = 0
  /// `Batch.bytesLimit`, except in tests.
  var batchBytesLimit = Batch.bytesLimit

  struct MemberKey: Hashable, Comparable {
    var room: Int
    var user: String

    static func < (a: Self, b: Self) -> Bool { (a.room, a.user) < (b.room, b.user) }
  }

  /// - Parameters:
  ///   - roomsPerUser: 0 = no limit.
  ///   - blocks: those of the store.
  public init(
    lineage: Lineage, retention: Retention, roomsPerUser: Int = 0,
    limits: EntryLimits = EntryLimits(), blocks: BlockTable = BlockTable(), loops: Int
  ) {
    self.lineage = lineage
    self.blocks = blocks
    self.retention = retention
    self.roomsPerUser = roomsPerUser
    self.limits = limits
    self.loops = loops
  }

  /// Processes the requests of several loops as one batch, which is stored as a whole or not at
  /// all.
  /// - Parameters:
  ///   - trims: rooms of which retention has found more than they keep.
  ///   - defersArrivals: whether the times at which users came may wait for a later batch, so that a
  ///     connection alone costs no commit; see `hasUnstoredSeen`.
  ///   - now: milliseconds since 1970.
  public mutating func process(
    _ submissions: [(loop: Int, requests: [LogRequest])], trimming trims: [RoomTrim] = [],
    defersArrivals: Bool = false, store: inout some EntryStore, now: Int64, framing: Framing
  ) -> Outcome {
    var batch = prepare(submissions, trimming: trims, store: &store, now: now)
    var failure = batch.failure
    if failure == nil {
      let changes = changes(of: &batch, defersArrivals: defersArrivals)
      do throws(StoreFailure) { if !changes.isEmpty { try store.commit(changes) } } catch {
        failure = error
      }
    }
    return complete(batch, failure, store: &store, framing: framing)
  }

  /// Applies requests to the rooms in memory. Their changes are then to be committed, unless the batch
  /// has failed already, and `complete` is to be called before anything else.
  package mutating func prepare(
    _ submissions: [(loop: Int, requests: [LogRequest])], trimming trims: [RoomTrim] = [],
    store: inout some EntryLookup, now: Int64
  ) -> Batch {
    forgetRooms()
    forgetGovernedUsers()
    holds.evictOver(now: now)
    if membershipCounts.count > Self.membershipCountsLimit { membershipCounts = [:] }
    batchNumber += 1
    var batch = Batch(
      number: batchNumber, now: now, requests: submissions.reduce(0) { $0 + $1.requests.count },
      loops: loops)
    for (loop, requests) in submissions { batch.acks[loop].reserveCapacity(requests.count) }
    retryMembers(&batch, &store)
    for (loop, requests) in submissions { applyRequests(requests, from: loop, &batch, &store) }
    trimRooms(&batch, trims, &store)
    removeOldCopies(&batch, &store)
    recordSeen(batch)
    return batch
  }

  /// Returns the answers of a prepared batch, and what is published of it.
  /// - Parameter failure: why its changes were not committed.
  package mutating func complete(
    _ batch: consuming Batch, _ failure: StoreFailure?, store: inout some EntryLookup,
    framing: Framing
  ) -> Outcome {
    precondition(batch.number == batchNumber, "a batch is completed before the next one begins")
    if let failure { return refuseBatch(batch, failure, &store) }
    for room in batch.touched {
      precondition(
        rooms[room].number != nil && rooms[room].first <= rooms[room].head + 1,
        "what is published is stored, and the entries that are kept end with the head")
    }
    for room in batch.touched where rooms[room].lacksMembers { rooms[room].isStale = true }
    endSubscriptions(&batch, &store)
    recordAudiences(&batch)
    unstoredSeen.remove(batch.seen)
    return publish(batch, &store, framing)
  }

  // MARK: - Outcomes

  mutating func publish(
    _ batch: borrowing Batch, _ store: inout some EntryLookup, _ framing: Framing
  ) -> Outcome {
    var answers = batch.acks.map(\.answers)
    for refusal in batch.refusals {
      answers[refusal.loop].append(.refused(refusal.session, refusal.error))
    }
    for (loop, answer) in batch.answers { answers[loop].append(answer) }
    for promise in batch.promises {
      answers[promise.loop].append(.answer(promise.origin, .ok))
    }
    for (loop, asker, answer) in batch.filePromises { answers[loop].append(.file(asker, answer)) }
    for subscribing in batch.subscribing {
      let session = subscribing.request.session
      answers[subscribing.loop].append(
        subscribing.refusal.map { .refused(session, $0) }
          ?? .subscribed(session, subscribed(subscribing, batch.now, &store)))
    }
    for question in batch.questions {
      answers[question.loop].append(memberships(question, &store))
    }
    return Outcome(
      commit: makeCommit(of: batch, &store, framing), answers: answers, damage: batch.damage,
      trimmedEntries: batch.trimmedEntries)
  }

  /// Records that the stored state of a room changes.
  @inline(__always)
  mutating func touch(_ room: Int, _ batch: inout Batch) {
    guard rooms[room].touchedIn != batch.number else { return }
    rooms[room].touchedIn = batch.number
    batch.touched.append(room)
  }

  private mutating func spans(of batch: borrowing Batch, _ framing: Framing) -> SpannedEntries {
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
      batch.entries, groups: groups, firstKept: firstKept, receivedAt: batch.received,
      hidden: hiddenEntries(of: batch), framing)
  }

  mutating func makeCommit(
    of batch: borrowing Batch, _ store: inout some EntryLookup, _ framing: Framing,
    renewal: Commit.Renewal? = nil
  ) -> Commit? {
    var runs = 0
    let marks = batch.marked.sorted().compactMap { key -> Commit.MarkChange? in
      let room = rooms[key.room]
      guard let marks = room.members[key.user] else { return nil }
      return Commit.MarkChange(
        room: room.name,
        marks: Marks(user: key.user, read: marks.read, received: marks.received),
        members: room.direct.request?.user == key.user ? nil : room.memberCount,
        unread: unreadIfKnown(key.room, of: key.user, runs: &runs, &store))
    }
    let presences = presenceChanges(batch)
    let departures = departures(of: batch, &store)
    if batch.entries.isEmpty, marks.isEmpty, batch.membershipChanges.isEmpty, batch.typing.isEmpty,
      batch.audiences.isEmpty, presences.isEmpty, batch.blocks.isEmpty, batch.requests.isEmpty,
      batch.redactions.isEmpty, batch.trimmed.isEmpty, batch.bans.isEmpty, renewal == nil
    {
      return nil
    }
    return Commit(
      spans(of: batch, framing), marks: marks,
      membershipChanges: membershipChanges(of: batch, runs: &runs, &store),
      departures: departures, typing: batch.typing, audiences: batch.audiences,
      presences: presences, redactions: Self.redactions(batch, rooms),
      trims: batch.trimmed.map { Commit.Trim(room: rooms[$0].name, first: rooms[$0].first) },
      blocks: batch.blocks, renewal: renewal, requests: batch.requests, bans: batch.bans,
      trace: batch.entries.isEmpty ? nil : CommitTrace(of: batch, key: store.identityKey))
  }

  /// Returns the membership changes with the state of the rooms.
  private mutating func membershipChanges(
    of batch: borrowing Batch, runs: inout Int, _ store: inout some EntryLookup
  ) -> [Commit.MembershipChange] {
    if batch.membershipChanges.isEmpty { return [] }
    // The text and data of this batch, in total and by sender.
    var fresh: [Int: Int64] = [:]
    var own: [MemberKey: Int64] = [:]
    let hidden = hiddenEntries(of: batch)
    for (place, room) in batch.entryRooms.enumerated() where !hidden.contains(place) {
      let new = batch.entries[place]
      guard new.change == nil else { continue }
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

  mutating func subscribed(
    _ subscribing: Batch.Subscribing, _ now: Int64, _ store: inout some EntryLookup
  ) -> LogAnswer.Subscribed {
    var room = rooms[subscribing.room]
    let view = view(of: subscribing.room, for: subscribing.request, now, &store)
    // Earlier entries are not for this user, as if the room had been trimmed.
    room.first = max(room.first, min(view.firstReadable, room.head + 1))
    let marks = room.members[subscribing.request.user] ?? room.firstMarks
    // If the batch was refused, the store does not have the new member yet.
    if room.members[subscribing.request.user] == nil, view.joins {
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
    precondition(resumption.after <= head, "a cursor is at most at the head")
    var joined = ServerMessage.Joined(
      room: room.name, epoch: lineage.current.name, head: head, first: room.first,
      after: resumption.after, resume: resumption.resume, read: min(marks.read, head),
      received: min(marks.received, head), members: room.memberList,
      lineage: room.epochs?.lineage(first: room.first, in: lineage) ?? [],
      subscribers: audience(of: subscribing.room))
    joined.members = joined.members.map {
      self.marks($0, seenBy: subscribing.request.user, in: subscribing.room, &store)
    }
    if let about = view.about {
      joined.about = about
      joined.members = joined.members.map { roles(of: $0, in: subscribing.room, now, &store) }
    }
    return LogAnswer.Subscribed(
      joined: joined, user: subscribing.request.user, firstKept: rooms[subscribing.room].first)
  }
}
