internal import Relay
internal import Wire

/// Watches one connection, and checks every message of the relay on it against the protocol and the
/// ledger, before the client interprets it.
final class Witness {
  let referee: Referee
  let link: Int32
  let user: String
  /// The epoch of the log that the connection leads to.
  let epoch: String
  var rooms: [String: Room] = [:]
  var fates: [Fate] = []
  var histories: [(request: ClientMessage.HistoryRequest, headAtLeast: Int64)] = []
  var roomsAsked: [[String: Int64]] = []
  private var watchesRooms = false
  var toldHeads: [String: Int64] = [:]
  private var isWelcome = false
  let startedAt: Int64
  /// The heads of the rooms when the connection began.
  let headsAtStart: [String: Int64]
  private(set) var requests = OpenRequests()
  /// Which state of the user's blocks the relay has told, at least; `nil` = none.
  var toldBlocks: Int?
  private var peopleAsked = 0
  private var asksForPeople = false
  /// Whether the closing handshake has begun: no message may follow.
  private var isOver = false

  /// Messages to an adversary are not checked: it may have requested anything.
  private let isLenient: Bool

  init(_ referee: Referee, _ link: Link, epoch: String) {
    self.referee = referee
    self.link = link.number
    user = link.user
    isLenient = link.kind != .honest
    self.epoch = epoch
    startedAt = referee.now
    headsAtStart = referee.ledger.heads
  }

  func fault(_ text: String) { referee.fault("connection \(link) of \(user): \(text)") }

  // MARK: - Sent messages

  /// - Returns: the `ref` to send the request with.
  func open(_ message: ClientMessage) -> String {
    requests.open(message, state: referee.ledger.blocks.states(of: user).count - 1)
  }

  func recordSent(_ message: ClientMessage) {
    switch message {
    case .join(let join): recordSent(join)
    case .joinRooms(let joins):
      for case .success(let join) in joins { recordSent(join) }
    case .leave(let room, let forget):
      rooms[room, default: Room()].pending.append(.leave)
      if forget { referee.recordLeft(room, user) }
    case .send(let send):
      referee.recordSent(send, by: user)
      var fate = Fate(send: send, place: fates.count, sentAt: referee.now)
      fate.first = referee.ledger.seqs[.init(room: send.room, user: user, id: send.id)]
      fate.isFirstRedacted = fate.first.map { referee.ledger.isRedacted(send.room, $0) } ?? false
      fate.head = referee.ledger.room(send.room).head
      fate.marks = referee.ledger.marks(of: user, in: send.room)
      if case .target(let target)? = send.reference {
        fate.target = target
        let about = referee.ledger.entry(send.room, target)
        fate.isRightful =
          referee.ledger.mayChange(send.room, target, by: send.kind)
          && (send.kind == .react || about?.from == user)
          && (send.kind != .edit || about?.forward == nil)
      }
      for place in fates.indices
      where fates[place].answer == nil && fates[place].id == send.id
        && fates[place].room == send.room
      {
        fates[place].isAmbiguous = true
        fate.isAmbiguous = true
      }
      fates.append(fate)
    case .history(let request):
      histories.append((request, referee.ledger.room(request.room).head))
    case .rooms:
      watchesRooms = true
      roomsAsked.append(referee.ledger.heads)
    case .people:
      peopleAsked += 1
      asksForPeople = true
    case .read(let room, let seq): referee.ledger.recordReadAsked(seq, of: user, in: room)
    case .auth, .received, .typing, .presence, .ping, .block, .blocks, .accept, .report, .reports,
      .ban, .deleteRoom, .erase:
      break
    }
  }

  private func recordSent(_ join: ClientMessage.Join) {
    rooms[join.room, default: Room()].pending.append(
      .join(
        .init(after: join.after, epoch: join.epoch, lineage: join.lineage),
        headAtLeast: referee.ledger.room(join.room).head,
        marksAtLeast: referee.ledger.marks(of: user, in: join.room)))
  }

  // MARK: - Received messages

