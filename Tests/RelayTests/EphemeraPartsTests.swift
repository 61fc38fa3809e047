import Testing
import Wire

@testable import Relay

@Suite struct `Throttled messages` {
  private var throttle = Throttle<String, Int>(milliseconds: 100)
  private let interval: Int64 = 100

  private mutating func due(at now: Int64) -> [Int] {
    var due: [Int] = []
    while let next = throttle.takeDue(now: now) { due.append(next.value) }
    return due
  }

  @Test mutating func `go out immediately, then the latest of each interval`() {
    let admitted = [1, 2, 3].map { throttle.admit($0, for: "a", now: 0) }
    #expect(admitted == [true, false, false])
    let dues = [interval - 1, interval, interval].map { due(at: $0) }
    #expect(dues == [[], [3], []])
    let waits = throttle.admit(4, for: "a", now: interval + 1)
    #expect(!waits)
    let later = [2 * interval, 3 * interval].map { due(at: $0) }
    #expect(later == [[4], []])
    #expect(throttle.nextDeadline == nil)
    let again = throttle.admit(5, for: "a", now: 3 * interval)
    #expect(again)
  }

  @Test mutating func `do not go out if they are canceled`() {
    _ = throttle.admit(1, for: "a", now: 0)
    _ = throttle.admit(2, for: "a", now: 0)
    throttle.cancel("a")
    let due = due(at: interval)
    #expect(due.isEmpty)
  }

  @Test mutating func `of one key do not delay those of another`() {
    let admitted = ["a", "b"].map { throttle.admit(1, for: $0, now: 0) }
    #expect(admitted == [true, true])
  }
}

@Suite struct `Users who type` {
  private let key = EphemeralKey(.typing, nil, "ada")
  private var typers = Typers()

  @Test mutating func `need one timer, however often they repeat it`() {
    for now: Int64 in [0, 10] { typers.start(key, now: now) }
    #expect(typers.timerCount == 1)
    let expired = typers.takeExpired(now: Typers.milliseconds)
    #expect(expired == nil)
    #expect(typers.nextDeadline == Typers.milliseconds + 10)
  }

  @Test mutating func `have stopped after a while`() {
    typers.start(key, now: 0)
    let expired = typers.takeExpired(now: Typers.milliseconds)
    #expect(expired == key)
    #expect(!typers.isTyping(key))
    #expect(typers.isEmpty)
  }

  @Test mutating func `stop once`() {
    typers.start(key, now: 0)
    let stops = [typers.stop(key), typers.stop(key)]
    #expect(stops == [true, false])
    let expired = typers.takeExpired(now: Typers.milliseconds)
    #expect(expired == nil)
    #expect(typers.isEmpty)
  }
}

/// A feature needs no shard: this is all that it sees.
@Suite struct `Typing, without a shard` {
  private struct Room: Audience {
    let handle = Handle<Relay.Room>(slot: Slot(0), generation: 1)
    var isSubscribed = true
    var told: [ServerMessage] = []
    var errors: [ErrorCode] = []
    var submitted: [LogRequest] = []
    private var encoded: ServerMessage?

    func room(named name: String) -> Handle<Relay.Room>? { name == "r" ? handle : nil }
    func name(of room: Handle<Relay.Room>?) -> String? { room == handle ? "r" : nil }
    func id(of session: Slot<Session>) -> SessionID { SessionID(index: 0, generation: 1) }
    func user(of session: Slot<Session>) -> String { "ada" }
    func presence(of user: String) -> Presence { .online }
    func presence(of user: String, to session: Slot<Session>) -> Presence { .online }
    func separation(of user: String, _ session: Slot<Session>) -> Int64? { nil }
    mutating func forEachSession(of user: String, _ body: (inout Room, Slot<Session>) -> Void) {}
    func hasSubscribed(to room: String, _ session: Slot<Session>) -> Bool { isSubscribed }
    func checkAccess(to room: String, re: RequestName, _ session: Slot<Session>) {}
    func rightsAllowReading(_ room: String, _ session: Slot<Session>) -> Bool { true }
    mutating func reply(_ message: ServerMessage, ref: String?, to session: Slot<Session>) {}
    mutating func length(_ write: (inout [UInt8]) -> Void) -> Int { 0 }
    mutating func reply(_ error: WireError, ref: String?, to session: Slot<Session>) {
      errors.append(error.code)
    }
    mutating func origin(_ re: RequestName, ref: String?, _ session: Slot<Session>)
      -> LogRequest.Origin
    {
      LogRequest.Origin(session: id(of: session), re: re, ref: ref)
    }
    mutating func submit(_ request: LogRequest) { submitted.append(request) }
    mutating func read(_ request: ReadRequest) {}
    mutating func awaitReply(ref: String?, _ session: Slot<Session>) {}
    mutating func endReply(to session: Slot<Session>) -> String? { nil }
    mutating func encode(_ message: ServerMessage) { encoded = message }
    mutating func inform(_ recipients: Recipients, _ key: EphemeralKey) {
      if let encoded { told.append(encoded) }
    }
    mutating func inform(_ session: Slot<Session>, _ key: EphemeralKey) {}
  }

