import Client
import Wire

/// The relay's messages, and the state of the connection.
extension Chat {
  mutating func handleClient(_ event: ClientEvent, _ effects: inout [Effect]) {
    switch event {
    case .welcomed(let welcome): welcomed(welcome, &effects)
    case .joined(let joined): self.joined(joined, &effects)
    case .joinRefused(let room, let error):
      conversations[room]?.isJoined = false
      conversations[room]?.isJoinRefused = true
      if timeline?.room == room { timeline?.isLoading = false }
      complain(describe(error))
    case .left(let room, let departure):
      conversations[room]?.isJoined = false
      guard let departure, let title = conversations[room]?.title else { return }
      conversations[room]?.isMember = false
      conversations[room]?.membership = Membership()
      conversations[room]?.isJoinRefused = true
      isListStale = true
      complain(describe(departure, of: title))
    case .entry(let entry): addEntry(entry, &effects)
    case .acknowledged(let ack): acknowledged(ack, &effects)
    case .refused(let send, let error): refused(send, error, &effects)
    case .answered(let ref): answered(ref)
    case .message(let message): handleMessage(message, &effects)
    case .tokenWanted(let refused):
      guard let refused else { return }
      connectionLost(&effects)
      if canSignIn { return signedOut(refused) }
      connection = .waiting(until: now, reason: refused)
    case .disconnected(let error, let retryMilliseconds):
      connectionLost(&effects)
      connection = .waiting(until: now + Int64(retryMilliseconds), reason: "\(error)")
    case .ended(let error):
      connectionLost(&effects)
      connection = .ended("\(error)")
    }
  }

  private mutating func connectionLost(_ effects: inout [Effect]) {
    forgetRequests()
    times.nextPing = .max
    times.pings = []
    asked = []
    conditions[.notStored] = nil
    historyAsked = nil
    timeline?.isLoading = false
    takeNoOlder(&effects)
    times.nextPeople = .max
    for room in conversations.keys {
      conversations[room]?.typing = []
      conversations[room]?.isJoined = false
      conversations[room]?.isJoinRefused = false
    }
  }

  private mutating func welcomed(
    _ welcome: ServerMessage.Welcome, _ effects: inout [Effect]
  ) {
    user = welcome.user
    textLimitBytes = welcome.limits.textBytes
    fileLimitBytes = welcome.limits.fileBytes.flatMap { $0 > 0 ? Int64($0) : nil }
    requestsPerSecond = welcome.limits.requestsPerSecond
    connection = .live(roundTripMilliseconds: nil)
    conditions[.signedOut] = nil
    compareClocks(welcome)
    times.connected = now
    times.nextPing = now
    effects.append(.request(.rooms(.init())))
    effects.append(.request(.blocks))
    peopleCursor = nil
    peopleCount = 0
    peopleWaitMilliseconds = Self.peopleWaitMilliseconds.lowerBound
    directory = .loading
    peopleAsked = []
    peopleFailed = false
    askForPeople(&effects)
    if times.isAway { effects.append(.request(.presence(isAway: true))) }
    if let room = timeline?.room {
      timeline?.readBefore = conversations[room]?.read ?? 0
      enter(room, &effects)
    }
  }

  func describe(_ error: WireError) -> String {
    error.support.map { "\(error.message) [\($0)]" } ?? error.message
  }

  private mutating func joined(_ joined: ServerMessage.Joined, _ effects: inout [Effect]) {
    let room = joined.room
    guard var conversation = conversations[room] else { return }
    // The relay has skipped entries because there were too many: older messages are no longer
    // displayed.
    let hasGap = joined.after > conversation.latest
    conversation.isJoined = true
    conversation.isMember = true
    if let title = joined.about?.title { conversation.title = title }
    conversation.membership.begin(joined)
    let isOtherLog = joined.resume == .reset || joined.resume == .diverged
    if isOtherLog { conversation.forget(after: joined.resume == .reset ? 0 : joined.after) }
    let reads = conversation.read
    conversation.head = joined.head
    conversation.latest = min(max(conversation.latest, joined.after), joined.head)
    if joined.resume != .ok || conversation.latest < joined.after {
      conversation.latest = joined.after
    }
    // Entries that existed at the first join are not new; those that arrived during a disconnection
    // are.
    if !conversation.wasJoined { conversation.knownTo = max(conversation.knownTo, joined.head) }
    conversation.wasJoined = true
    conversation.read = max(conversation.read, joined.read)
    conversation.marks = [:]
    for member in joined.members ?? [] where member.user != user {
      conversation.marks[member.user] = .init(received: member.received, read: member.read)
    }
    conversations[room] = conversation
    if isOtherLog || conversation.read > reads { recount(room, &effects) }
    if conversation.read > joined.read {
      // Sends a mark that was set without a connection.
      effects.append(.mark(room, received: 0, read: conversation.read))
    }
    if timeline?.room == room {
      if isEmptyAtRelay(room) { timeline?.isComplete = true }
      if isOtherLog || hasGap || timeline?.messages.isEmpty == true {
        effects.append(.load(room: room, before: nil))
      }
      updateStates()
      markRead(&effects)
    }
    effects.append(.save(room))
    isListStale = true
    refind()
  }

