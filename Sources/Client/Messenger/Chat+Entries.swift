import Client
import Wire

/// Entries of the log, and the marks of other users.
extension Chat {
  mutating func addEntry(_ entry: Entry, _ effects: inout [Effect]) {
    let room = entry.room
    guard var conversation = conversations[room] else { return }
    let isOwn = entry.from == user
    conversation.latest = max(conversation.latest, entry.seq)
    conversation.head = max(conversation.head, entry.seq)
    conversation.typing.removeAll { $0.user == entry.from }
    let isNews = entry.seq > conversation.knownTo && !isOwn && entry.kind.isContent
    conversation.knownTo = max(conversation.knownTo, entry.seq)
    // An entry moves its sender's read mark if nothing of others lies between.
    let readsOn = isOwn && entry.seq == conversation.read + 1
    if readsOn { conversation.read = entry.seq }
    if isOwn { conversation.isRequest = false }
    if entry.seq > conversation.countedTo {
      conversation.countedTo = entry.seq
      if entry.kind.isContent, !isOwn, entry.seq > conversation.read { conversation.unread += 1 }
    }
    if entry.kind.isContent {
      // While the room catches up, newer entries exist already.
      if entry.seq >= conversation.last?.seq ?? 0 { conversation.last = preview(of: entry) }
    } else if let target = entry.target, target == conversation.last?.seq {
      if entry.kind == .delete { conversation.last?.text = "" }
      if entry.kind == .edit { conversation.last?.text = entry.text ?? "" }
    }
    // The relay counts unread entries that have not arrived, but not the mentions among them.
    if entry.kind.isContent { recordMention(entry, in: &conversation) }
    if entry.kind == .delete { conversation.mentions.removeAll { $0 == entry.target } }
    if entry.kind.isNotice, let user {
      conversation.membership.take(entry, user: user)
      if let title = entry.settings?.title { conversation.title = title }
      if let change = entry.member, !change.role.isMember { conversation.marks[change.user] = nil }
    }
    conversations[room] = conversation
    if entry.kind != .react { refind() }
    if readsOn { recount(room, &effects) }
    isListStale = true
    effects.append(.mark(room, received: entry.seq, read: 0))
    effects.append(.save(room))
    if timeline?.room == room {
      insert(entry, &effects)
      if historyAsked != room, timeline?.messages.isEmpty == false || conversation.behind == 0 {
        timeline?.isLoading = false
      }
    }
    if isNews { announce(entry, in: room, &effects) }
    if timeline?.room == room { markRead(&effects) }
  }

  func preview(of entry: Entry) -> Conversation.Preview {
    .init(
      seq: entry.seq, from: entry.from, text: Self.shown(of: entry), at: entry.at,
      state: entry.from == user ? state(ofSeq: entry.seq, in: entry.room) : nil)
  }

  /// The content of an entry as text: a file is its name and size, and its caption below.
  static func shown(of entry: Entry) -> String {
    if let file = entry.file {
      return [file.label, file.caption].compactMap { $0 }.joined(separator: "\n")
    }
    return entry.text ?? describe(entry)
  }

