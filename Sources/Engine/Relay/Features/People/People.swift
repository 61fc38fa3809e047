import Wire

/// `people`: the directory, the users who have connected, and the configured bots as clients see
/// them, a page at a time, with the presence of each user. A session that has requested a page is
/// told when the directory fails.
final class People: Feature {
  private var roster: Roster
  /// Whether this loop adds the users of the store, and those who connect to other relays.
  private let recordsAll: Bool
  /// When the next page of the store's users is read, in milliseconds of the monotonic clock; `nil`
  /// if none is wanted or one is being read.
  private var loadAt: Int64?
  /// The last user that the store has returned.
  private var loadedThrough = ""
  private let presence: PresenceNews
  /// The sessions that have requested people, each with the page that is being made.
  private var askers: [SessionID: PeopleAnswer?] = [:]

  init(bots: [(user: String, name: String)], seen: SeenPeople?, presence: PresenceNews) {
    roster = Roster(bots: bots, seen: seen)
    self.presence = presence
    recordsAll = seen?.beginLoading() ?? false
    if recordsAll { loadAt = 0 }
  }

  // MARK: - The directory

  var directory: DirectoryUpdate { roster.directory }

  func profile(of user: String) -> Person? { roster.profile(of: user) }

  /// Whether a user is in the directory, or a bot: not whether they have connected.
  func isKnown(_ user: String) -> Bool {
    roster.isBot(user) || roster.directory.people.index(of: user) != nil
  }

  /// Takes a publication of the directory. Clients that have requested people are told once when a
  /// problem begins.
  func update(_ update: DirectoryUpdate, in audience: inout some Audience & ~Copyable) {
    let before = roster.directory.problem
    roster.directory = update
    guard let problem = update.problem, before.map(\.code) != problem.code else { return }
    for id in askers.keys.sorted(by: { $0.slot.place < $1.slot.place }) {
      audience.reply(.error(problem.error), ref: nil, to: id.slot)
    }
  }

  // MARK: - The users who have connected

  /// The number of users that are read from the store at once.
  private static let usersPerRead = 1000
  /// How long a store that cannot be read is left alone; the log reports it.
  private static let loadAgainMilliseconds: Int64 = 1000

  /// Lists a user who has connected.
  /// - Parameter name: the display name, as in `SeenPeople.record`.
  func record(_ user: String, name: String?) {
    if !roster.isBot(user) { roster.seen?.record(user, name: name) }
  }

  /// Lists a user whose presence has changed in any session of any relay: one loop does for all.
  func apply(_ change: Commit.PresenceChange) {
    if recordsAll, change.presence != .offline { record(change.user, name: nil) }
  }

  var nextDeadline: Int64? { loadAt }

  func tick(in audience: inout some ListsAudience & ~Copyable, _ now: Moment) {
    guard let at = loadAt, at <= now.monotonic else { return }
    loadAt = nil
    audience.read(.users(after: loadedThrough, limit: Self.usersPerRead))
  }

  /// Takes a page of the users who were connected before this relay started.
  func load(_ page: LogAnswer.Users, _ now: Moment) {
    switch page {
    case .failed: loadAt = now.monotonic + Self.loadAgainMilliseconds
    case .page(let users):
      for user in users where UserName.isValid(user) { record(user, name: nil) }
      guard users.count == Self.usersPerRead, let last = users.last, roster.seen?.isFull == false
      else { return }
      loadedThrough = last
      loadAt = now.monotonic
    }
  }

  // MARK: - A page

  /// Starts to answer a request: the times at which offline users were last online are read first.
  func receive(
    _ request: ClientMessage.PeopleRequest, ref: String?, from session: Slot<Session>,
    in audience: inout some Audience & ~Copyable
  ) {
    let cursor = request.cursor.flatMap { PeopleCursor($0) }
    if request.cursor != nil, cursor == nil {
      audience.reply(.badCursor(re: .people), ref: ref, to: session)
      return
    }
    let answer = roster.page(request.query, after: cursor, limit: request.limit)
    let id = audience.id(of: session)
    askers.updateValue(answer, forKey: id)
    audience.awaitReply(ref: ref, session)
    var offline: [String] = []
    for (person, _, _) in answer.people
    where audience.presence(of: person.user, to: session) == .offline {
      offline.append(person.user)
    }
    audience.read(.lastSeen(id, offline, for: .people))
  }

  /// Takes the times at which offline users were last online, which complete the page.
  func answer(
    _ seen: [String: Int64], to session: Slot<Session>, in audience: inout some Audience & ~Copyable
  ) {
    let id = audience.id(of: session)
    guard let answer = askers[id] ?? nil else { return }
    askers.updateValue(nil, forKey: id)
    let user = audience.user(of: session)
    var page = ServerMessage.PeoplePage(
      people: [], next: answer.next?.text, source: answer.source, asOf: answer.asOf)
    var bytes = 0
    var last: PeopleCursor?
    for (person, isBot, place) in answer.people {
      let presence = audience.presence(of: person.user, to: session)
      let lastSeen = audience.lastSeen(seen[person.user], of: person.user, to: session)
      let room = RoomName.direct(person.user, user)
      let row = ServerMessage.PersonRow(
        user: person.user, name: person.name, avatar: person.avatar, presence: presence,
        lastSeen: presence == .offline ? lastSeen : nil, isBot: isBot,
        room: person.user == user || !audience.rightsAllowReading(room, session) ? nil : room)
      bytes += audience.length { row.append(to: &$0) } + 1
      if bytes > Shard.replyBytes, let last {
        page.next = last.text
        break
      }
      page.people.append(row)
      last = PeopleCursor(user: person.user, place: place)
    }
    for row in page.people {
      presence.watch(row.user, lastSeen: row.lastSeen, session, in: audience)
    }
    let ref = audience.endReply(to: session)
    audience.reply(.people(page), ref: ref, to: session)
    if let problem = roster.directory.problem {
      audience.reply(.error(problem.error), ref: ref, to: session)
    }
  }

  func end(_ session: Slot<Session>, in audience: inout some Audience & ~Copyable) {
    askers[audience.id(of: session)] = nil
  }

  var isLoose: Bool { askers.isLoose }
  func shrink() { askers.shrinkIfLoose() }
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
        re: .people)
      error.resetAt = until
      return error
    case .failed(let text, let support):
      var error = WireError(code, text, re: .people)
      error.support = support
      return error
    }
  }
}
