import Client
import Terminal
import Wire

/// Read marks of the user and of others, and notifications.
extension Chat {
  func state(ofSeq seq: Int64, in room: String) -> SendState {
    guard let marks = conversations[room]?.marks.values, !marks.isEmpty else { return .sent }
    if marks.allSatisfy({ $0.read >= seq }) { return .read }
    return marks.allSatisfy { $0.received >= seq } ? .delivered : .sent
  }

  mutating func updateMarks(
    _ marks: ServerMessage.Marks, in room: String, _ effects: inout [Effect]
  ) {
    guard var conversation = conversations[room] else { return }
    if marks.user == user {
      guard marks.read > conversation.read else { return }
      conversation.read = marks.read
      conversations[room] = conversation
      recount(room, &effects)
      effects.append(.save(room))
      return
    }
    let known = conversation.marks[marks.user] ?? .init(received: 0, read: 0)
    conversation.marks[marks.user] = .init(
      received: max(known.received, marks.received), read: max(known.read, marks.read))
    conversations[room] = conversation
    if conversation.last?.from == user, let seq = conversation.last?.seq, seq > 0 {
      let state = state(ofSeq: seq, in: room)
      conversations[room]?.last?.state = state
    }
    if timeline?.room == room { updateStates() }
    effects.append(.save(room))
  }

  /// Updates the states of the user's own messages from the marks of the others.
  mutating func updateStates() {
    guard let timeline else { return }
    for index in timeline.messages.indices.reversed() {
      let message = timeline.messages[index]
      guard message.isOwn, let seq = message.seq else { continue }
      if message.state == .read { break }
      let state = state(ofSeq: seq, in: timeline.room)
      self.timeline?.messages[index].state = state
    }
  }

  /// Recounts the unread entries after the user has read on. Entries that the relay has counted but
  /// that have not arrived yet are counted when they arrive.
  mutating func recount(_ room: String, _ effects: inout [Effect]) {
    guard var conversation = conversations[room] else { return }
    if conversation.isJoined {
      conversation.countedTo = min(conversation.countedTo, conversation.latest)
    }
    if conversation.read >= conversation.countedTo {
      conversation.unread = 0
    } else {
      effects.append(.count(room: room, after: conversation.read))
    }
    conversations[room] = conversation
  }

  /// Marks as read everything down to the lower edge, while the user can see it.
  mutating func markRead(_ effects: inout [Effect]) {
    guard isWatched, let timeline, let conversation = conversations[timeline.room],
      conversation.isJoined || conversation.unread > 0, !isConversationHidden
    else { return }
    let seen: Int64
    switch timeline.scroll {
    case .newest: seen = timeline.isDetached ? 0 : conversation.latest
    case .at(let key, line: _): seen = timeline.message(key)?.seq ?? 0
    }
    guard seen > conversation.read else { return }
    conversations[timeline.room]?.read = seen
    recount(timeline.room, &effects)
    effects.append(.mark(timeline.room, received: seen, read: seen))
    effects.append(.save(timeline.room))
  }

  // MARK: Notifications

  /// The minimum interval between two sounds, and between two notifications of one conversation.
  private static let announceMilliseconds: Int64 = 1000

  mutating func announce(_ entry: Entry, in room: String, _ effects: inout [Effect]) {
    guard let conversation = conversations[room], !conversation.isRequest,
      !blocked.contains(entry.from),
      isWanted(entry, in: conversation)
    else { return }
    let isShown = timeline?.room == room && !isConversationHidden
    let isSeen = isWatched && isShown && timeline?.scroll == .newest
    if now - times.sounded >= Self.announceMilliseconds {
      times.sounded = now
      effects.append(.sound(.received))
    }
    if isSeen { return }
    guard now - conversation.notifiedAt >= Self.announceMilliseconds else { return }
    conversations[room]?.notifiedAt = now
    if settings.bell { effects.append(.bell) }
    if isWatched { return }
    let name = TerminalText.line(name(of: entry.from))
    let title =
      conversation.peer == nil ? "\(name) – \(TerminalText.line(conversation.title))" : name
    let text = TerminalText.line(Self.shown(of: entry))
    effects.append(.notify(title: title, body: String(text.prefix(200))))
  }
}
