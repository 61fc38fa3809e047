import Wire

/// Gives entries their place: what a log that is alone with its store does between taking requests
/// and publishing what became of them. Used by one thread.
///
/// The rooms in use are kept in memory as they are after the last batch. Where a batch cannot be
/// stored, what it touched is read again from the store: so there is one truth, and no undoing.
public struct Sequencer {
  /// What became of one batch.
  public struct Outcome: Sendable {
    public var commit: Commit?
    /// For each loop.
    public var answers: [[LogAnswer]]
    /// Why nothing of the batch was stored; for the operator.
    public var failure: StoreFailure?
  }

  /// Rooms kept in memory that nobody is subscribed to.
  static let idleRoomLimit = 65_536

  let lineage: Lineage
  let keepEntriesPerRoom: Int64
  let loops: Int

  var rooms: [SequencedRoom] = []
  var indices: [String: Int] = [:]
  /// Rooms without entries, by member: the store does not know these.
  var unstored: [String: Set<String>] = [:]
  var nextRoomNumber: Int64?
  /// Sessions whose sends to a room are refused until then, to keep their order.
  var holds: [HoldKey: Int64] = [:]
  /// Members and marks of a batch that was not stored: nobody sends these again.
  var membersToRetry: [MemberKey: MemberMarks] = [:]
  static let membersToRetryLimit = 10_000

  struct HoldKey: Hashable {
    var loop: Int
    var session: SessionID
    var room: Int
  }

  struct MemberKey: Hashable {
    var room: Int
    var user: String
  }

  /// - Parameter keepEntriesPerRoom: 0 = all.
  public init(lineage: Lineage, keepEntriesPerRoom: Int64, loops: Int) {
    self.lineage = lineage
    self.keepEntriesPerRoom = keepEntriesPerRoom
    self.loops = loops
  }

  /// Takes the requests of several loops as one batch, which is stored as a whole or not at all.
  /// - Parameter now: milliseconds since 1970.
  public mutating func process(
    _ batches: [(loop: Int, requests: [LogRequest])], store: inout some EntryStore, now: Int64,
    framing: Framing
  ) -> Outcome {
    if rooms.count > Self.idleRoomLimit { forgetIdleRooms() }
    var batch = Batch(now: now)
    for (key, marks) in membersToRetry where (try? refresh(key.room, &store)) != nil {
      add(key.user, to: key.room, &batch)
      mark(key.room, user: key.user, marks, &batch)
    }
    for (loop, requests) in batches {
      for request in requests { handle(request, from: loop, &batch, &store) }
    }
    trimRooms(&batch)
    noteAudiences(&batch)
    let changes = changes(of: batch)
    var failure = batch.failure
    if failure == nil, !changes.isEmpty {
      do throws(StoreFailure) { try store.commit(changes) } catch { failure = error }
    }
    if let failure { return refuse(batch, failure, &store) }
    membersToRetry.removeAll()
    return publish(batch, &store, framing)
  }

  // MARK: - Outcomes

  private mutating func publish(
    _ batch: Batch, _ store: inout some EntryStore, _ framing: Framing
  ) -> Outcome {
    var answers: [[LogAnswer]] = Array(repeating: [], count: loops)
    for outcome in batch.acks {
      answers[outcome.loop].append(.ack(outcome.session, outcome.ack))
    }
    for refusal in batch.refusals {
      answers[refusal.loop].append(.refused(refusal.session, refusal.error))
    }
    for entering in batch.enterings {
      answers[entering.loop].append(.entered(entering.request.session, entered(entering)))
    }
    for question in batch.questions {
      answers[question.loop].append(belongings(question, &store))
    }
    return Outcome(commit: commit(of: batch, framing), answers: answers, failure: nil)
  }

  private func commit(of batch: Batch, _ framing: Framing) -> Commit? {
    var firstKept: [String: Int64] = [:]
    for index in batch.touched where rooms[index].first > 1 {
      firstKept[rooms[index].name] = rooms[index].first
    }
    let marks = batch.marked.compactMap { key -> Commit.MarkChange? in
      let room = rooms[key.room]
      guard let marks = room.members[key.user] else { return nil }
      return Commit.MarkChange(
        room: room.name,
        marks: Marks(user: key.user, read: marks.read, received: marks.received),
        members: room.members.count)
    }
    if batch.entries.isEmpty, marks.isEmpty, batch.memberships.isEmpty, batch.typing.isEmpty,
      batch.audiences.isEmpty
    {
      return nil
    }
    return Commit(
      entries: batch.entries, firstKept: firstKept, marks: marks, memberships: batch.memberships,
      typing: batch.typing, audiences: batch.audiences, framing: framing)
  }

