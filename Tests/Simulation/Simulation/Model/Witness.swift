internal import Mixing
internal import Relay
internal import Wire

/// What the witnesses of all connections share: the truth, and what was found to be wrong.
final class Court {
  struct Taken {
    var at: Int64
    /// The same by a clock that stands still while the relay does not read the connection.
    var readingTime: Int64
  }
  /// How long the relay has not read a connection.
  private struct Pause {
    var began: Int64?
    var before: Int64 = 0
  }

  var ledger = Ledger()
  var tally = Tally()
  /// Of all messages of the relay.
  var longestMessageBytes = 0
  /// The monotonic clock, in milliseconds.
  var now: Int64 = 0
  /// Which promises were broken.
  private(set) var faults: [String] = []
  /// What was ever sent under an id: the bodies.
  private var sent: [Ledger.Identity: Set<[UInt8]>] = [:]
  /// Users who have left a room for good at some time: of their marks and rooms nothing is expected.
  private var leavers: Set<String> = []
  /// Rooms in which a user's refusals came too late to keep the order.
  private var overtaken: Set<String> = []
  private var forwards: [(entry: Entry, source: Forward)] = []
  /// When the relay took a send: by connection and how many it had taken before.
  private var takenAt: [Int32: [Taken]] = [:]
  private var pauses: [Int32: Pause] = [:]
  /// Of everything that clients were told.
  private(set) var digest = FNV1a()
  var trace: (() -> String) -> Void = { _ in }

  func fault(_ text: String) {
    trace { "FAULT \(text)" }
    faults.append(text)
  }

  func digest(_ json: Span<UInt8>) {
    digest.combine(json)
  }

  func noteSent(_ send: ClientMessage.Send, by user: String) {
    sent[.init(room: send.room, user: user, id: send.id), default: []].insert(send.body)
  }

  func wasSent(_ entry: Entry) -> Bool {
    guard let bodies = sent[Ledger.Identity(entry)] else { return false }
    if bodies.contains(entry.body) { return true }
    // Deleted before anybody saw it: the ledger waits for what deletes it.
    if entry.text == "" || entry.isDeleted { return true }
    guard var source = entry.forward, source.from != nil else { return false }
    source.from = nil
    let send = ClientMessage.Send(room: entry.room, id: entry.id, forward: source)
    guard bodies.contains(send.body) else { return false }
    forwards.append((entry, source))
    return true
  }

  /// What is forwarded says what its source says: to be called when a whole commit is in the ledger,
  /// in which the source may have its place behind the forward.
  func checkForwards() {
    // One that was deleted in the batch of the forward nobody has ever seen.
    for (entry, source) in forwards
    where ledger.isText(source.room, source.seq)
      && !ledger.versions(of: source.seq, in: source.room).contains(entry.text ?? "")
    {
      fault("\(entry.room) \(entry.seq) is not what \(source.room) \(source.seq) says")
    }
    forwards = []
  }

  func noteLeft(_ room: String, _ user: String) { leavers.insert("\(room) \(user)") }
  func hasLeft(_ room: String, _ user: String) -> Bool { leavers.contains("\(room) \(user)") }

  func noteOvertaken(_ room: String, _ user: String) { overtaken.insert("\(room) \(user)") }
  func mayBeOvertaken(_ room: String, _ user: String) -> Bool {
    overtaken.contains("\(room) \(user)")
  }

  func noteTaken(_ link: Int32) {
    let readingTime = now - (pauses[link]?.before ?? 0)
    takenAt[link, default: []].append(Taken(at: now, readingTime: readingTime))
  }

  /// The relay does not read a connection any more, or does so again.
  func note(_ link: Int32, isPaused: Bool) {
    var pause = pauses[link] ?? Pause()
    if let began = pause.began, !isPaused { pause.before += now - began }
    pause.began = isPaused ? pause.began ?? now : nil
    pauses[link] = pause
  }