  /// The relay ends typing after six seconds; this is the fallback if it cannot.
  private static let typingMilliseconds: Int64 = 6500

  private mutating func handleMessage(_ message: ServerMessage, _ effects: inout [Effect]) {
    switch message {
    case .rooms(let rows, let next):
      for row in rows { updateRoom(row, &effects) }
      // The search and the unread counts need the whole list, so all pages are fetched, each after
      // the previous one has arrived.
      if let next {
        let most = ClientMessage.RoomsRequest.limits.upperBound
        effects.append(.request(.rooms(.init(cursor: next, limit: most))))
      }
      isListStale = true
    case .blocks(let users): blocked = Set(users)
    case .activity(let activity): updateActivity(activity, &effects)
    case .people(let page): addPeople(page, &effects)
    case .presence(let presence):
      let room = directRoom(with: presence.user)
      conversations[room]?.presence = presence.presence
      if let lastSeen = presence.lastSeen { conversations[room]?.lastSeen = lastSeen }
    case .typing(let room, let user, let isOn):
      guard user != self.user else { return }
      conversations[room]?.typing.removeAll { $0.user == user }
      guard isOn, conversations[room] != nil else { return }
      conversations[room]?.typing.append(.init(user: user, until: now + Self.typingMilliseconds))
      times.nextTypingEnd = min(times.nextTypingEnd, now + Self.typingMilliseconds)
    case .receipt(let room, let marks): updateMarks(marks, in: room, &effects)
    case .pong: takePong()
    case .history(let page):
      recordAnswered(.history)
      let isForTimeline = historyAsked == page.room
      if isForTimeline { historyAsked = nil }
      // The driver has stored the page in the archive.
      if isForTimeline, let timeline, timeline.room == page.room {
        effects.append(.load(room: page.room, before: timeline.firstSeq))
      }
      takeOlder(of: page.room, &effects)
    case .error(let error): handleError(error, &effects)
    case .closing(let reason, _):
      complain("The relay is closing the connection: \(reason)", isError: false)
    case .welcome, .renewed, .ok, .joined, .left, .message, .ack, .subscribers, .reports:
      break
    }
  }

  private mutating func handleError(_ error: WireError, _ effects: inout [Effect]) {
    switch error.re {
    case .people: recordAnswered(.people)
    case .history: recordAnswered(.history)
    default: break
    }
    if requestRefused(error) { return }
    switch (error.re, error.code) {
    case (.people, .directoryLimited):
      // The relay may need a moment longer, and its clock may differ.
      directory = .limited(
        until: max(error.resetAt ?? now + 60_000, now + Self.directoryLeastMilliseconds))
    case (.people, _):
      // The list has room for the beginning only; the full text, with its id, is shown once per
      // connection.
      let reason = describe(error)
      if !peopleFailed { complain(reason) }
      peopleFailed = true
      directory = .failed(reason)
      directoryCode = error.code.rawValue
      times.nextPeople = now + 30_000
    case (.history, _):
      historyAsked = nil
      timeline?.isLoading = false
      takeNoOlder(&effects)
      complain(describe(error))
    case (_, .unavailable) where error.id != nil:
      // The line is sent again automatically.
      set(.notStored, describe(error))
      if let place = outgoing.firstIndex(where: { $0.send.id == error.id }) {
        outgoing[place].againAt = now + (error.retryAfterMilliseconds ?? 1000)
      }
    // What was left before.
    case (.leave, .notJoined): break
    // An older relay knows no blocks.
    case (.received, _), (.read, _), (.typing, _), (.blocks, _): break
    default: complain(describe(error))
    }
  }

  // MARK: Rooms and people

  func directRoom(with peer: String) -> String {
    user.map { $0 == peer ? "" : RoomName.direct($0, peer) } ?? ""
  }

