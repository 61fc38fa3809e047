import Client
import Wire

/// The list of conversations, and which of them is open.
extension Chat {
  mutating func orderList() {
    isListStale = false
    listed = matches(isFiltering ? filter.text : "")
    placeHeadings()
  }

  /// Returns the conversations that match a query, in the order of `Offer`, and of the same kind the
  /// best first; for an empty query all of them, by section, newest first.
  ///
  /// - Parameter newPerson: Whether to offer a person without a conversation: where no
  ///   known person's name begins so, or "@user" asks for it.
  func matches(_ query: String, newPerson: Bool = false) -> [String] {
    // "@user" and "#room" restrict the search to users and rooms.
    let sign = query.first.flatMap { $0 == "@" || $0 == "#" ? $0 : nil }
    let text = sign == nil ? query : String(query.dropFirst())
    let fuzzy = Fuzzy(text)
    var rows:
      [(
        room: String, offer: Offer, score: Int, section: Section, at: Int64, order: Int,
        title: String
      )] = []
    rows.reserveCapacity(conversations.count)
    for conversation in conversations.values {
      if let sign, (sign == "@") != (conversation.peer != nil) { continue }
      let name = conversation.peer ?? conversation.room
      let score = query.isEmpty ? 0 : fuzzy.score(conversation.title, name)
      guard let score else { continue }
      rows.append(
        (
          conversation.room, Offer(conversation, for: text), score,
          query.isEmpty ? section(of: conversation) : .conversations,
          conversation.last?.at ?? 0, conversation.order, conversation.title
        ))
    }
    let isKnown = rows.contains { $0.offer == .namedPerson || $0.offer == .begunPerson }
    if newPerson, sign == "@" || (sign == nil && !isKnown),
      let room = Self.room(named: "@\(text)", user: user),
      conversations[room] == nil
    {
      rows.append((room, .newPerson, 0, .people, 0, 0, text))
    }
    rows.sort {
      if $0.offer != $1.offer { return $0.offer < $1.offer }
      if $0.score != $1.score { return $0.score > $1.score }
      if $0.section != $1.section { return $0.section < $1.section }
      if $0.at != $1.at { return $0.at > $1.at }
      if $0.order != $1.order { return $0.order < $1.order }
      return ($0.title, $0.room) < ($1.title, $1.room)
    }
    return rows.map(\.room)
  }

  // MARK: Opening

  /// Opens a conversation at the first unread message, or at the newest.
  public mutating func open(_ room: String, _ effects: inout [Effect]) {
    addConversation(room)
    listSelection = room
    isListSelectionChosen = true
    if conversations[room]?.isMarkedUnread == true {
      conversations[room]?.isMarkedUnread = false
      effects.append(.save(room))
    }
    guard timeline?.room != room, let conversation = conversations[room] else {
      pane = .composer
      return
    }
    // What has just begun to be wrong is still to be read.
    if let text = notice?.text, !conditions.values.contains(text) { notice = nil }
    stopTyping(&effects)
    saveDraft(&effects)
    endRecall()
    endComposition()
    search = nil
    seeking = nil
    historyAsked = nil
    composer = TextEditor(conversation.draft)
    overlay = nil
    pane = .composer
    var timeline = Timeline(room: room)
    if conversation.unread > 0 { timeline.unreadAfter = conversation.read }
    self.timeline = timeline
    effects.append(.load(room: room, before: nil))
    enter(room, &effects)
  }

  /// Adds a conversation. Until its title is known, it is the room's name or the other user's.
  mutating func addConversation(_ room: String) {
    guard conversations[room] == nil else { return }
    let peer = RoomName.peer(in: room, of: user)
    conversations[room] = Conversation(
      room: room, title: peer.map(name(of:)) ?? room, peer: peer)
    if let stored = drafts[room] { merge(stored, into: room) }
    isListStale = true
  }

  /// Subscribes to the open conversation.
  mutating func enter(_ room: String, _ effects: inout [Effect]) {
    guard isLive, conversations[room]?.isJoined == false else { return }
    let isEmpty = timeline?.messages.isEmpty == true
    timeline?.isLoading = isEmpty
    effects.append(.join(room, head: nil))
  }

  /// Scrolls to the newest message, and loads it if necessary.
  mutating func showNewest(_ effects: inout [Effect]) {
    guard let room = timeline?.room else { return }
    timeline?.scroll = .newest
    timeline?.newBelow = 0
    if timeline?.isDetached == true { effects.append(.load(room: room, before: nil)) }
    markRead(&effects)
  }

  /// Opens the next or previous conversation of the list.
  mutating func step(_ offset: Int, unreadOnly: Bool, _ effects: inout [Effect]) {
    if isListStale { orderList() }
    guard !listed.isEmpty else { return }
    let here = timeline.flatMap { listed.firstIndex(of: $0.room) }
    var place = here ?? (offset > 0 ? -1 : listed.count)
    for _ in listed.indices {
      place += offset
      if unreadOnly { place = (place + listed.count) % listed.count }
      guard listed.indices.contains(place) else { return }
      if unreadOnly {
        guard let conversation = conversations[listed[place]],
          conversation.wantedUnread > 0 || conversation.isMarkedUnread
        else { continue }
      }
      return openByCommand(listed[place], &effects)
    }
    if unreadOnly { complain("No unread messages.", isError: false) }
  }

  mutating func toggleMute(_ effects: inout [Effect]) {
    guard let room = meantRoom, let conversation = conversations[room] else { return }
    changeNotifications(of: room, to: conversation.nextNotifications, &effects)
  }

  // MARK: The filter

  mutating func filterChanged() {
    isListStale = true
    orderList()
    listSelection = listed.first
    askForMatches()
  }

  /// The text of the filter or the switcher.
  var peopleQuery: String? {
    let text =
      if case .switcher(let switcher) = overlay { switcher.query.text } else { filter.text }
    return text.isEmpty ? nil : text
  }

  /// Schedules a query of the people: there may be more than were loaded.
  mutating func askForMatches() {
    if directory == .partial || directory == .complete, peopleQuery != nil {
      times.nextQuery = now + 200
    }
  }

  mutating func endFilter() {
    isFiltering = false
    filter = LineEditor()
    isListStale = true
  }
}
