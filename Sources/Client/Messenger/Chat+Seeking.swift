import Terminal
import Wire

/// Going to a place in a conversation: a date, the first unread message, a mention, a match.
extension Chat {
  /// Opens a conversation at a place. What is not loaded comes from the archive, and what is not
  /// there from the relay.
  mutating func go(to place: Place, in room: String, _ effects: inout [Effect]) {
    overlay = nil
    open(room, &effects)
    search = nil
    timeline?.found = []
    if case .message(let seq) = place,
      let message = timeline?.messages.first(where: { $0.seq == seq })
    {
      return show(message.key, &effects)
    }
    seeking = Seeking(room: room, place: place)
    effects.append(.seek(room: room, place))
  }

  mutating func goToDate(_ text: String, _ effects: inout [Effect]) -> Bool {
    guard let room = timeline?.room else {
      complain("Choose a conversation first.")
      return false
    }
    guard let time = DateText(now: now, localTime: localTime).read(text) else {
      complain(
        "\(text.isEmpty ? "A date is missing" : "\(text) is no date"): write \(DateText.examples).")
      return false
    }
    go(to: .time(time), in: room, &effects)
    return true
  }

  mutating func goToFirstUnread(_ effects: inout [Effect]) {
    guard let room = timeline?.room, let conversation = open else { return }
    go(to: .unread(after: timeline?.unreadAfter ?? conversation.read), in: room, &effects)
  }

  mutating func goToMention(isOlder: Bool, _ effects: inout [Effect]) {
    guard let timeline else { return }
    let room = timeline.room
    let here: Int64?
    switch (timeline.selected, timeline.scroll) {
    case (let key?, _): here = timeline.message(key)?.seq
    case (nil, .at(let key, line: _)): here = timeline.message(key)?.seq.map { $0 + 1 }
    case (nil, .newest): here = timeline.isDetached ? timeline.lastSeq + 1 : nil
    }
    go(
      to: isOlder ? .previousMention(before: here ?? .max) : .nextMention(after: here ?? .max),
      in: room,
      &effects)
  }

  mutating func showSought(
    _ sought: Sought, _ place: Place, in room: String, _ effects: inout [Effect]
  ) {
    guard var seeking, seeking.room == room, seeking.place == place, timeline?.room == room
    else { return }
    switch sought {
    case .page(let seq, let entries, let isComplete, let isNewest):
      self.seeking = nil
      showPlace(around: seq, entries, isComplete: isComplete, isNewest: isNewest, &effects)
    case .nothing:
      self.seeking = nil
      complain(Self.failure(place), isError: false)
    case .older(let oldest):
      guard isLive, seeking.pagesLeft > 0 else {
        self.seeking = nil
        timeline?.isLoading = false
        let what = "The messages that are on this machine do not go back that far"
        complain(isLive ? "\(what) yet: again loads more." : "\(what).", isError: false)
        if case .previousMention = place { return }
        guard let oldest else { return }
        self.seeking = Seeking(room: room, place: .message(oldest))
        effects.append(.seek(room: room, .message(oldest)))
        return
      }
      seeking.pagesLeft -= 1
      self.seeking = seeking
      fetch(room, &effects)
    }
  }

  private static func failure(_ place: Place) -> String {
    switch place {
    case .message: "The message is not there any more."
    case .time: "There are no messages since then."
    case .unread: "Nothing is unread in this conversation."
    case .previousMention: "No older message mentions you."
    case .nextMention: "No newer message mentions you."
    }
  }

  /// Goes on after a page of older messages has arrived.
  mutating func seekOn(in room: String, _ effects: inout [Effect]) {
    guard let seeking, seeking.room == room else { return }
    effects.append(.seek(room: room, seeking.place))
  }

  /// The relay gives no more messages for now.
  mutating func endSeeking(_ effects: inout [Effect]) {
    guard seeking != nil else { return }
    seeking?.pagesLeft = 0
    if let seeking { effects.append(.seek(room: seeking.room, seeking.place)) }
  }

  // MARK: The messages around a place

  private mutating func showPlace(
    around seq: Int64, _ entries: [Entry], isComplete: Bool, isNewest: Bool,
    _ effects: inout [Effect]
  ) {
    guard var timeline else { return }
    self.timeline = nil
    timeline.messages = Timeline.joined(entries.map { message($0, in: timeline, &effects) })
    timeline.isDetached = !isNewest
    timeline.isComplete = isComplete
    timeline.isFresh = false
    if historyAsked != timeline.room { timeline.isLoading = false }
    timeline.newBelow = 0
    self.timeline = timeline
    if isNewest { showOutgoing(&effects) }
    guard let message = self.timeline?.messages.first(where: { $0.seq == seq }) else { return }
    show(message.key, &effects)
  }

  private mutating func showOutgoing(_ effects: inout [Effect]) {
    for line in outgoing where line.send.room == timeline?.room { show(line, &effects) }
  }

  /// Selects a message, and scrolls so that it is in the middle.
  private mutating func show(_ key: Message.Key, _ effects: inout [Effect]) {
    guard let index = timeline?.index(of: key) else { return }
    timeline?.selected = key
    pane = .messages
    timeline?.scroll = .at(key, line: 0)
    timeline?.hint.index = index
    _ = scroll(byLines: layout.messages.rows / 2)
    reveal(key)
    markRead(&effects)
  }

  /// Requests the messages after the last loaded one, if there are any.
  mutating func loadNewer(_ effects: inout [Effect]) {
    guard let timeline, timeline.isDetached, !timeline.isLoadingNewer,
      let last = timeline.messages.last
    else { return }
    self.timeline?.isLoadingNewer = true
    // The view stays where it is when they come.
    self.timeline?.scroll = .at(last.key, line: Self.lastLine)
    self.timeline?.hint.index = timeline.messages.count - 1
    effects.append(.loadNewer(room: timeline.room, after: timeline.lastSeq))
  }

  /// More lines than a message can have.
  private static let lastLine = 1_000_000

  mutating func showNewer(
    _ entries: [Entry], of room: String, after: Int64, isNewest: Bool,
    _ effects: inout [Effect]
  ) {
    guard var timeline, timeline.room == room else { return }
    timeline.isLoadingNewer = false
    guard timeline.isDetached, timeline.lastSeq == after else {
      self.timeline = timeline
      return
    }
    self.timeline = nil
    let known = timeline.messages
    timeline.messages = Timeline.joined(
      known + entries.map { message($0, in: timeline, &effects) })
    if isNewest {
      timeline.isDetached = false
      timeline.newBelow = 0
      if entries.isEmpty { timeline.scroll = .newest }
    }
    if timeline.messages.count > Self.detachedLimit {
      timeline.messages.removeFirst(timeline.messages.count - Self.detachedLimit)
      timeline.isComplete = false
    }
    self.timeline = timeline
    if isNewest { showOutgoing(&effects) }
    markRead(&effects)
  }
}