  func take(_ message: ServerMessage, ref: String?) {
    checkRights(message)
    checkBlocks(message)
    if isLenient { return }
    if case .ok = message, let ref, let request = requests.request(ref) {
      switch request.message {
      case .block(let user, let on): takeBlocked(user, on: on, since: request.state)
      case .report(let room, let seq, _): takeReported(room, seq)
      default: break
      }
    }
    if let reason = requests.take(message, ref: ref) { fault("\(reason): \(message)") }
    if isOver { fault("a message after the close: \(message)") }
    switch message {
    case .welcome: break
    // The relay restarts before it has verified the token.
    case .closing: break
    case _ where isWelcome: break
    default: fault("the first message is not welcome: \(message)")
    }
    switch message {
    case .welcome(let welcome):
      isWelcome = true
      if welcome.user != user { fault("welcome for another user: \(welcome.user)") }
    case .joined(let joined): take(joined)
    case .left(let room, let departure?): take(departure, of: room)
    case .left(let room, nil):
      guard let leave = rooms[room]?.pending.firstIndex(where: { !$0.isJoin }) else {
        fault("unrequested left of \(room)")
        return
      }
      rooms[room]?.pending.removeFirst(leave + 1)
      rooms[room]?.isJoined = false
    case .message(let entry): take(entry)
    case .ack(let ack): take(ack)
    case .error(let error): take(error)
    case .receipt(let room, let marks): takeReceipt(room, marks)
    case .typing(let room, let typist, _):
      if typist == user { fault("received its own typing") }
      if rooms[room]?.isJoined != true, !(watchesRooms && RoomName.isDirect(room)) {
        fault("typing in \(room), which is not joined")
      }
    case .subscribers(let room, _):
      if rooms[room]?.isJoined != true { fault("subscribers of \(room), which is not joined") }
    case .rooms(let summaries, let next): take(summaries, next != nil)
    case .activity(let activity): take(activity)
    case .history(let page): take(page)
    case .closing: referee.tally.count(.closingTold)
    case .people:
      peopleAsked -= 1
      if peopleAsked < 0 { fault("unrequested people") }
    case .presence(let presence):
      referee.tally.count(.presenceTold)
      // The directory may contain the client's own user.
      if presence.user == user, !asksForPeople { fault("received its own presence") }
    case .blocks(let users): takeBlocks(users)
    case .pong, .ok, .renewed, .reports: break
    }
  }

  func recordClose() { isOver = true }

  private func take(_ entry: Entry) {
    referee.tally.count(.entryShown)
    guard let room = rooms[entry.room], room.isJoined else {
      fault("an entry of \(entry.room), which is not joined")
      return
    }
    if entry.seq != room.cursor + 1 {
      fault("\(entry.room) \(entry.seq) came after \(room.cursor)")
    }
    check(entry)
    rooms[entry.room]?.cursor = entry.seq
  }

  /// Checks an entry against the ledger. Entries that were trimmed meanwhile may still be in
  /// flight.
  func check(_ entry: Entry) {
    if entry.kind == .hidden { return }
    if let truth = referee.ledger.entry(entry.room, entry.seq) {
      // Content that was deleted since may still be in flight to a client that was connected then.
      if truth == entry
        || referee.ledger.deleted(entry.room, entry.seq, notBefore: startedAt) == entry
      {
        return
      }
      fault("\(entry.room) \(entry.seq) differs from the log: \(entry.id)")
    } else if entry.seq >= referee.ledger.room(entry.room).first {
      fault("\(entry.room) \(entry.seq) is not in the log")
    }
  }

  /// Checks that a folded entry is the right one; its current state is not compared.
  func checkFolded(_ entry: Entry) {
    if entry.kind == .hidden { return }
    guard entry.editedAt != nil || !entry.reactions.isEmpty || entry.isDeleted else {
      check(entry)
      return
    }
    if let truth = referee.ledger.entry(entry.room, entry.seq) {
      if truth.id != entry.id || truth.from != entry.from || truth.at != entry.at
        || truth.kind != entry.kind
      {
        fault("\(entry.room) \(entry.seq) is not the entry of the log: \(entry.id)")
      }
    } else if entry.seq >= referee.ledger.room(entry.room).first {
      fault("\(entry.room) \(entry.seq) is not in the log")
    }
  }

