import Logging
import Wire

/// How a bot finds its rooms, and keeps to the number it may join.
///
/// Rooms are joined one after the other: that keeps what a bot asks for at once small.
extension Bot {
  /// After a connection came about: all rooms are joined again, the configured ones first.
  func enrolAgain() {
    waiting = []
    for room in conversations.keys.sorted() where conversations[room]?.phase != .waiting {
      // What is answered at the moment goes on; it sends by itself once it can.
      conversations[room]?.phase = .waiting
      conversations[room]?.subscribers = 0
    }
    for room in description.rooms { want(room) }
    for room in conversations.keys.sorted() where !description.rooms.contains(room) { want(room) }
  }

  /// Puts a room in the line of those to join.
  /// - Parameter isOptional: only if there is a place without leaving another room.
  func want(_ room: String, isOptional: Bool = false) {
    guard !waiting.contains(room) else {
      if !isOptional { conversations[room]?.isOptional = false }
      return
    }
    guard waiting.count < Self.waitingLimit || !RoomName.isDirect(room) else { return }
    var conversation = conversations[room] ?? Conversation()
    conversation.phase = .waiting
    conversation.isOptional = isOptional
    conversations[room] = conversation
    waiting.append(room)
    startEnrolling()
  }

  func startEnrolling() {
    guard !isEnrolling, !waiting.isEmpty else { return }
    isEnrolling = true
    start(.enrol)
  }

  /// The rooms that this user belongs to. Those that may owe an answer come first, then others
  /// in the order of their last entry, as far as there is place.
  func receive(_ rooms: [ServerMessage.RoomSummary]) {
    let direct = rooms.filter { room in
      guard let peer = peer(in: room.room), conversations[room.room] == nil else { return false }
      return !isBot(peer)
    }
    for room in direct where mayOweAnswer(room) { want(room.room) }
    let others = direct.filter { !mayOweAnswer($0) }
    for room in others.sorted(by: { ($0.last?.at ?? 0) > ($1.last?.at ?? 0) }) {
      want(room.room, isOptional: true)
    }
  }

  /// An answer moves the read mark past what came before it, so the mark alone does not tell:
  /// only an answer that stands right behind what it answers does.
  private func mayOweAnswer(_ room: ServerMessage.RoomSummary) -> Bool {
    if room.unread > 0 { return true }
    guard description.answers, let last = room.last else { return false }
    guard last.from == description.user, let id = AnswerID(last.id) else { return true }
    switch id.kind {
    case .echo: return description.playsScript || last.seq != id.seq + Int64(description.echoes)
    case .script: return id.part != description.lastSaying
    }
  }

  func receive(_ activity: ServerMessage.Activity) {
    guard activity.unread > 0, let peer = peer(in: activity.room), !isBot(peer) else { return }
    switch conversations[activity.room]?.phase {
    case nil, .waiting: want(activity.room)
    case .leaving: conversations[activity.room]?.phase = .leaving(again: true)
    case .joining, .following: break
    }
  }

  func left(_ room: String) {
    guard let conversation = conversations[room] else { return }
    switch conversation.phase {
    case .leaving(let again):
      conversations[room] = nil
      if again { want(room) }
      startEnrolling()
    case .following where !conversation.isAnswering:
      // Unasked: the right to the room is gone.
      conversations[room] = nil
    case .waiting, .joining, .following: break
    }
  }

  /// The cursor stands: what comes from now on are the entries after it.
  func receive(_ joined: ServerMessage.Joined) {
    let room = joined.room
    guard var conversation = conversations[room] else { return }
    conversation.subscribers = joined.subscribers ?? 0
    if conversation.programAfter == nil { conversation.programAfter = joined.read }
    switch (conversation.phase, joined.resume) {
    case (.waiting, _), (.leaving, _): return
    case (_, .reset), (_, .diverged):
      // Its own answers may be among what was lost: look again.
      conversation.forget()
      conversations[room] = conversation
      if conversation.phase == .following { want(room) }
      return
    case (.joining, _) where conversation.taken == nil:
      break  // This join was only to learn the marks.
    case (.joining, _), (.following, _):
      conversation.taken = joined.after
      conversation.epoch = joined.epoch
      conversation.phase = .following
    }
    conversations[room] = conversation
    touch(room)
    tickIfHeard(in: room)
  }