  private mutating func updateRoom(_ row: ServerMessage.RoomSummary, _ effects: inout [Effect]) {
    var conversation =
      conversations[row.room] ?? Conversation(room: row.room, title: row.title, peer: row.peer)
    conversation.title = row.peer.map { names[$0] ?? row.title } ?? row.title
    conversation.peer = row.peer
    if let peer = row.peer, row.title != peer { names[peer] = row.title }
    conversation.presence = row.presence ?? conversation.presence
    if row.peer != nil { conversation.hasPicture = row.avatar != nil }
    conversation.lastSeen = row.lastSeen ?? conversation.lastSeen
    conversation.isOffered = row.listed
    conversation.isRequest = row.isRequest
    // Listed rooms are also shown to users who are not members.
    let isMember = !row.listed || row.read > 0 || conversation.isMember
    if !conversation.isJoined || conversation.latest == 0 {
      conversation.head = max(conversation.head, row.head)
      conversation.read = max(conversation.read, row.read)
      conversation.unread = isMember && conversation.read < row.head ? row.unread : 0
      conversation.countedTo = row.head
      if conversation.unread > 0, conversation.read > row.read {
        // These were read here without a connection, so the relay does not know it yet; entries
        // that have not arrived are counted when they do.
        conversation.countedTo = min(row.head, conversation.latest)
        effects.append(.count(room: row.room, after: conversation.read))
      }
      if !conversation.wasJoined { conversation.knownTo = max(conversation.knownTo, row.head) }
      if let last = row.last { conversation.last = preview(of: last) }
    }
    conversation.isMember = isMember
    conversations[row.room] = conversation
    if let timeline, timeline.room == row.room, timeline.unreadAfter == nil, isMember,
      row.unread > 0
    {
      // These arrived during the disconnection.
      let read = max(row.read, timeline.readBefore)
      if read < row.head { self.timeline?.unreadAfter = read }
    }
    if isMember, !conversation.isJoined, !conversation.isJoinRefused,
      row.room != timeline?.room
    {
      effects.append(.join(row.room, head: row.head))
    }
    effects.append(.save(row.room))
  }

  private mutating func updateActivity(
    _ activity: ServerMessage.Activity, _ effects: inout [Effect]
  ) {
    let room = activity.room
    // This may be the first message of a new direct room.
    addConversation(room)
    guard conversations[room]?.isJoined == false else { return }
    let before = conversations[room]?.unread ?? 0
    conversations[room]?.head = activity.head
    conversations[room]?.unread = activity.unread
    conversations[room]?.countedTo = activity.head
    conversations[room]?.isMember = true
    conversations[room]?.isRequest = activity.isRequest
    if let last = activity.last, last.kind.isContent {
      let preview = preview(of: last)
      conversations[room]?.last = preview
      if activity.unread > before, last.from != user { announce(last, in: room, &effects) }
    }
    conversations[room]?.knownTo = activity.head
    isListStale = true
    // From now on the relay sends the room's entries.
    if conversations[room]?.isJoinRefused == false {
      effects.append(.join(room, head: activity.head))
    }
    effects.append(.save(room))
  }

  /// Pages are requested until this many users are known; a filter queries for others.
  private static let peopleLimit = 2000
  /// The number of people that one request asks for.
  private static let peoplePerPage = 200
  /// The wait before the relay is asked again for a list of one page: nothing tells of people who
  /// have come since, or of a directory that the relay has read since. It doubles up to the upper
  /// bound.
  private static let peopleWaitMilliseconds: ClosedRange<Int64> = 2_000...60_000

  /// The minimum wait before a rate-limited directory query is repeated.
  private static let directoryLeastMilliseconds: Int64 = 3000

  mutating func askForPeople(_ effects: inout [Effect]) {
    guard isLive else { return }
    peopleAsked.append(.list)
    if peopleCursor == nil { peopleCount = 0 }
    effects.append(
      .request(.people(.init(cursor: peopleCursor, limit: Self.peoplePerPage))))
  }

  private mutating func addPeople(_ page: ServerMessage.PeoplePage, _ effects: inout [Effect]) {
    var news: [String: String] = [:]
    for person in page.people {
      if names[person.user] != person.name { news[person.user] = person.name }
      // There is no direct room with oneself.
      guard let room = person.room else { continue }
      var conversation =
        conversations[room] ?? Conversation(room: room, title: person.name, peer: person.user)
      conversation.title = person.name
      conversation.peer = person.user
      conversation.isBot = person.isBot
      conversation.hasPicture = person.avatar != nil
      conversation.presence = person.presence
      conversation.lastSeen = person.lastSeen ?? conversation.lastSeen
      conversation.order = min(conversation.order, conversations.count)
      conversations[room] = conversation
    }
    names.merge(news) { $1 }
    if !news.isEmpty { effects.append(.saveNames(news)) }
    isListStale = true
    let question = peopleAsked.isEmpty ? .list : peopleAsked.removeFirst()
    updateSwitcher()
    if question == .query { return recordAnswered(.people) }
    if peopleCursor == nil, page.next == nil {
      times.nextPeople = now + peopleWaitMilliseconds
      peopleWaitMilliseconds = min(
        2 * peopleWaitMilliseconds, Self.peopleWaitMilliseconds.upperBound)
      // Either the relay is still reading the directory for the first time, or there is none; the
      // answer tells neither which nor when the reading is done.
      if page.asOf == 0, page.people.allSatisfy({ $0.isBot || $0.user == user }),
        peopleWaitMilliseconds < Self.peopleWaitMilliseconds.upperBound
      {
        return
      }
    }
    peopleCount += page.people.count
    if case .limited = directory { return }
    if let next = page.next, peopleCount < Self.peopleLimit, !page.people.isEmpty {
      peopleCursor = next
      directory = .partial
      times.nextPeople = now + 100
    } else {
      directory = page.next == nil ? .complete : .partial
      peopleCursor = nil
    }
  }
}