  /// When the relay took a connection's send of this place, if it has.
  func taken(_ link: Int32, _ place: Int) -> Taken? {
    guard let times = takenAt[link], place < times.count else { return nil }
    return times[place]
  }
}

/// Watches one connection, and holds everything that the relay says on it against the protocol and
/// the ledger, before the client has put anything right.
final class Witness {
  private struct Room {
    var isJoined = false
    var cursor: Int64 = 0
    /// Joins and leaves that are not answered yet.
    var pending: [Operation] = []
  }
  private enum Operation: CustomStringConvertible {
    case join(after: Int64?, epoch: String?, headAtLeast: Int64, marksAtLeast: MemberMarks)
    case leave

    var description: String {
      switch self {
      case .leave: "leave"
      case .join(nil, _, _, _): "join"
      case .join(let after?, let epoch, _, _): "join after \(after) of \(epoch ?? "no epoch")"
      }
    }

    var isJoin: Bool { if case .join = self { true } else { false } }
  }
  /// What became of one send.
  private struct Fate {
    var id: String
    var room: String
    /// Which of this connection's sends it is.
    var place: Int
    var sentAt: Int64
    var answer: Answer?
    var answeredAt: Int64 = 0
    /// What it is about was there when it was sent, and the sender's own.
    var isRightful = false
    var target: Int64?
    /// Sent once more before it was answered: which answer is whose cannot be told.
    var isAmbiguous = false
  }
  private enum Answer {
    case stored(seq: Int64, isDuplicate: Bool)
    case refused(retryAfter: Int64)
    /// For good.
    case rejected
  }

  private let court: Court
  private let link: Int32
  private let user: String
  /// Of the log that the connection leads to.
  private let epoch: String
  private var rooms: [String: Room] = [:]
  private var fates: [Fate] = []
  private var histories: [(request: ClientMessage.HistoryRequest, headAtLeast: Int64)] = []
  private var roomsAsked: [[String: Int64]] = []
  private var watchesRooms = false
  private var toldHeads: [String: Int64] = [:]
  private var isWelcome = false
  private let startedAt: Int64
  private var peopleAsked = 0
  private var asksForPeople = false
  /// The closing handshake has begun: nothing may follow.
  private var isOver = false

  /// What an adversary is told is not held against anything: it may have asked for it.
  private let isLenient: Bool

  init(_ court: Court, _ link: Link, epoch: String) {
    self.court = court
    self.link = link.number
    user = link.user
    isLenient = link.kind != .honest
    self.epoch = epoch
    startedAt = court.now
  }

  private func fault(_ text: String) { court.fault("connection \(link) of \(user): \(text)") }

  // MARK: - What the client says