  private func take(_ joined: ServerMessage.Joined) {
    let room = rooms[joined.room] ?? Room()
    let place = "\(joined.room) \(joined.first)…\(joined.head)"
    switch joined.resume {
    case .ok: referee.tally.count(.resumedOK)
    case .truncated: referee.tally.count(.resumedTruncated)
    case .diverged: referee.tally.count(.resumedDiverged)
    case .reset: referee.tally.count(.resumedReset)
    }
    if joined.epoch != epoch { fault("joined another epoch: \(joined.epoch)") }
    let lineage = referee.ledger.lineage(
      of: joined.room, current: epoch, first: joined.first, head: joined.head)
    if joined.lineage != lineage {
      fault("joined \(place) with the lineage \(joined.lineage.query), not \(lineage.query)")
    }
    let truth = referee.ledger.room(joined.room)
    if joined.head > truth.head || joined.first > firstShown(joined.room, since: joined.head)
      || joined.head < joined.first - 1
    {
      fault("joined \(place), which is \(truth.first)…\(truth.head)")
    }
    if joined.read > joined.head || joined.received > joined.head { fault("marks beyond \(place)") }
    if room.isJoined, joined.resume == .truncated, room.cursor < joined.first - 1,
      joined.after == joined.first - 1
    {
      // Retention has overtaken the cursor. The message may also be the answer to a join: the two
      // cannot be distinguished, and pending joins may still be answered.
      referee.tally.count(.overtaken)
    } else if let answered = answered(room.pending, joined) {
      if case .join(_, _, let least) = room.pending[answered],
        !referee.hasLeft(joined.room, user),
        joined.read < least.read || joined.received < least.received
      {
        fault("its marks in \(joined.room) went back: \(joined.read), \(joined.received): \(least)")
      }
      rooms[joined.room, default: Room()].pending.removeFirst(answered + 1)
    } else {
      fault("joined \(place) after \(joined.after) \(joined.resume), asked: \(room.pending)")
    }
    for member in joined.members ?? [] where member.read > member.received {
      fault("\(member.user) has read more of \(joined.room) than received: \(member)")
    }
    take(MemberMarks(read: joined.read, received: joined.received), in: joined.room)
    rooms[joined.room, default: Room()].isJoined = true
    rooms[joined.room, default: Room()].cursor = joined.after
    rooms[joined.room, default: Room()].joinedAt = joined.head
  }

  /// Returns the first pending join to which this may be the answer. Of several joins in flight
  /// some are never answered, since another join followed too soon.
  private func answered(_ pending: [Operation], _ joined: ServerMessage.Joined) -> Int? {
    pending.firstIndex {
      guard case .join(let position, let headAtLeast, _) = $0, joined.head >= headAtLeast
      else { return false }
      // The answer comes from a batch that trimmed the room, and in which the room's head was still
      // lower when the join was handled.
      if joined.resume == .reset, joined.after == joined.first - 1, joined.head == joined.after,
        let after = position.after, after > headAtLeast,
        let common = referee.ledger.common(position, current: epoch),
        referee.ledger.lineage[common.number] == epoch
      {
        return true
      }
      return referee.ledger.expectations(
        joined.room, position, current: epoch, first: joined.first, head: joined.head
      ).contains(.init(after: joined.after, resume: joined.resume))
    }
  }

  private func takeReceipt(_ room: String, _ marks: ServerMessage.Marks) {
    referee.tally.count(.receiptTold)
    let isJoined = rooms[room]?.isJoined == true
    let mayWatch = watchesRooms && (marks.user == user || RoomName.isDirect(room))
    if !isJoined, !mayWatch { fault("a receipt in \(room), which is not joined") }
    if marks.user == user {
      take(MemberMarks(read: marks.read, received: marks.received), in: room)
    }
    if marks.read > referee.ledger.room(room).head { fault("a receipt beyond the head: \(marks)") }
  }

  /// Takes the user's own marks.
  func take(_ marks: MemberMarks, in room: String) {
    if !referee.hasLeft(room, user),
      !referee.ledger.mayHaveRead(marks.read, of: user, in: room)
    {
      fault("its read mark in \(room) passed entries of others: \(marks.read)")
    }
    referee.ledger.record(marks, of: user, in: room)
  }

  private func take(_ ack: ServerMessage.Ack) {
    referee.tally.count(ack.duplicate ? .duplicateAcknowledged : .acknowledged)
    let room = referee.ledger.room(ack.room)
    if let entry = room.entries[ack.seq] {
      if entry.id != ack.id || entry.from != user || entry.at != ack.at {
        fault("the ack names another entry: \(ack)")
      }
    } else if ack.seq >= room.first || ack.seq < 1 {
      fault("the acknowledged entry is not in the log: \(ack)")
    }
    if !ack.duplicate, !referee.hasLeft(ack.room, user),
      let fate = fates.first(where: {
        $0.id == ack.id && $0.room == ack.room && $0.answer == nil
      })
    {
      referee.ledger.recordSend(ack.seq, of: user, in: ack.room, fate.marks)
    }
    answer(ack.room, ack.id, .stored(seq: ack.seq, isDuplicate: ack.duplicate)) { fate in
      self.mayAcknowledge(fate, as: ack.seq)
    }
  }

  /// Records the answer for the oldest unanswered send with this id that may be answered so: the
  /// relay answers each.
  func answer(
    _ room: String, _ id: String, _ answer: Answer, where fits: (Fate) -> Bool = { _ in true }
  ) {
    let open = fates.indices.filter {
      fates[$0].id == id && fates[$0].room == room && fates[$0].answer == nil
    }
    guard let oldest = open.first else {
      fault("\(id) in \(room) was answered, but not sent")
      return
    }
    var place = open.first { fits(fates[$0]) }
    if place == nil, let other = refused(id, in: room, where: fits) {
      // Of two sends with this id, the later one was refused first: the loop does not ask the log.
      fates[oldest].answer = fates[other].answer
      fates[oldest].answeredAt = fates[other].answeredAt
      place = other
    }
    if place == nil { fault("\(id) in \(room) was answered with \(answer)") }
    fates[place ?? oldest].answer = answer
    fates[place ?? oldest].answeredAt = referee.now
  }