  /// Answers a batch of which nothing was stored.
  private mutating func refuse(
    _ batch: Batch, _ failure: StoreFailure, _ store: inout some EntryStore
  ) -> Outcome {
    for key in batch.marked {
      if let marks = rooms[key.room].members[key.user] { retry(key, marks) }
    }
    for index in batch.touched {
      rooms[index].revert(wasStored: !batch.newRooms.contains(index))
    }
    for index in batch.newRooms { noteUnstored(index, batch) }
    nextRoomNumber = nil
    var answers: [[LogAnswer]] = Array(repeating: [], count: loops)
    let until = batch.now + Refusal.retryAfterMilliseconds
    // Of sessions that are gone, nobody would ask for these again.
    holds = holds.filter { $0.value > batch.now }
    for outcome in batch.acks {
      if outcome.wasStored {
        answers[outcome.loop].append(.ack(outcome.session, outcome.ack))
        continue
      }
      if let room = indices[outcome.ack.room] {
        holds[HoldKey(loop: outcome.loop, session: outcome.session, room: room)] = until
      }
      answers[outcome.loop].append(
        .refused(
          outcome.session,
          Self.unavailable(re: "send", room: outcome.ack.room, id: outcome.ack.id)))
    }
    for refusal in batch.refusals {
      answers[refusal.loop].append(.refused(refusal.session, refusal.error))
    }
    for entering in batch.enterings {
      // A join only reads: it goes through as long as reading does.
      let request = entering.request
      let answer: LogAnswer
      if let again = reenter(entering, &store) {
        retry(MemberKey(room: entering.room, user: request.user), MemberMarks())
        answer = .entered(request.session, entered(again))
      } else {
        unsubscribe(entering.room, request.user)
        answer = .refused(request.session, Self.unavailable(re: "join", room: request.room))
      }
      answers[entering.loop].append(answer)
    }
    for question in batch.questions {
      answers[question.loop].append(belongings(question, &store))
    }
    // What is kept nowhere is told all the same.
    let commit = Commit(
      entries: [], firstKept: [:], marks: [], memberships: unstoredMemberships(of: batch),
      typing: batch.typing, audiences: batch.audiences, framing: Framing { _, _ in })
    return Outcome(commit: commit, answers: answers, failure: failure)
  }

  /// A room that did not get its first entry is again known here alone; who came to belong to it
  /// by a send that was refused does not.
  private mutating func noteUnstored(_ index: Int, _ batch: Batch) {
    let name = rooms[index].name
    for change in batch.memberships
    where change.room == name && change.belongs && rooms[index].subscribers[change.user] == nil {
      rooms[index].members[change.user] = nil
    }
    for user in rooms[index].members.keys { unstored[user, default: []].insert(name) }
  }

  /// Who came to belong, or no longer does, to rooms that the store has no part in.
  private func unstoredMemberships(of batch: Batch) -> [Commit.MembershipChange] {
    batch.memberships.filter { change in
      guard let index = indices[change.room], rooms[index].number == nil, !rooms[index].isStale
      else { return false }
      return (rooms[index].members[change.user] != nil) == change.belongs
    }
  }

  private mutating func retry(_ key: MemberKey, _ marks: MemberMarks) {
    if membersToRetry.count < Self.membersToRetryLimit {
      membersToRetry[key] = membersToRetry[key] ?? marks
    }
  }

  private mutating func reenter(
    _ entering: Batch.Entering, _ store: inout some EntryStore
  ) -> Batch.Entering? {
    guard (try? refresh(entering.room, &store)) != nil,
      let resumption = try? resumption(of: entering.request, entering.room, &store)
    else { return nil }
    var again = entering
    again.resumption = resumption
    again.head = rooms[entering.room].head
    return again
  }

  static func unavailable(
    re: String, room: String, id: String? = nil,
    retryAfterMilliseconds: Int64 = Refusal.retryAfterMilliseconds
  ) -> WireError {
    WireError(
      .unavailable,
      "The relay cannot use its log just now. Nothing was stored; try again, a send with the same id.",
      re: re, room: room, id: id, retryAfterMilliseconds: retryAfterMilliseconds)
  }

  private func entered(_ entering: Batch.Entering) -> LogAnswer.Entered {
    let room = rooms[entering.room]
    let marks = room.members[entering.request.user] ?? MemberMarks()
    return LogAnswer.Entered(
      joined: ServerMessage.Joined(
        room: room.name, epoch: lineage.current.name, head: entering.head, first: room.first,
        after: entering.resumption.after, resume: entering.resumption.resume, read: marks.read,
        received: marks.received, members: room.memberList, subscribers: room.audience),
      user: entering.request.user, memberCount: room.members.count)
  }

