import Wire

/// A page of people while it is made.
struct PeopleAnswer {
  var people: [(person: Person, isBot: Bool)] = []
  /// Where those who are not on it begin; `nil` at the end.
  var next: Int?
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
    for index in sessions.indices
    where sessions[index].isOpen && sessions[index].extras?.asksForPeople == true {
      reply(.error(problem.error), to: index)
    }
  }

  /// Somebody on the list, who may be a bot.
  private func person(_ place: Int) -> (person: Person, isBot: Bool) {
    let people = directory.people.people
    return place < people.count
      ? (people[place], bots.index(of: people[place].user) != nil)
      : (bots.people[place - people.count], true)
  }

  /// What a user is called, and their picture.
  func profile(of user: String) -> Person? {
    if let place = directory.people.index(of: user) { return directory.people.people[place] }
    return bots.index(of: user).map { bots.people[$0] }
  }

  /// Where the directory says that a user's picture is.
  public func avatarURL(of user: String) -> String? { profile(of: user)?.avatar }

  // MARK: - A page

  mutating func people(_ request: ClientMessage.PeopleRequest, _ index: Int) {
    let count = directory.people.people.count + bots.people.count
    let query = Array(request.query.lowercased().utf8)
    let inDirectory = directory.people.people.count
    var answer = PeopleAnswer()
    var place = request.cursor.map(place(behind:)) ?? 0
    let end = min(count, place + Self.scanLimit)
    while place < end, answer.people.count < request.limit {
      if place < inDirectory {
        if directory.people.matches(place, query) { answer.people.append(person(place)) }
      } else if bots.matches(place - inDirectory, query) {
        // A bot that the directory knows as well stands there.
        let bot = person(place)
        if directory.people.index(of: bot.person.user) == nil { answer.people.append(bot) }
      }
      place += 1
    }
    answer.next = place < count ? place : nil
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
  private func place(behind cursor: String) -> Int {
    let parts = cursor.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
    let user = String(parts[0])
    if let place = directory.people.index(of: user) { return place + 1 }
    if let place = bots.index(of: user) { return directory.people.people.count + place + 1 }
    return max(0, parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
  }

  private func cursor(before place: Int) -> String {
    "\(person(place - 1).person.user)@\(place)"
  }

  private mutating func answerPeople(_ seen: [String: Int64], _ index: Int) {
    guard let extras = sessions[index].extras, let answer = extras.people else { return }
    extras.people = nil
    sessions[index].awaitsReply = false
    let user = sessions[index].user
    var page = ServerMessage.PeoplePage(
      people: [], next: answer.next.map(cursor(before:)), source: directory.people.source,
      asOf: directory.people.asOf)
    var bytes = 0
    for (person, isBot) in answer.people {
      let row = ServerMessage.PersonRow(
        user: person.user, name: person.name, avatar: person.avatar,
        presence: presence(of: person.user),
        lastSeen: presence(of: person.user) == .offline ? seen[person.user] : nil, isBot: isBot,
        room: person.user == user ? nil : RoomName.direct(person.user, user))
      scratch.removeAll(keepingCapacity: true)
      row.append(to: &scratch)
      bytes += scratch.count + 1
      if bytes > Self.replyBytes, let last = page.people.last {
        page.next = last.user
        break
      }
      page.people.append(row)
    }
    for row in page.people { watch(row.user, lastSeen: row.lastSeen, index) }
    reply(.people(page), to: index)
    if let problem = directory.problem { reply(.error(problem.error), to: index) }
  }

  // MARK: - Those one talks to

  /// In a direct room one is told whether the other is there.
  mutating func watchPeer(inRoom room: String, _ index: Int) {
    guard let peer = peer(in: room, of: index), !isWatching(peer, index) else { return }
    watch(peer, lastSeen: nil, index)
    guard presence(of: peer) == .offline else {
      replyPresence(of: peer, nil, index)
      return
    }
    reads.append(.lastSeen(id(of: index), [peer], for: .peer))
  }

  func peer(in room: String, of index: Int) -> String? {
    guard let (a, b) = RoomName.peers(of: room) else { return nil }
    return a == sessions[index].user ? b : a
  }

  private mutating func replyPresence(of user: String, _ lastSeen: Int64?, _ index: Int) {
    reply(
      .presence(
        ServerMessage.UserPresence(
          user: user, presence: presence(of: user), lastSeen: lastSeen)),
      to: index)
  }

  /// It is known when those were there who are not.
  mutating func apply(
    _ seen: LogAnswer.Seen, to index: Int
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
