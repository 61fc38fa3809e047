import Logging
import Wire

/// Finds and joins the bot's rooms, within the relay's limit of joined rooms.
///
/// Rooms are joined one at a time, which keeps the number of pending requests small.
extension Bot {
  /// After a reconnect: joins all rooms again, the configured ones first.
  func enrolAgain() {
    waiting = []
    for room in conversations.keys.sorted() where conversations[room]?.phase != .waiting {
      // An answer in progress continues; it is sent once there is a connection.
      conversations[room]?.phase = .waiting
      conversations[room]?.subscribers = 0
    }
    for room in description.rooms { enqueue(room) }
    for room in conversations.keys.sorted() where !description.rooms.contains(room) {
      enqueue(room)
    }
  }

  /// Adds a room to the queue of rooms to join.
  /// - Parameter isOptional: joins it only if that does not require leaving another room.
  func enqueue(_ room: String, isOptional: Bool = false) {
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

  /// Queues the rooms that this user belongs to: rooms with a possibly pending answer first, then
  /// others by the time of their last entry, up to the limit.
  func receive(_ rooms: [ServerMessage.RoomSummary]) {
    let direct = rooms.filter { room in
      guard let peer = peer(in: room.room), conversations[room.room] == nil else { return false }
      return !isBot(peer)
    }
    for room in direct where mayOweAnswer(room) { enqueue(room.room) }
    let others = direct.filter { !mayOweAnswer($0) }
    for room in others.sorted(by: { ($0.last?.at ?? 0) > ($1.last?.at ?? 0) }) {
      enqueue(room.room, isOptional: true)
    }
  }

  /// An entry is read before it is answered, so the read mark alone is not sufficient: an answer
  /// must immediately follow the entry that it answers.
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
    case nil, .waiting: enqueue(activity.room)
    case .leaving: conversations[activity.room]?.phase = .leaving(again: true)
    case .joining, .following: break
    }
  }

  func left(_ room: String) {
    guard let conversation = conversations[room] else { return }
    switch conversation.phase {
    case .leaving(let again):
      conversations[room] = nil
      if again { enqueue(room) }
      startEnrolling()
    case .following where !conversation.isAnswering:
      // Not requested: the bot has lost the right to the room.
      conversations[room] = nil
    case .waiting, .joining, .following: break
    }
  }

  /// Handles a completed join: subsequent entries are the ones after its cursor.
  func receive(_ joined: ServerMessage.Joined) {
    let room = joined.room
    guard var conversation = conversations[room] else { return }
    conversation.subscribers = joined.subscribers ?? 0
    if conversation.programAfter == nil { conversation.programAfter = joined.read }
    switch (conversation.phase, joined.resume) {
    case (.waiting, _), (.leaving, _): return
    case (_, .reset), (_, .diverged):
      // The bot's own answers may be among the lost entries: read the log again.
      conversation.forget()
      conversations[room] = conversation
      if conversation.phase == .following { enqueue(room) }
      return
    case (.joining, _) where conversation.taken == nil:
      break  // This join only served to learn the marks.
    case (.joining, _), (.following, _):
      conversation.taken = joined.after
      conversation.epoch = joined.epoch
      conversation.phase = .following
    }
    conversations[room] = conversation
    touch(room)
    tickIfHeard(in: room)
  }

  /// Joins the waiting rooms until the limit is reached.
  func enrol() async {
    defer { isEnrolling = false }
    while !hasEnded, let room = nextToEnrol() {
      conversations[room]?.phase = .joining
      if conversations[room]?.taken == nil { await findPosition(in: room) }
      guard conversations[room]?.phase == .joining else { continue }
      let conversation = conversations[room]
      let join = ClientMessage.Join(
        room: room, after: conversation?.taken, epoch: conversation?.epoch, subscribers: true)
      guard conversation?.taken != nil,
        case .joined(let joined)? = await retriedReply(to: .join(join), as: .join(room: room))
      else {
        abandonJoin(room)
        continue
      }
      if joined.resume == .reset || joined.resume == .diverged { joinAgain(room) }
    }
  }

  private func joinAgain(_ room: String) {
    if conversations[room]?.phase == .joining { enqueue(room) }
  }

  /// Handles a refused join or a lost connection; the next connection joins again.
  private func abandonJoin(_ room: String) {
    guard let conversation = conversations[room], conversation.phase == .joining else { return }
    if conversation.isAnswering || description.rooms.contains(room) {
      conversations[room]?.phase = .leaving(again: false)
    } else {
      conversations[room] = nil
    }
  }

  /// Returns the next room that can be joined, if necessary by leaving another one.
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
        // All are busy; the first one to finish continues the enrolment.
        waiting.insert(room, at: 0)
        return nil
      }
      conversations[oldest]?.phase = .leaving(again: false)
      send(.leave(room: oldest, forget: false))
      return room
    }
    return nil
  }

  private var hasPlace: Bool {
    guard limits.rooms > 0 else { return true }
    return limits.rooms
      > conversations.values.count { $0.phase == .following || $0.phase == .joining }
  }

  /// Determines the bot's position in a room from its own entries in the log or, if these are not
  /// conclusive, from its read mark.
  private func findPosition(in room: String) async {
    let isDirect = RoomName.isDirect(room)
    if description.answers {
      var recollection = Recollection()
      while recollection.wantsMore {
        let request = ClientMessage.HistoryRequest(
          room: room, before: recollection.before, limit: Recollection.pageLimit)
        guard
          case .history(let page)? = await retriedReply(
            to: .history(request), as: .history(room: room))
        else { break }
        recollection.record(page, of: description.user, lastStep: description.lastSaying)
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
    guard case .joined(let joined)? = await retriedReply(to: .join(join), as: .join(room: room))
    else {
      return
    }
    // The bot was never here: earlier messages of others are not addressed to it.
    let isNew = !isDirect && joined.read == 0 && joined.received == 0
    if isNew, joined.head > 0 {
      send(.read(room: room, seq: joined.head))
      conversations[room]?.programAfter = joined.head
    }
    conversations[room]?.taken = isNew ? joined.head : joined.read
    conversations[room]?.epoch = joined.epoch
  }

  /// Repeats a request until the reply is not "later".
  private func retriedReply(to message: ClientMessage, as request: Request) async -> Reply? {
    while !hasEnded {
      switch await reply(to: message, as: request) {
      case .refused(let error) where error.code == .unavailable:
        let delay = Duration.milliseconds(error.retryAfterMilliseconds ?? 1000)
        guard (try? await time.sleep(delay)) != nil else { return nil }
      case .refused(let error):
        log.warning(
          "A bot could not join a room.",
          metadata: ["code": "\(error.code.rawValue)", "reason": "\(error.message)"])
        return nil
      case .cut: return nil
      case let reply: return reply
      }
    }
    return nil
  }
}