  static func describe(_ entry: Entry) -> String {
    entry.isDeleted ? "" : entry.data.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  // MARK: The timeline

  /// Beyond `timelineLimit` messages only the newest `timelineRest` stay in memory, unless the user
  /// has scrolled up; older ones are loaded from the archive.
  static let timelineLimit = 2000
  static let timelineRest = 500
  /// While the user has scrolled up, the number of newer messages kept in memory; beyond it they
  /// are left to the archive.
  static let detachedLimit = 10_000

  private mutating func insert(_ entry: Entry, _ effects: inout [Effect]) {
    guard entry.kind.isContent || entry.kind.isNotice || entry.kind == .hidden else {
      return change(entry)
    }
    guard var timeline = self.timeline else { return }
    self.timeline = nil
    defer { self.timeline = timeline }
    let key = Message.Key(from: entry.from, id: entry.id)
    let isBelow = timeline.scroll != .newest
    let isNews = entry.from != user && entry.kind.isContent
    if timeline.isDetached {
      if isNews { timeline.newBelow += 1 }
      return
    }
    let message = self.message(entry, in: timeline, &effects)
    if message.hidden != nil { return timeline.insert(hidden: message) }
    // Another user's entry is new unless it arrives out of order, so no search is needed.
    let isNew = entry.from != user && entry.seq > timeline.lastSeq
    if !isNew, let place = timeline.index(of: key) {
      // The message was waiting, or was acknowledged before its entry arrived.
      var known = timeline.messages.remove(at: place)
      known.seq = message.seq
      known.at = message.at
      known.quote = known.quote ?? message.quote
      known.text = message.text
      known.file = message.file
      known.forwardedFrom = message.forwardedFrom
      known.state = message.state
      timeline.insert(known)
      return
    }
    timeline.insert(message)
    if isBelow, isNews { timeline.newBelow += 1 }
    if timeline.unreadAfter == nil, isNews, isBelow || !isWatched {
      timeline.unreadAfter = entry.seq - 1
    }
    if !isBelow, timeline.messages.count > Self.timelineLimit {
      timeline.messages.removeFirst(timeline.messages.count - Self.timelineRest)
      timeline.isComplete = false
    } else if isBelow, timeline.messages.count > Self.detachedLimit {
      timeline.isDetached = true
    }
  }

  /// Applies an entry that changes another one.
  private mutating func change(_ entry: Entry) {
    guard let target = entry.target,
      let place = timeline?.messages.lastIndex(where: { $0.seq == target })
    else { return }
    switch entry.kind {
    case .edit:
      timeline?.messages[place].edit(entry.text ?? "")
      timeline?.messages[place].isEdited = true
    case .delete: timeline?.messages[place].delete(by: entry.from)
    case .react:
      guard let (emoji, isOn) = entry.reaction else { return }
      timeline?.messages[place].react(emoji, by: entry.from, isOn: isOn)
    default: break
    }
    // Changes that are still unacknowledged are shown already.
    for line in outgoing
    where line.refusal == nil && line.send.room == entry.room && line.send.id != entry.id {
      timeline?.messages[place].applyOutgoing(line.send, of: target, by: user ?? "")
    }
    if entry.kind != .react { timeline?.requote(target) }
  }

  /// Returns the message for an entry, which must be in its current state.
  func message(
    _ entry: Entry, in timeline: Timeline, _ effects: inout [Effect]
  ) -> Message {
    if entry.kind == .hidden {
      // It has no id.
      var hidden = Message(
        key: .init(from: "", id: "\(entry.seq)"), seq: entry.seq, at: entry.at,
        text: NoticeText.hidden(1), isOwn: false)
      hidden.isNotice = true
      hidden.hidden = .init(last: entry.seq)
      return hidden
    }
    if entry.kind.isNotice {
      var notice = Message(
        key: .init(from: entry.from, id: entry.id), seq: entry.seq, at: entry.at,
        text: notices.line(for: entry), isOwn: false)
      notice.isNotice = true
      return notice
    }
    let isOwn = entry.from == user
    var message = Message(
      key: .init(from: entry.from, id: entry.id), seq: entry.seq, at: entry.at,
      text: Self.shown(of: entry), isOwn: isOwn)
    message.file = entry.file
    message.isDeleted = entry.isDeleted
    message.deletedBy = entry.deletedBy
    message.isEdited = entry.editedAt != nil
    let more = entry.reactions.isEmpty ? [:] : entry.reactionsMore
    message.reactions = entry.reactions.map {
      .init(emoji: $0.emoji, users: $0.users, more: Int(more[$0.emoji] ?? 0))
    }
    message.forwardedFrom = entry.forward?.from
    if isOwn { message.state = state(ofSeq: entry.seq, in: entry.room) }
    if let reply = entry.replyTo {
      message.quote = timeline.quote(reply)
      if message.quote?.from == nil { effects.append(.quote(room: entry.room, seq: reply)) }
    }
    for line in outgoing where line.send.room == entry.room && line.refusal == nil {
      message.applyOutgoing(line.send, of: entry.seq, by: user ?? "")
    }
    return message
  }

  mutating func showPage(
    _ entries: [Entry], of room: String, before: Int64?, isComplete: Bool,
    _ effects: inout [Effect]
  ) {
    guard var timeline, timeline.room == room else { return }
    self.timeline = nil
    let messages = Timeline.joined(entries.map { message($0, in: timeline, &effects) })
    var added = 0
    if before == nil {
      timeline.messages = messages
      timeline.isDetached = false
      timeline.isComplete = isComplete || isEmptyAtRelay(room)
      self.timeline = timeline
      for line in outgoing where line.send.room == room { show(line, &effects) }
      if let newest = entries.last?.seq {
        let latest = max(conversations[room]?.latest ?? 0, newest)
        conversations[room]?.latest = latest
      }
      showFirstUnread()
    } else if before == timeline.firstSeq || timeline.messages.isEmpty {
      let (known, first) = (timeline.messages.count, timeline.messages.first)
      timeline.messages = Timeline.joined(messages + timeline.messages)
      added = max(0, timeline.messages.count - known)
      // The view may be at the line that the page has extended.
      if let first, first.hidden != nil, timeline.index(of: first.key) == nil,
        let place = timeline.messages.firstIndex(where: { $0.hidden?.last == first.hidden?.last })
      {
        timeline.messages[place].key = first.key
      }
      timeline.isComplete = isComplete
      for message in messages where message.quote == nil { timeline.requote(message.seq ?? 0) }
      self.timeline = timeline
    } else {
      self.timeline = timeline
    }
    if historyAsked != room {
      let isLoading = self.timeline?.messages.isEmpty == true && isAwaited(room)
      self.timeline?.isLoading = isLoading
    }
    if before != nil { searchOn(inFirst: added, &effects) }
    markRead(&effects)
    if entersMessages, self.timeline?.messages.isEmpty == false { enter(.messages) }
  }

  /// Nothing can be loaded: the displayed messages stay, and new ones are appended.
  mutating func takeNoPage(of room: String) {
    guard timeline?.room == room else { return }
    timeline?.isDetached = false
    if historyAsked != room { timeline?.isLoading = false }
  }

  /// Whether the relay has said that the room has no entry, so that the user's own first message
  /// begins it.
  func isEmptyAtRelay(_ room: String) -> Bool {
    conversations[room].map { $0.wasJoined && $0.head == 0 } ?? false
  }

  /// Whether the room's first entries are about to arrive.
  private func isAwaited(_ room: String) -> Bool {
    guard isLive, let conversation = conversations[room], !conversation.isJoinRefused else {
      return false
    }
    return !conversation.isJoined || conversation.behind > 0
  }

  /// Scrolls a conversation that was just opened to the first unread message.
  private mutating func showFirstUnread() {
    guard let timeline, timeline.isFresh else { return }
    self.timeline?.isFresh = timeline.messages.isEmpty
    guard let after = timeline.unreadAfter,
      let first = timeline.messages.first(where: {
        !$0.isOwn && !$0.isNotice && $0.seq ?? 0 > after
      })
    else { return }
    reveal(first.key)
    if case .at(let key, line: _) = self.timeline?.scroll, let end = timeline.index(of: key) {
      self.timeline?.newBelow = timeline.messages[(end + 1)...].count { !$0.isOwn && !$0.isNotice }
    }
  }

  mutating func takeQuoted(_ entry: Entry, in room: String) {
    guard timeline?.room == room else { return }
    for index in timeline?.messages.indices ?? 0..<0
    where timeline?.messages[index].quote?.seq == entry.seq {
      timeline?.messages[index].quote?.from = entry.from
      timeline?.messages[index].quote?.text = Self.shown(of: entry)
    }
  }

  /// Requests the messages before the first loaded one.
  mutating func loadOlder(_ effects: inout [Effect]) {
    guard let timeline, !timeline.isLoading, !timeline.isComplete, let first = timeline.firstSeq
    else { return }
    self.timeline?.isLoading = true
    effects.append(.load(room: timeline.room, before: first))
  }
}

extension Timeline {
  /// The `seq` of the oldest loaded message.
  var firstSeq: Int64? { messages.first { $0.seq != nil }?.seq }