  func noteSent(_ message: ClientMessage) {
    switch message {
    case .join(let join):
      rooms[join.room, default: Room()].pending.append(
        .join(
          after: join.after, epoch: join.epoch, headAtLeast: court.ledger.room(join.room).head,
          marksAtLeast: court.ledger.marks(of: user, in: join.room)))
    case .leave(let room, let forget):
      rooms[room, default: Room()].pending.append(.leave)
      if forget { court.noteLeft(room, user) }
    case .send(let send):
      court.noteSent(send, by: user)
      var fate = Fate(id: send.id, room: send.room, place: fates.count, sentAt: court.now)
      if case .target(let target)? = send.reference {
        fate.target = target
        let about = court.ledger.entry(send.room, target)
        fate.isRightful =
          court.ledger.isText(send.room, target)
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
      histories.append((request, court.ledger.room(request.room).head))
    case .rooms:
      watchesRooms = true
      roomsAsked.append(court.ledger.rooms.mapValues(\.head))
    case .people:
      peopleAsked += 1
      asksForPeople = true
    case .auth, .received, .read, .typing, .presence, .ping: break
    }
  }

  // MARK: - What it is told

  func take(_ message: ServerMessage) {
    if isLenient { return }
    if isOver { fault("something follows the close: \(message)") }
    if case .welcome = message {
    } else if !isWelcome {
      fault("not welcome first: \(message)")
    }
    switch message {
    case .welcome(let welcome):
      isWelcome = true
      if welcome.user != user { fault("welcome, \(welcome.user)") }
    case .joined(let joined): take(joined)
    case .left(let room):
      guard let leave = rooms[room]?.pending.firstIndex(where: { !$0.isJoin }) else {
        fault("left \(room) unasked")
        return
      }
      rooms[room]?.pending.removeFirst(leave + 1)
      rooms[room]?.isJoined = false
    case .message(let entry): take(entry)
    case .ack(let ack): take(ack)
    case .error(let error): take(error)
    case .receipt(let room, let marks): takeReceipt(room, marks)
    case .typing(let room, let typist, _):
      if typist == user { fault("told of its own typing") }
      if rooms[room]?.isJoined != true, !(watchesRooms && RoomName.isDirect(room)) {
        fault("typing in \(room), which is not joined")
      }
    case .subscribers(let room, _):
      if rooms[room]?.isJoined != true { fault("subscribers of \(room), which is not joined") }
    case .rooms(let summaries, let next): take(summaries, next != nil)
    case .activity(let activity): take(activity)
    case .history(let page): take(page)
    case .closing: court.tally.count(.closingTold)
    case .people:
      peopleAsked -= 1
      if peopleAsked < 0 { fault("people unasked") }
    case .presence(let presence):
      court.tally.count(.presenceTold)
      // The directory may have named the client itself.
      if presence.user == user, !asksForPeople { fault("told of its own presence") }
    case .pong: break
    }
  }

  func noteClose() { isOver = true }

  private func take(_ entry: Entry) {
    court.tally.count(.entryShown)
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

  /// Entries that were trimmed meanwhile may still be on their way.
  private func check(_ entry: Entry) {
    if let truth = court.ledger.entry(entry.room, entry.seq) {
      // What was deleted since may still be on its way to one who was there then.
      if truth == entry
        || court.ledger.deleted(entry.room, entry.seq, notBefore: startedAt) == entry
      {
        return
      }
      fault("\(entry.room) \(entry.seq) is not what the log has: \(entry.id)")
    } else if entry.seq >= court.ledger.room(entry.room).first {
      fault("\(entry.room) \(entry.seq) is not in the log")
    }
  }

  /// What has become of an entry is not compared here, but that it is that entry.
  private func checkFolded(_ entry: Entry) {
    guard entry.editedAt != nil || !entry.reactions.isEmpty || entry.isDeleted else {
      check(entry)
      return
    }
    if let truth = court.ledger.entry(entry.room, entry.seq) {
      if truth.id != entry.id || truth.from != entry.from || truth.at != entry.at
        || truth.kind != entry.kind
      {
        fault("\(entry.room) \(entry.seq) is another than the log has: \(entry.id)")
      }
    } else if entry.seq >= court.ledger.room(entry.room).first {
      fault("\(entry.room) \(entry.seq) is not in the log")
    }
  }

  private func take(_ joined: ServerMessage.Joined) {
    let room = rooms[joined.room] ?? Room()
    let place = "\(joined.room) \(joined.first)…\(joined.head)"
    switch joined.resume {
    case .ok: court.tally.count(.resumedOK)
    case .truncated: court.tally.count(.resumedTruncated)
    case .diverged: court.tally.count(.resumedDiverged)
    case .reset: court.tally.count(.resumedReset)
    }
    if joined.epoch != epoch { fault("joined another epoch: \(joined.epoch)") }
    let truth = court.ledger.room(joined.room)
    if joined.head > truth.head || joined.first > truth.first || joined.head < joined.first - 1 {
      fault("joined \(place), which is \(truth.first)…\(truth.head)")
    }
    if joined.read > joined.head || joined.received > joined.head { fault("marks beyond \(place)") }
    if room.isJoined, joined.resume == .truncated, room.cursor < joined.first - 1,
      joined.after == joined.first - 1
    {
      // Retention has overtaken the cursor. It may be the answer to a join as well: there is no
      // telling, and what is pending may still be answered.
      court.tally.count(.overtaken)
    } else if let answered = answered(room.pending, joined) {
      if case .join(_, _, _, let least) = room.pending[answered], !court.hasLeft(joined.room, user),
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
    let own = MemberMarks(read: joined.read, received: joined.received)
    court.ledger.note(own, of: user, in: joined.room)
    rooms[joined.room, default: Room()].isJoined = true
    rooms[joined.room, default: Room()].cursor = joined.after
  }

  /// The first that it may answer. Of several joins under way some are never answered, since another
  /// one came too soon behind.
  private func answered(_ pending: [Operation], _ joined: ServerMessage.Joined) -> Int? {
    pending.firstIndex {
      guard case .join(let after, let asked, let headAtLeast, _) = $0, joined.head >= headAtLeast
      else { return false }
      // Of a batch that had not come so far when the join was its turn, and then trimmed the room.
      if joined.resume == .reset, joined.after == joined.first - 1, joined.head == joined.after,
        asked == nil || asked == epoch, let after, after > headAtLeast
      {
        return true
      }
      return court.ledger.expectations(
        joined.room, after: after, epoch: asked, current: epoch, first: joined.first,
        head: joined.head
      ).contains(.init(after: joined.after, resume: joined.resume))
    }
  }

  private func takeReceipt(_ room: String, _ marks: ServerMessage.Marks) {
    court.tally.count(.receiptTold)
    let isJoined = rooms[room]?.isJoined == true
    let mayWatch = watchesRooms && (marks.user == user || RoomName.isDirect(room))
    if !isJoined, !mayWatch { fault("a receipt in \(room), which is not joined") }
    if marks.user == user {
      court.ledger.note(
        MemberMarks(read: marks.read, received: marks.received), of: user, in: room)
    }
    if marks.read > court.ledger.room(room).head { fault("a receipt beyond the head: \(marks)") }
  }

  private func take(_ ack: ServerMessage.Ack) {
    court.tally.count(ack.duplicate ? .duplicateAcknowledged : .acknowledged)
    let room = court.ledger.room(ack.room)
    if let entry = room.entries[ack.seq] {
      if entry.id != ack.id || entry.from != user || entry.at != ack.at {
        fault("acknowledged what is another entry: \(ack)")
      }
    } else if ack.seq >= room.first || ack.seq < 1 {
      fault("acknowledged what is not in the log: \(ack)")
    }
    // A send moves its sender's own marks.
    if !ack.duplicate {
      court.ledger.note(MemberMarks(read: ack.seq, received: ack.seq), of: user, in: ack.room)
    }
    answer(ack.room, ack.id, .stored(seq: ack.seq, isDuplicate: ack.duplicate))
  }

  /// The oldest of this id that is not answered: the relay answers each.
  private func answer(_ room: String, _ id: String, _ answer: Answer) {
    guard
      let place = fates.firstIndex(where: { $0.id == id && $0.room == room && $0.answer == nil })
    else {
      fault("\(id) in \(room) was answered unasked")
      return
    }
    fates[place].answer = answer
    fates[place].answeredAt = court.now
  }

  private func take(_ error: WireError) {
    if error.re == "rooms", error.code == .unavailable, !roomsAsked.isEmpty {
      // The list could not be read.
      roomsAsked.removeFirst()
      return
    }
    guard let room = error.room else {
      fault("\(error)")
      return
    }
    switch (error.re, error.code) {
    case ("send", .unavailable):
      court.tally.count(.refusedUnavailable)
      guard let id = error.id, let wait = error.retryAfterMilliseconds, wait > 0 else {
        fault("a refusal without id or wait: \(error)")
        return
      }
      answer(room, id, .refused(retryAfter: wait))
    case ("send", .noSuchEntry), ("send", .forbidden):
      court.tally.count(.changeRefused)
      guard let id = error.id else {
        fault("a refusal without id: \(error)")
        return
      }
      if let fate = fates.first(where: { $0.id == id && $0.room == room && $0.answer == nil }),
        !fate.isAmbiguous, fate.isRightful, let target = fate.target,
        court.ledger.isText(room, target)
      {
        fault("\(id) was refused, though \(room) \(target) is there: \(error.code)")
      }
      answer(room, id, .rejected)
    case ("send", .limitReached):
      court.tally.count(.changeRefused)
      guard let id = error.id else {
        fault("a refusal without id: \(error)")
        return
      }
      answer(room, id, .rejected)
    case ("join", .unavailable):
      court.tally.count(.joinRefused)
      // Of several joins that the log takes at once those that fail are answered first.
      let joins =
        rooms[room]?.pending.indices.filter { rooms[room]?.pending[$0].isJoin == true } ?? []
      if joins.count == 1, rooms[room]?.isJoined != true {
        rooms[room]?.pending.remove(at: joins[0])
      } else if joins.isEmpty, rooms[room]?.isJoined != true {
        fault("\(error)")
      }
      // Where the room was to be entered anew, unasked, that may be what failed: then the join is
      // still to be answered.
      rooms[room]?.isJoined = false
    case ("leave", .notJoined):
      if let index = rooms[room]?.pending.firstIndex(where: { !$0.isJoin }) {
        rooms[room]?.pending.remove(at: index)
      } else {
        fault("\(error)")
      }
    case ("history", .unavailable):
      court.tally.count(.historyFailed)
      if histories.isEmpty { fault("\(error)") } else { histories.removeFirst() }
    case ("received", .notJoined), ("read", .notJoined), ("typing", .notJoined): break
    default: fault("\(error)")
    }
  }

  // MARK: - Answers to requests

  private func take(_ page: ServerMessage.HistoryPage) {
    court.tally.count(.historyRead)
    guard !histories.isEmpty else {
      fault("a history unasked")
      return
    }
    let (request, headAtLeast) = histories.removeFirst()
    if request.room != page.room { fault("a history of another room: \(page.room)") }
    if page.head < headAtLeast || page.head > court.ledger.room(page.room).head {
      fault("a history of \(page.room) up to \(page.head)")
    }
    for entry in page.entries { check(entry) }
    let seqs = page.entries.map(\.seq)
    if let first = seqs.first, seqs != Array(first..<first + Int64(seqs.count)) {
      fault("a history with gaps: \(seqs)")
    }
    if let after = request.after {
      let lower = max(after + 1, page.first)
      if let first = seqs.first, first != lower { fault("a history from \(first), not \(lower)") }
      if page.more != ((seqs.last ?? page.head) < page.head) {
        fault("a history's more: \(request) \(page.first)…\(page.head) \(seqs)")
      }
      if lower <= page.head, seqs.isEmpty { fault("an empty history: \(request)") }
    } else {
      let upper = min((request.before ?? page.head + 1) - 1, page.head)
      if let last = seqs.last, last != upper { fault("a history up to \(last), not \(upper)") }
      if page.more != ((seqs.first ?? page.first) > page.first) {
        fault("a history's more: \(request) \(page.first)…\(page.head) \(seqs)")
      }
      if upper >= page.first, seqs.isEmpty { fault("an empty history: \(request)") }
    }
    if seqs.count > request.limit { fault("a history of \(seqs.count)") }
  }

  private func take(_ summaries: [ServerMessage.RoomSummary], _ more: Bool) {
    court.tally.count(.roomsListed)
    guard !roomsAsked.isEmpty else {
      fault("rooms unasked")
      return
    }
    let heads = roomsAsked.removeFirst()
    for summary in summaries {
      let truth = court.ledger.room(summary.room)
      if summary.head < heads[summary.room] ?? 0 || summary.head > truth.head {
        fault("rooms has \(summary.room) at \(summary.head), not \(truth.head)")
      }
      if summary.unread > max(0, summary.head - summary.read) { fault("unread: \(summary)") }
      if summary.unread > 0, truth.first == 1 {
        let unread = truth.entries.values.count {
          $0.kind.isContent && $0.seq > summary.read && $0.seq <= summary.head
        }
        if summary.unread != unread { fault("unread is \(unread): \(summary)") }
      }
      if let last = summary.last { checkFolded(last) }
      toldHeads[summary.room] = summary.head
    }
    guard !more else { return }
    let names = Set(summaries.map(\.room))
    for fate in fates where !names.contains(fate.room) && !court.hasLeft(fate.room, user) {
      if case .stored(let seq, _) = fate.answer, seq <= heads[fate.room] ?? 0 {
        fault("rooms lacks \(fate.room), to which was sent")
      }
    }
  }

  private func take(_ activity: ServerMessage.Activity) {
    court.tally.count(.activityTold)
    if let room = rooms[activity.room], room.isJoined, room.pending.isEmpty {
      fault("activity in \(activity.room), which is joined")
    }
    if activity.last?.seq != activity.head { fault("activity whose last is not the head") }
    if activity.head < toldHeads[activity.room] ?? 0 { fault("activity went back: \(activity)") }
    if let last = activity.last { check(last) }
    toldHeads[activity.room] = activity.head
  }

  // MARK: - In the end

  /// Sends that are not answered.
  var unanswered: Int { fates.count { $0.answer == nil } }

  /// A refusal that takes longer to arrive than it holds, or never does: what was sent before it
  /// arrived may come first.
  private func noteOvertaken() {
    for (index, fate) in fates.enumerated() {
      guard let taken = court.taken(link, fate.place) else { continue }
      var (heardAt, until) = (Int64.max, taken.readingTime + Refusal.retryAfterMilliseconds)
      switch fate.answer {
      case .stored: continue
      case .refused(let wait): (heardAt, until) = (fate.answeredAt, taken.readingTime + wait)
      case .rejected: continue
      case nil: break
      }
      for later in fates[(index + 1)...] where later.room == fate.room {
        let laterTaken = court.taken(link, later.place)?.readingTime ?? .max
        if later.sentAt <= heardAt, laterTaken >= until {
          court.noteOvertaken(fate.room, user)
        }
      }
    }
  }

  /// The order of this connection's sends: to be called when nothing more will come.
  func close() {
    noteOvertaken()
    // With until when they are to be sent again, those that may have been the first to be refused.
    var places: [String: (until: Int64, seq: Int64, first: [String: Int64])] = [:]
    for fate in fates where !fate.isAmbiguous {
      var place = places[fate.room] ?? (0, 0, [:])
      let takenAt = court.taken(link, fate.place)?.at
      // Sent again when its own wait is over, it ends what has held those behind it, whatever comes of it.
      if let takenAt, let own = place.first[fate.id], takenAt >= own {
        (place.until, place.first) = (0, [:])
      }
      switch fate.answer {
      case .refused(let wait):
        guard let takenAt else { break }
        // Those that the log refuses itself are told the whole wait.
        if place.first.isEmpty || takenAt >= place.until || wait == Refusal.retryAfterMilliseconds {
          place.first[fate.id] = takenAt + wait
        }
        place.until = max(place.until, takenAt + wait)
      case .stored(let seq, let isDuplicate):
        guard !isDuplicate else { continue }
        if let takenAt, takenAt < place.until {
          fault("\(fate.id) was stored in \(fate.room) behind one refused")
        }
        if seq <= place.seq { fault("\(fate.id) has \(seq) in \(fate.room), an earlier one more") }
        place.seq = seq
      case .rejected, nil: break
      }
      places[fate.room] = place
    }
  }
}