  private func refused(_ id: String, in room: String, where fits: (Fate) -> Bool) -> Int? {
    fates.indices.last {
      guard case .refused? = fates[$0].answer else { return false }
      return fates[$0].isAmbiguous && fates[$0].id == id && fates[$0].room == room
        && fits(fates[$0])
    }
  }

  private func take(_ error: WireError) {
    if error.re == .rooms, error.code == .unavailable, !roomsAsked.isEmpty {
      // The list could not be read.
      roomsAsked.removeFirst()
      return
    }
    if let re = error.re, [.block, .blocks, .report].contains(re) {
      return takeRefusedBlock(error)
    }
    guard let room = error.room else {
      fault("\(error)")
      return
    }
    switch (error.re, error.code) {
    case (.send, .unavailable):
      referee.tally.count(.refusedUnavailable)
      guard let id = error.id, let wait = error.retryAfterMilliseconds, wait > 0 else {
        fault("a refusal without id or wait: \(error)")
        return
      }
      answer(room, id, .refused(retryAfter: wait))
    case (_, .noSuchRoom), (.join, .forbidden), (.history, .forbidden), (.leave, .forbidden):
      takeRefusal(error, in: room)
    case (.send, .forbidden) where error.field != "target": takeRefusal(error, in: room)
    case (.send, .badField) where error.field == "until":
      // It has passed since the client has sent it.
      answer(room, error.id ?? "", .rejected)
    case (.send, .noSuchEntry), (.send, .forbidden):
      referee.tally.count(.changeRefused)
      guard let id = error.id else {
        fault("a refusal without id: \(error)")
        return
      }
      if let fate = fates.first(where: { $0.id == id && $0.room == room && $0.answer == nil }),
        !fate.isAmbiguous
      {
        let mayRefuse = rights(room).mayRefuse(fate.send, of: user, since: fate.head)
        if fate.isRightful, let target = fate.target, !mayRefuse,
          referee.ledger.mayChange(room, target, by: fate.send.kind),
          referee.ledger.hides(target, in: room, from: user) == false
        {
          fault("\(id) was refused, although \(room) \(target) exists: \(error.code)")
        }
        if error.code == .noSuchEntry, !mayRefuse, let first = fate.first,
          referee.ledger.seqs[.init(room: room, user: user, id: id)] == first
        {
          fault("\(id) was refused because of its target, but is \(room) \(first)")
        }
      }
      answer(room, id, .rejected)
    case (.send, .idConflict): takeConflict(error, in: room)
    case (.send, .limitReached):
      referee.tally.count(.changeRefused)
      guard let id = error.id else {
        fault("a refusal without id: \(error)")
        return
      }
      answer(room, id, .rejected)
    case (.join, .superseded):
      // Pending joins that are overtaken may have no answer, so it stays among them.
      referee.tally.count(.joinSuperseded)
    case (.join, .unavailable):
      referee.tally.count(.joinRefused)
      // If the log handles several joins together, those that fail are answered first.
      let joins =
        rooms[room]?.pending.indices.filter { rooms[room]?.pending[$0].isJoin == true } ?? []
      if joins.count == 1, rooms[room]?.isJoined != true {
        rooms[room]?.pending.remove(at: joins[0])
      } else if joins.isEmpty, rooms[room]?.isJoined != true {
        fault("\(error)")
      }
      // If the room was being subscribed again without a request, that may be what failed: then the
      // join is still to be answered.
      rooms[room]?.isJoined = false
    case (.leave, .notJoined):
      if let index = rooms[room]?.pending.firstIndex(where: { !$0.isJoin }) {
        rooms[room]?.pending.remove(at: index)
      } else {
        fault("\(error)")
      }
    case (.history, .unavailable):
      referee.tally.count(.historyFailed)
      if histories.isEmpty { fault("\(error)") } else { histories.removeFirst() }
    case (.leave, .unavailable):
      // It was to be forgotten as well, which the log does.
      if let index = rooms[room]?.pending.firstIndex(where: { !$0.isJoin }) {
        rooms[room]?.pending.remove(at: index)
      } else {
        fault("\(error)")
      }
    case (.received, .notJoined), (.read, .notJoined), (.typing, .notJoined): break
    case (.received, .unavailable), (.read, .unavailable), (.typing, .unavailable): break
    default: fault("\(error)")
    }
  }
}