  private func at(_ milliseconds: Int64) -> Moment { Moment(monotonic: milliseconds, wall: 0) }

  @Test func `is told to the others, and that it has ended`() {
    let typing = Typing()
    var room = Room()
    typing.apply(Commit.TypingChange(room: "r", user: "ada", on: true), in: &room, at(0))
    #expect(room.told == [.typing(room: "r", user: "ada", on: true)])
    while let deadline = typing.nextDeadline { typing.tick(in: &room, at(deadline)) }
    #expect(room.told.last == .typing(room: "r", user: "ada", on: false))
    #expect(room.told.count == 2)
  }

  @Test func `is refused to a session that has not joined`() {
    let typing = Typing()
    var room = Room()
    room.isSubscribed = false
    typing.receive("r", true, ref: nil, from: Slot(0), in: &room)
    #expect(room.errors == [.notJoined])
    #expect(room.submitted.isEmpty)
  }
}

@Suite final class `Watched users` {
  private var users = WatchedUsers()
  private var sessions: UInt32 = 0

  private func add() -> SessionID {
    sessions += 1
    return SessionID(index: 0, generation: sessions)
  }

  @Test func `are forgotten with the last session that watches them`() {
    let (a, b) = (add(), add())
    for session in [a, b] { users.watch("bo", .online, lastSeen: nil, session) }
    users.end(a)
    let bo = users.find("bo")
    if let bo { users.releaseIfUnwatched(bo) }
    #expect(bo.map { users[$0].watchers } == [b])
    users.end(b)
    if let bo { users.releaseIfUnwatched(bo) }
    #expect(users.find("bo") == nil)
  }

  @Test func `do not pile up sessions that have gone`() {
    let stays = add()
    users.watch("bo", .online, lastSeen: nil, stays)
    for _ in 0..<10_000 {
      let session = add()
      users.watch("bo", .online, lastSeen: nil, session)
      users.end(session)
    }
    let watchers = users.find("bo").map { users[$0].watchers }
    #expect((watchers?.count ?? 0) < 16)
    #expect(watchers?.contains(stays) == true)
  }

  @Test func `lose the oldest one beyond a session's limit`() {
    let session = add()
    for number in 0...WatchedUsers.limitPerSession {
      users.watch("u\(number)", .offline, lastSeen: nil, session)
    }
    #expect(users.find("u0") == nil)
    #expect(users.find("u1") != nil)
    #expect(users.names.count == WatchedUsers.limitPerSession)
  }
}

@Suite struct `The roster of people` {
  private func roster(_ count: Int) -> Roster {
    var roster = Roster(bots: [("echo", "Echo"), ("p1", "Also a person")])
    roster.directory = DirectoryUpdate(
      people: PeopleList(
        (0..<count).map { Person(user: "p\($0)", name: "Person \($0)") }, source: "file",
        asOf: 7))
    return roster
  }

  private func pages(_ roster: Roster, _ query: String = "", limit: Int) -> [[String]] {
    var pages: [[String]] = []
    var cursor: PeopleCursor?
    repeat {
      let page = roster.page(query, after: cursor, limit: limit)
      pages.append(page.people.map(\.person.user))
      cursor = page.next
    } while cursor != nil && pages.count < 100
    return pages
  }

  @Test func `has the directory's people, then the bots that it does not have`() {
    #expect(pages(roster(3), limit: 2) == [["p0", "p1"], ["p2", "echo"], []])
    #expect(
      roster(3).page("", after: nil, limit: 9).people.map(\.isBot) == [false, true, false, true])
  }

  @Test func `is searched by name and user`() {
    #expect(pages(roster(30), "N 2", limit: 50) == [["p2"] + (20...29).map { "p\($0)" }])
    #expect(pages(roster(3), "echo", limit: 50) == [["echo"]])
  }

  @Test func `has short pages if few people match among many`() {
    let pages = pages(roster(50_000), "person 49999", limit: 10)
    #expect(pages == [[], [], ["p49999"]])
  }

  @Test func `continues by position if the last user of a page has gone`() {
    let gone = PeopleCursor(user: "gone", place: 2)
    #expect(roster(4).page("", after: gone, limit: 1).people.map(\.person.user) == ["p2"])
    let last = PeopleCursor(user: "gone", place: PeopleCursor.placeLimit)
    #expect(roster(4).page("", after: last, limit: 1).people.isEmpty)
  }
}

@Suite struct `The cost of writes` {
  @Test func `follows what large fan-outs take, and ignores small ones and stalls`() {
    var cost = WriteCost()
    let before = cost.nanoseconds
    cost.record(connections: 31, nanoseconds: 31_000_000)
    #expect(cost.nanoseconds == before)
    for _ in 0..<100 { cost.record(connections: 100, nanoseconds: 800_000) }
    #expect((7900...8000).contains(cost.nanoseconds))
    cost.record(connections: 100, nanoseconds: 60_000_000_000)
    #expect(cost.nanoseconds < 20_000)
    #expect(WriteCost().microseconds(connections: 1000) == before)
  }
}
