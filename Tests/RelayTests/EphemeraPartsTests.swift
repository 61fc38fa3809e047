import Testing
import Wire

@testable import Relay

@Suite struct `Throttled messages` {
  private let key = EphemeralKey(kind: .typing, room: nil, user: "ada")

  private func isTyping(_ value: EphemeralValue?) -> Bool? {
    if case .typing(let on)? = value { on } else { nil }
  }

  @Test func `go out immediately, then the latest of each interval`() {
    var throttles = Throttles()
    let admitted = [true, false, true].map { throttles.admit(.typing($0), key) }
    #expect(admitted == [true, false, false])
    let first = throttles.due(key)
    #expect(isTyping(first) == true)
    let waits = throttles.admit(.typing(false), key)
    #expect(!waits)
    let second = throttles.due(key)
    #expect(isTyping(second) == false)
    let third = throttles.due(key)
    #expect(isTyping(third) == nil)
    let again = throttles.admit(.typing(true), key)
    #expect(again)
  }

  @Test func `do not go out if they are canceled`() {
    var throttles = Throttles()
    _ = throttles.admit(.typing(true), key)
    _ = throttles.admit(.typing(false), key)
    throttles.cancel(key)
    let due = throttles.due(key)
    #expect(isTyping(due) == nil)
  }

  @Test func `of one key do not delay those of another`() {
    var throttles = Throttles()
    let other = EphemeralKey(kind: .typing, room: nil, user: "bo")
    let admitted = [key, other].map { throttles.admit(.typing(true), $0) }
    #expect(admitted == [true, true])
  }
}

@Suite struct `Users who type` {
  private let key = EphemeralKey(kind: .typing, room: nil, user: "ada")
  private var typers = Typers()

  private func isLater(_ due: Typers.Due, _ at: Int64) -> Bool {
    if case .later(at) = due { true } else { false }
  }

  @Test mutating func `need one timer, however often they repeat it`() {
    let timers = [typers.start(key, now: 0), typers.start(key, now: 10)]
    #expect(timers == [Typers.milliseconds, nil])
    let due = typers.due(key, now: Typers.milliseconds)
    #expect(isLater(due, Typers.milliseconds + 10))
  }

  @Test mutating func `have stopped after a while`() {
    _ = typers.start(key, now: 0)
    guard case .expired = typers.due(key, now: Typers.milliseconds) else {
      Issue.record("typing has not expired")
      return
    }
    #expect(!typers.isTyping(key))
    #expect(typers.isEmpty)
  }

  @Test mutating func `stop once`() {
    _ = typers.start(key, now: 0)
    let stops = [typers.stop(key), typers.stop(key)]
    #expect(stops == [true, false])
    guard case .ended = typers.due(key, now: Typers.milliseconds) else {
      Issue.record("typing has not ended")
      return
    }
    #expect(typers.isEmpty)
  }
}

@Suite final class `Watched users` {
  private var users = WatchedUsers()
  private var sessions = Sessions()

  private func add() -> SessionID {
    let slot = sessions.insert(Session(connection: 1))
    return sessions.id(of: slot)
  }

  @Test func `are forgotten with the last session that watches them`() {
    let (a, b) = (add(), add())
    for session in [a, b] { users.watch("bo", .online, lastSeen: nil, session, &sessions) }
    sessions.remove(a.slot)
    let bo = users.find("bo")
    if let bo { users.releaseIfUnwatched(bo, sessions) }
    #expect(bo.map { users[$0].watchers } == [b])
    sessions.remove(b.slot)
    if let bo { users.releaseIfUnwatched(bo, sessions) }
    #expect(users.find("bo") == nil)
  }

  @Test func `do not pile up sessions that have gone`() {
    let stays = add()
    users.watch("bo", .online, lastSeen: nil, stays, &sessions)
    for _ in 0..<10_000 {
      let session = add()
      users.watch("bo", .online, lastSeen: nil, session, &sessions)
      sessions.remove(session.slot)
    }
    let watchers = users.find("bo").map { users[$0].watchers }
    #expect((watchers?.count ?? 0) < 16)
    #expect(watchers?.contains(stays) == true)
  }

  @Test func `lose the oldest one beyond a session's limit`() {
    let session = add()
    for number in 0...WatchedUsers.limitPerSession {
      users.watch("u\(number)", .offline, lastSeen: nil, session, &sessions)
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
    cost.note(connections: 31, nanoseconds: 31_000_000)
    #expect(cost.nanoseconds == before)
    for _ in 0..<100 { cost.note(connections: 100, nanoseconds: 800_000) }
    #expect((7900...8000).contains(cost.nanoseconds))
    cost.note(connections: 100, nanoseconds: 60_000_000_000)
    #expect(cost.nanoseconds < 20_000)
    #expect(WriteCost().microseconds(connections: 1000) == before)
  }
}
