import Wire

/// A page of people while it is made.
struct PeopleAnswer {
  /// Each with the place behind it. The list may be another one before the page is sent: nothing is
  /// looked up in it by place any more.
  var people: [(person: Person, isBot: Bool, place: Int)] = []
  /// Where those who are not on it begin; `nil` at the end.
  var next: PeopleCursor?
  /// The list that it is made from, as in `PeopleList`.
  var source: String
  var asOf: Int64
}

/// `people`: the directory as clients see it, a page at a time.
extension Shard {
  /// So many names are looked at for one page: what finds few has short pages, and a `next`.
  private static let scanLimit = 20_000

  // MARK: - The directory

  /// The directory has something new to say. Who has asked for people is told once when trouble begins.
  public mutating func update(people update: DirectoryUpdate, now: Moment) {
    let before = directory.problem
    directory = update
    guard let problem = update.problem, before.map(\.code) != problem.code else { return }
    for index in sessions.slots where sessions[index].extras?.asksForPeople == true {
      reply(.error(problem.error), to: index)
    }
  }

  /// Somebody on the list, who may be a bot; `nil` behind its end.
  private func person(_ place: Int) -> (person: Person, isBot: Bool)? {
    let people = directory.people.people
    if place < people.count { return (people[place], bots.index(of: people[place].user) != nil) }
    let place = place - people.count
    return place < bots.people.count ? (bots.people[place], true) : nil
  }

  /// What a user is called, and their picture.
  func profile(of user: String) -> Person? {
    if let place = directory.people.index(of: user) { return directory.people.people[place] }
    return bots.index(of: user).map { bots.people[$0] }
  }

  /// Where the directory says that a user's picture is.
  public func avatarURL(of user: String) -> String? { profile(of: user)?.avatar }

  // MARK: - A page

  mutating func people(_ request: ClientMessage.PeopleRequest, _ index: Slot<Session>) {
    let people = directory.people
    var place = 0
    if let text = request.cursor {
      guard let cursor = PeopleCursor(text) else {
        reply(.error(Self.badCursor(re: "people")), to: index)
        return
      }
      place = self.place(after: cursor)
    }
    let query = Array(request.query.lowercased().utf8)
    let inDirectory = people.people.count
    let count = inDirectory + bots.people.count
    var answer = PeopleAnswer(source: people.source, asOf: people.asOf)
    let end = min(count, place + Self.scanLimit)
    while place < end, answer.people.count < request.limit, let (person, isBot) = person(place) {
      let matches =
        place < inDirectory
        ? people.matches(place, query)
        // A bot that the directory knows as well stands there.
        : bots.matches(place - inDirectory, query) && people.index(of: person.user) == nil
      place += 1
      if matches { answer.people.append((person, isBot, place)) }
    }
    if place < count, place > 0, let (last, _) = person(place - 1) {
      answer.next = PeopleCursor(user: last.user, place: place)
    }
    let extras = extras(of: index)
    extras.asksForPeople = true
    extras.people = answer
    sessions[index].awaitsReply = true
    reads.append(
      .lastSeen(
        id(of: index), answer.people.map(\.person.user).filter { presence(of: $0) == .offline },
        for: .people))
  }

  /// The cursor names the last user of a page; if the list no longer has that one, the place counts.
  private func place(after cursor: PeopleCursor) -> Int {
    if let place = directory.people.index(of: cursor.user) { return place + 1 }
    if let place = bots.index(of: cursor.user) { return directory.people.people.count + place + 1 }
    return cursor.place
  }

  static func badCursor(re: String) -> WireError {
    WireError(
      .badField, "\"cursor\" must be the \"next\" of an earlier answer.", re: re, field: "cursor")
  }

  private mutating func answerPeople(_ seen: [String: Int64], _ index: Slot<Session>) {
    guard let extras = sessions[index].extras, let answer = extras.people else { return }
    extras.people = nil
    sessions[index].awaitsReply = false
    let user = sessions[index].user
    var page = ServerMessage.PeoplePage(
      people: [], next: answer.next?.text, source: answer.source, asOf: answer.asOf)
    var bytes = 0
    var last: PeopleCursor?
    for (person, isBot, place) in answer.people {
      let row = ServerMessage.PersonRow(
        user: person.user, name: person.name, avatar: person.avatar,
        presence: presence(of: person.user),
        lastSeen: presence(of: person.user) == .offline ? seen[person.user] : nil, isBot: isBot,
        room: person.user == user ? nil : RoomName.direct(person.user, user))
      scratch.removeAll(keepingCapacity: true)
      row.append(to: &scratch)
      bytes += scratch.count + 1
      if bytes > Self.replyBytes, let last {
        page.next = last.text
        break
      }
      page.people.append(row)
      last = PeopleCursor(user: person.user, place: place)
    }
    for row in page.people { watch(row.user, lastSeen: row.lastSeen, index) }
    reply(.people(page), to: index)
    if let problem = directory.problem { reply(.error(problem.error), to: index) }
  }

  // MARK: - Those one talks to

  /// In a direct room one is told whether the other is there.
  mutating func watchPeer(inRoom room: String, _ index: Slot<Session>) {
    guard let peer = peer(in: room, of: index), !isWatching(peer, index) else { return }
    watch(peer, lastSeen: nil, index)
    guard presence(of: peer) == .offline else {
      replyPresence(of: peer, nil, index)
      return
    }
    reads.append(.lastSeen(id(of: index), [peer], for: .peer))
  }

  func peer(in room: String, of index: Slot<Session>) -> String? {
    guard let (a, b) = RoomName.peers(of: room) else { return nil }
    return a == sessions[index].user ? b : a
  }

  private mutating func replyPresence(of user: String, _ lastSeen: Int64?, _ index: Slot<Session>) {
    reply(
      .presence(
        ServerMessage.UserPresence(
          user: user, presence: presence(of: user), lastSeen: lastSeen)),
      to: index)
  }

  /// It is known when those were there who are not.
  mutating func apply(
    _ seen: LogAnswer.Seen, to index: Slot<Session>
  ) {
    switch seen.purpose {
    case .people: answerPeople(seen.at, index)
    case .rooms: answerRoomsSeen(seen.at, index)
    case .peer:
      for user in seen.users {
        if let at = seen.at[user] { watch(user, lastSeen: at, index) }
        replyPresence(of: user, seen.at[user], index)
      }
    }
  }
}

extension DirectoryProblem {
  fileprivate var code: ErrorCode {
    switch self {
    case .limited: .directoryLimited
    case .failed: .directoryFailed
    }
  }

  fileprivate var error: WireError {
    switch self {
    case .limited(let until):
      var error = WireError(
        code, "The directory answers no more for now; the list is the last that it gave.",
        re: "people")
      error.resetAt = until
      return error
    case .failed(let text, let support):
      var error = WireError(code, text, re: "people")
      error.support = support
      return error
    }
  }
}