  /// The `seq` of the newest loaded message; 0 if there is none.
  var lastSeq: Int64 {
    messages.last { $0.seq != nil }.flatMap { $0.hidden?.last ?? $0.seq } ?? 0
  }

  func index(of key: Message.Key) -> Int? { messages.lastIndex { $0.key == key } }

  public func message(_ key: Message.Key) -> Message? { index(of: key).map { messages[$0] } }

  /// Inserts a message at its place by `seq`; waiting messages stay at the end.
  mutating func insert(_ message: Message) {
    guard let seq = message.seq else { return messages.append(message) }
    var place = messages.count
    while place > 0, messages[place - 1].seq.map({ $0 > seq }) ?? true { place -= 1 }
    messages.insert(message, at: place)
  }

  /// Inserts a hidden entry, unless it is among those that are loaded.
  mutating func insert(hidden message: Message) {
    guard let seq = message.seq,
      !messages.contains(where: { $0.seq ?? .max <= seq && seq <= $0.hidden?.last ?? 0 })
    else { return }
    insert(message)
    messages = Self.joined(messages)
  }

  /// Returns the messages with one line for each run of hidden ones.
  static func joined(_ messages: [Message]) -> [Message] {
    var joined: [Message] = []
    joined.reserveCapacity(messages.count)
    for message in messages {
      guard let next = message.hidden, var run = joined.last, let first = run.hidden else {
        joined.append(message)
        continue
      }
      run.hidden = .init(count: first.count + next.count, last: next.last)
      run.text = NoticeText.hidden(first.count + next.count)
      joined[joined.count - 1] = run
    }
    return joined
  }

