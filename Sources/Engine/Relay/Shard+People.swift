import Wire

/// `people`: the directory as clients see it, a page at a time.
extension Shard {
  // MARK: - The directory

  /// Takes a publication of the directory. Clients that have requested people are told once when a
  /// problem begins.
  public mutating func update(people update: DirectoryUpdate, now: Moment) {
    let before = roster.directory.problem
    roster.directory = update
    guard let problem = update.problem, before.map(\.code) != problem.code else { return }
    for session in sessions.slots where sessions[session].extras?.asksForPeople == true {
      reply(.error(problem.error), to: session)
    }
  }

  // MARK: - A page

  mutating func people(
    _ request: ClientMessage.PeopleRequest, ref: String?, _ session: Slot<Session>
  ) {
    let cursor = request.cursor.flatMap { PeopleCursor($0) }
    if request.cursor != nil, cursor == nil {
      reply(.badCursor(re: "people"), ref: ref, to: session)
      return
    }
    let answer = roster.page(request.query, after: cursor, limit: request.limit)
    let extras = sessions.extras(of: session)
    extras.asksForPeople = true
    extras.people = answer
    awaitReply(ref: ref, session)
    let offline = answer.people.map(\.person.user).filter { presence(of: $0) == .offline }
    reads.append(.lastSeen(sessions.id(of: session), offline, for: .people))
  }

  private mutating func answerPeople(_ seen: [String: Int64], _ session: Slot<Session>) {
    guard let extras = sessions[session].extras, let answer = extras.people else { return }
    extras.people = nil
    sessions[session].awaitsReply = false
    let user = sessions[session].user
    var page = ServerMessage.PeoplePage(
      people: [], next: answer.next?.text, source: answer.source, asOf: answer.asOf)
    var bytes = 0
    var last: PeopleCursor?
    for (person, isBot, place) in answer.people {
      let presence = presence(of: person.user)
      let room = RoomName.direct(person.user, user)
      let row = ServerMessage.PersonRow(
        user: person.user, name: person.name, avatar: person.avatar, presence: presence,
        lastSeen: presence == .offline ? seen[person.user] : nil, isBot: isBot,
        room: person.user == user || !rightsAllowReading(room, session) ? nil : room)
      bytes += encoder.length { row.append(to: &$0) } + 1
      if bytes > Self.replyBytes, let last {
        page.next = last.text
        break
      }
      page.people.append(row)
      last = PeopleCursor(user: person.user, place: place)
    }
    for row in page.people { watch(row.user, lastSeen: row.lastSeen, session) }
    let ref = takeReplyRef(session)
    reply(.people(page), ref: ref, to: session)
    if let problem = roster.directory.problem { reply(problem.error, ref: ref, to: session) }
  }

  // MARK: - Peers

  /// Makes a session that joined a direct room receive the presence of the other user.
  mutating func watchPeer(inRoom room: String, _ session: Slot<Session>) {
    guard let peer = peer(in: room, of: sessions[session].user), !isWatching(peer, session)
    else { return }
    watch(peer, lastSeen: nil, session)
    guard presence(of: peer) == .offline else {
      replyPresence(of: peer, nil, session)
      return
    }
    reads.append(.lastSeen(sessions.id(of: session), [peer], for: .peer))
  }

  /// Returns the other user of a direct room.
  func peer(in room: String, of user: String) -> String? {
    guard let (a, b) = RoomName.peers(of: room) else { return nil }
    return a == user ? b : a
  }

  private mutating func replyPresence(
    of user: String, _ lastSeen: Int64?, _ session: Slot<Session>
  ) {
    reply(
      .presence(
        ServerMessage.UserPresence(
          user: user, presence: presence(of: user), lastSeen: lastSeen)),
      to: session)
  }

  /// Takes the times at which offline users were last online.
  mutating func answerSeen(_ seen: LogAnswer.Seen, to session: Slot<Session>) {
    switch seen.purpose {
    case .people: answerPeople(seen.at, session)
    case .rooms: answerRoomsSeen(seen.at, session)
    case .peer:
      for user in seen.users {
        if let at = seen.at[user] { watch(user, lastSeen: at, session) }
        replyPresence(of: user, seen.at[user], session)
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
        code, "The directory has reached its rate limit; the list is the last that it returned.",
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