  private mutating func belongings(
    _ question: Batch.Question, _ store: inout some EntryStore
  ) -> LogAnswer {
    var belongings: [LogAnswer.Belonging] = []
    var isComplete = true
    do throws(StoreFailure) {
      for (name, _) in try store.belongings(of: question.user) {
        let room = try room(name, &store)
        guard let marks = rooms[room].members[question.user] else { continue }
        belongings.append(
          LogAnswer.Belonging(
            room: name, belongs: true, head: rooms[room].head, first: rooms[room].first,
            read: marks.read))
      }
      for name in question.listed {
        let room = try room(name, &store)
        if rooms[room].members[question.user] != nil { continue }
        belongings.append(
          LogAnswer.Belonging(
            room: name, belongs: false, head: rooms[room].head, first: rooms[room].first, read: 0))
      }
    } catch {
      isComplete = false
    }
    for name in (unstored[question.user] ?? []).sorted() {
      belongings.append(
        LogAnswer.Belonging(room: name, belongs: true, head: 0, first: 1, read: 0))
    }
    return .belongings(question.session, belongings, isComplete: isComplete)
  }

  // MARK: - What a batch changes

  private func changes(of batch: Batch) -> StoreChanges {
    var changes = StoreChanges()
    for index in batch.newRooms {
      if let number = rooms[index].number { changes.newRooms.append((number, rooms[index].name)) }
    }
    changes.entries.reserveCapacity(batch.entries.count)
    for (position, entry) in batch.entries.enumerated() {
      if let number = rooms[batch.entryRooms[position]].number {
        changes.entries.append((number, entry))
      }
    }
    for (key, isSender) in batch.dirtyMembers {
      guard let number = rooms[key.room].number, let marks = rooms[key.room].members[key.user]
      else { continue }
      if isSender {
        changes.senders.append((number, key.user, marks))
      } else {
        changes.members.append((number, key.user, marks))
      }
    }
    for key in batch.formerMembers {
      if let number = rooms[key.room].number { changes.formerMembers.append((number, key.user)) }
    }
    for index in batch.trimmed {
      if let number = rooms[index].number { changes.trims.append((number, rooms[index].first)) }
    }
    return changes
  }

  /// Moves `first` up in rooms that hold a tenth more than they should: so a trim, which costs the
  /// same for one entry as for many, is rare.
  private mutating func trimRooms(_ batch: inout Batch) {
    guard keepEntriesPerRoom > 0 else { return }
    let slack = keepEntriesPerRoom / 10
    for index in batch.touched {
      let kept = rooms[index].head - rooms[index].first + 1
      if kept > keepEntriesPerRoom + slack {
        rooms[index].first = rooms[index].head - keepEntriesPerRoom + 1
        batch.trimmed.append(index)
      }
    }
  }

  private mutating func forgetIdleRooms() {
    let kept = rooms.filter { !$0.subscribers.isEmpty || $0.number == nil }
    // Holds and members to retry name rooms by their place: both are short-lived and rare.
    guard holds.isEmpty, membersToRetry.isEmpty, kept.count < rooms.count else { return }
    rooms = kept
    indices.removeAll(keepingCapacity: true)
    for (index, room) in rooms.enumerated() { indices[room.name] = index }
  }
}

/// One batch while it is gathered: what it changes, and whom it answers.
struct Batch {
  struct Acknowledgement {
    var loop: Int
    var session: SessionID
    var ack: ServerMessage.Ack
    /// A duplicate of an entry that was stored by an earlier batch.
    var wasStored: Bool
  }
  struct RefusedAppend {
    var loop: Int
    var session: SessionID
    var error: WireError
  }
  struct Entering {
    var loop: Int
    var request: LogRequest.Enter
    var room: Int
    /// At this request's place in the order.
    var head: Int64
    var resumption: Resumption
  }
  struct Question {
    var loop: Int
    var session: SessionID
    var user: String
    var listed: [String]
  }
  struct IdentityKey: Hashable {
    var room: Int
    var user: String
    var id: String
  }

  let now: Int64
  var entries: [Entry] = []
  /// The room of each of `entries`.
  var entryRooms: [Int] = []
  var identities: [IdentityKey: (seq: Int64, at: Int64)] = [:]
  var acks: [Acknowledgement] = []
  var refusals: [RefusedAppend] = []
  var enterings: [Entering] = []
  var questions: [Question] = []
  /// Rooms whose stored state changed.
  var touched: Set<Int> = []
  var newRooms: [Int] = []
  /// Whether a send, and nothing else, moved the marks.
  var dirtyMembers: [Sequencer.MemberKey: Bool] = [:]
  /// Moved by a `mark`: others are told.
  var marked: Set<Sequencer.MemberKey> = []
  var formerMembers: [Sequencer.MemberKey] = []
  var memberships: [Commit.MembershipChange] = []
  var typing: [Commit.TypingChange] = []
  var audienceRooms: Set<Int> = []
  var audiences: [Commit.AudienceChange] = []
  var trimmed: [Int] = []
  /// Reading failed on the way: the batch must not be stored.
  var failure: StoreFailure?

  init(now: Int64) { self.now = now }
}