  func quote(_ seq: Int64) -> Message.Quote {
    let quoted = messages.last { $0.seq == seq }
    return .init(seq: seq, from: quoted?.from, text: quoted?.text)
  }

  /// Updates the quotes of a message that has changed or arrived.
  mutating func requote(_ seq: Int64) {
    for index in messages.indices where messages[index].quote?.seq == seq {
      messages[index].quote = quote(seq)
    }
  }
}

extension Message {
  mutating func delete(by user: String) {
    text = ""
    file = nil
    isDeleted = true
    deletedBy = user == from ? nil : user
    reactions = []
  }

  mutating func react(_ emoji: String, by user: String, isOn: Bool) {
    let place = reactions.firstIndex { $0.emoji == emoji }
    if isOn {
      if let place {
        if !reactions[place].users.contains(user) { reactions[place].users.append(user) }
      } else {
        reactions.append(.init(emoji: emoji, users: [user]))
      }
    } else if let place {
      reactions[place].users.removeAll { $0 == user }
      if reactions[place].count == 0 { reactions.remove(at: place) }
    }
  }

  /// Takes a new text, which is the caption of a file.
  mutating func edit(_ new: String) { text = file.map { "\($0.label)\n\(new)" } ?? new }

  /// Applies an outgoing change before the relay has acknowledged it.
  mutating func applyOutgoing(_ send: ClientMessage.Send, of seq: Int64?, by user: String) {
    guard seq != nil, let change = send.change, change.target == seq else { return }
    switch send.kind {
    case .edit where !isDeleted:
      edit(change.text ?? "")
      isEdited = true
    case .delete: delete(by: user)
    case .react:
      if let (emoji, isOn) = change.reaction { react(emoji, by: user, isOn: isOn) }
    default: break
    }
  }
}

extension ClientMessage.Send {
  /// The entry that it will become, if it changes another entry.
  var change: Entry? {
    kind.isContent ? nil : asEntry
  }

  var asEntry: Entry {
    Entry(room: room, seq: 0, id: id, from: "", at: 0, kind: kind, body: body)
  }
}