  /// Joins the waiting rooms as far as there is place.
  func enrol() async {
    defer { isEnrolling = false }
    while !hasEnded, let room = nextToEnrol() {
      conversations[room]?.phase = .joining
      if conversations[room]?.taken == nil { await locate(room) }
      guard conversations[room]?.phase == .joining else { continue }
      let conversation = conversations[room]
      let join = ClientMessage.Join(
        room: room, after: conversation?.taken, epoch: conversation?.epoch, subscribers: true)
      guard conversation?.taken != nil,
        case .joined(let joined)? = await askAgain(.join(join), .join(room: room))
      else {
        giveUp(room)
        continue
      }
      if joined.resume == .reset || joined.resume == .diverged { again(room) }
    }
  }

  private func again(_ room: String) {
    if conversations[room]?.phase == .joining { want(room) }
  }

  /// The join was refused, or the connection cut: then the next one joins again.
  private func giveUp(_ room: String) {
    guard let conversation = conversations[room], conversation.phase == .joining else { return }
    if conversation.isAnswering || description.rooms.contains(room) {
      conversations[room]?.phase = .leaving(again: false)
    } else {
      conversations[room] = nil
    }
  }

  /// The next room that there is a place for, made by leaving another one if need be.
  private func nextToEnrol() -> String? {
    while !waiting.isEmpty {
      let room = waiting.removeFirst()
      guard conversations[room]?.phase == .waiting else { continue }
      if hasPlace { return room }
      if conversations[room]?.isOptional == true {
        conversations[room] = nil
        continue
      }
      let idle = conversations.filter { $0.value.isIdle && RoomName.isDirect($0.key) }
      guard let oldest = idle.min(by: { $0.value.lastActive < $1.value.lastActive })?.key else {
        // All are busy; the first that is through starts this again.
        waiting.insert(room, at: 0)
        return nil
      }
      conversations[oldest]?.phase = .leaving(again: false)
      tell(.leave(room: oldest, forget: false))
      return room
    }
    return nil
  }

  private var hasPlace: Bool {
    guard limits.rooms > 0 else { return true }
    return limits.rooms
      > conversations.values.count { $0.phase == .following || $0.phase == .joining }
  }

  /// Finds out how far this bot has come in a room: from its own entries in the log, and where
  /// these do not tell, from its read mark.
  private func locate(_ room: String) async {
    let isDirect = RoomName.isDirect(room)
    if description.answers {
      var recollection = Recollection()
      while recollection.wantsMore {
        let request = ClientMessage.HistoryRequest(
          room: room, before: recollection.before, limit: Recollection.pageLimit)
        guard case .history(let page)? = await askAgain(.history(request), .history(room: room))
        else { break }
        recollection.note(page, of: description.user, lastStep: description.lastSaying)
      }
      conversations[room]?.sent = recollection.sent
      conversations[room]?.scriptEnd = recollection.scriptEnd
      conversations[room]?.hasSpoken = recollection.oldestOwn != nil
      if recollection.pages > 0, let cursor = recollection.cursor(isDirect: isDirect) {
        conversations[room]?.taken = cursor
        return
      }
    }
    let join = ClientMessage.Join(room: room)
    guard case .joined(let joined)? = await askAgain(.join(join), .join(room: room)) else {
      return
    }
    // It was never here: what others said before is not for it.
    let isNew = !isDirect && joined.read == 0 && joined.received == 0
    if isNew, joined.head > 0 {
      tell(.read(room: room, seq: joined.head))
      conversations[room]?.programAfter = joined.head
    }
    conversations[room]?.taken = isNew ? joined.head : joined.read
    conversations[room]?.epoch = joined.epoch
  }

  /// Asks until it is answered with something else than "later".
  private func askAgain(_ message: ClientMessage, _ request: Request) async -> Reply? {
    while !hasEnded {
      switch await ask(message, request) {
      case .refused(let error) where error.code == .unavailable:
        let delay = Duration.milliseconds(error.retryAfterMilliseconds ?? 1000)
        guard (try? await time.sleep(delay)) != nil else { return nil }
      case .refused(let error):
        log.warning(
          "A room could not be joined.",
          metadata: ["code": "\(error.code.rawValue)", "message": "\(error.message)"])
        return nil
      case .cut: return nil
      case let reply: return reply
      }
    }
    return nil
  }
}
