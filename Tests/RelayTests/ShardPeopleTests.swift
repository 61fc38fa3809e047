import ShardWorld
import Testing
import Wire

@testable import Relay

extension [ServerMessage] {
  fileprivate var peoplePages: [ServerMessage.PeoplePage] {
    compactMap { if case .people(let page) = $0 { page } else { nil } }
  }
  fileprivate var presences: [ServerMessage.UserPresence] {
    compactMap { if case .presence(let presence) = $0 { presence } else { nil } }
  }
  fileprivate var rows: [ServerMessage.RoomSummary] {
    flatMap { message -> [ServerMessage.RoomSummary] in
      if case .rooms(let rows, _) = message { rows } else { [] }
    }
  }
}

private func directory(
  _ count: Int, problem: DirectoryProblem? = nil, without: Set<Int> = []
) -> DirectoryUpdate {
  let people = (0..<count).filter { !without.contains($0) }.map {
    Person(user: "user-\($0)", name: "Näme \($0)", avatar: $0 % 2 == 0 ? "https://a/\($0)" : nil)
  }
  return DirectoryUpdate(
    people: PeopleList(people, source: "org:test", asOf: 77), problem: problem)
}

extension SimulatedRelay {
  fileprivate func update(_ update: DirectoryUpdate) {
    for loop in 0..<loops { shard(loop) { $0.update(people: update) } }
    run()
  }

  fileprivate func page(
    _ socket: SimulatedSocket, _ request: ClientMessage.PeopleRequest
  ) throws -> ServerMessage.PeoplePage {
    socket.send(.people(request))
    run()
    return try #require(socket.take().peoplePages.last)
  }
}

@Suite struct `A shard and people` {
  @Test func `many watchers that have left are forgotten, and their slots are freed`() throws {
    let relay = SimulatedRelay { unlimited(&$0) }
    relay.update(directory(3))
    let crowd = (0..<40).map { relay.connect("stranger-\($0)") }
    for socket in crowd { _ = try relay.page(socket, .init()) }
    for socket in crowd { relay.disconnect(socket) }
    relay.run(forMilliseconds: 10_000)
    relay.shard { $0.shrink() }
    #expect(relay.shard { $0.sessions.count } == 0)
    let late = relay.connect("user-1")
    relay.run(forMilliseconds: 10_000)
    #expect(late.closeCode == nil)
    let page = try relay.page(late, .init())
    #expect(page.people.map(\.presence) == [.offline, .online, .offline])
  }

  @Test func `the whole directory comes in order, page by page, followed by the bots`() throws {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.bots = [("echo", "Echo"), ("user-3", "Three")]
    }
    relay.update(directory(1234))
    let ada = relay.connect("ada")
    var users: [String] = []
    var cursor: String?
    repeat {
      let page = try relay.page(ada, .init(cursor: cursor, limit: 100))
      #expect(page.source == "org:test")
      #expect(page.asOf == 77)
      users += page.people.map(\.user)
      cursor = page.next
    } while cursor != nil
    #expect(users == (0..<1234).map { "user-\($0)" } + ["echo"])
  }

  @Test func `a row has the person, and the direct room with that person`() throws {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.bots = [("echo", "Echo")]
    }
    relay.update(directory(2))
    let me = relay.connect("user-1")
    let page = try relay.page(me, .init())
    #expect(
      page.people == [
        .init(
          user: "user-0", name: "Näme 0", avatar: "https://a/0", presence: .offline, lastSeen: nil,
          isBot: false, room: "dm:user-0:user-1"),
        .init(
          user: "user-1", name: "Näme 1", avatar: nil, presence: .online, lastSeen: nil,
          isBot: false, room: nil),
        .init(
          user: "echo", name: "Echo", avatar: nil, presence: .offline, lastSeen: nil,
          isBot: true, room: "dm:echo:user-1"),
      ])
  }

  @Test func `a refresh between two pages neither skips nor repeats`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(100))
    let ada = relay.connect("ada")
    let first = try relay.page(ada, .init(limit: 40))
    // All people of the first page except the last are gone.
    relay.update(directory(100, without: Set(0..<39)))
    let second = try relay.page(ada, .init(cursor: first.next, limit: 100))
    #expect(second.people.map(\.user) == (40..<100).map { "user-\($0)" })
    #expect(second.next == nil)
  }

  @Test(arguments: [0, 1, 30, 500])
  func `a directory that shrinks or grows while a page is built does not change that page`(
    _ size: Int
  ) throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(100))
    let ada = relay.connect("ada")
    relay.readsAreHeld = true
    ada.send(.people(.init(limit: 50)))
    relay.run()
    var smaller = directory(size)
    smaller.people = PeopleList(smaller.people.people, source: "other", asOf: 99)
    relay.update(smaller)
    relay.readsAreHeld = false
    relay.run()
    let page = try #require(ada.take().peoplePages.last)
    #expect(page.people.map(\.user) == (0..<50).map { "user-\($0)" })
    #expect(page.source == "org:test")
    #expect(page.asOf == 77)
    // If the last one is gone, the next page continues by position.
    let second = try relay.page(ada, .init(cursor: page.next, limit: 1))
    #expect(second.people.map(\.user) == (size > 50 ? ["user-50"] : []))
  }

  @Test func `a page that is cut at the size limit of a reply continues from there`() throws {
    let relay = SimulatedRelay(unlimited)
    let long = String(repeating: "n", count: 4000)
    let people = (0..<100).map { Person(user: "user-\($0)", name: long) }
    relay.update(DirectoryUpdate(people: PeopleList(people, source: "s", asOf: 1)))
    let ada = relay.connect("ada")
    let first = try relay.page(ada, .init(limit: 200))
    #expect(first.people.count == 32)
    // The last one on the page is no longer there: the next page continues by position.
    relay.update(
      DirectoryUpdate(
        people: PeopleList(people.filter { $0.user != "user-31" }, source: "s", asOf: 1)))
    let second = try relay.page(ada, .init(cursor: first.next, limit: 1))
    #expect(second.people.map(\.user) == ["user-33"])
  }

  @Test(arguments: ["NÄME 1", "user-1", "ÄmE 1", "name 1", "NA\u{308}me 1"])
  func `a person is found by name and user, regardless of case and form`(_ query: String) throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(30))
    let page = try relay.page(relay.connect("ada"), .init(query: query))
    #expect(page.people.map(\.user) == ["user-1"] + (10..<20).map { "user-\($0)" })
  }

  @Test(arguments: [
    ("José", "jose"), ("Jose\u{301}", "josé"), ("José", "Jose\u{301}"), ("Weißstraße", "STRASSE"),
    ("Strasse", "straße"), ("Łukasz", "lukasz"), ("Ærø", "aero"), ("Ａｄａ", "ada"),
    ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
  ])
  func `a name is found without regard to case, diacritics and form`(name: String, query: String)
    throws
  {
    let relay = SimulatedRelay(unlimited)
    let people = [Person(user: "one", name: name), Person(user: "other", name: "Ulf")]
    relay.update(DirectoryUpdate(people: PeopleList(people, source: "s", asOf: 1)))
    let page = try relay.page(relay.connect("ada"), .init(query: query))
    #expect(page.people.map(\.user) == ["one"])
    #expect(page.people.map(\.name) == [name])
  }

  @Test func `a hundred thousand people are searched in short steps`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(100_000))
    let ada = relay.connect("ada")
    var found: [String] = []
    var pages = 0
    var cursor: String?
    repeat {
      let page = try relay.page(ada, .init(query: "user-99999", cursor: cursor))
      found += page.people.map(\.user)
      cursor = page.next
      pages += 1
    } while cursor != nil
    #expect(found == ["user-99999"])
    #expect(pages == 5)
  }

  @Test func `a problem is reported with the last list, once to those who asked before`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(3))
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    _ = try relay.page(ada, .init())
    _ = bo.take()
    relay.update(directory(3, problem: .limited(until: 99_000)))
    let told = try #require(ada.take().errors.first)
    #expect(told.code == .directoryLimited)
    #expect(told.resetAt == 99_000)
    #expect(told.re == .people)
    #expect(bo.take().errors.isEmpty)
    relay.update(directory(3, problem: .limited(until: 100_000)))
    #expect(ada.take().errors.isEmpty)
    bo.send(.people(.init()))
    relay.run()
    let answer = bo.take()
    #expect(answer.peoplePages.map(\.people.count) == [3])
    #expect(answer.errors.map(\.resetAt) == [100_000])
    relay.update(directory(3, problem: .failed("The directory is broken.", support: "id-7")))
    #expect(ada.take().errors.map(\.support) == ["id-7"])
    relay.update(directory(4))
    #expect(try relay.page(ada, .init()).people.count == 4)
  }

  @Test func `the list of rooms has names, pictures and presence`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(3))
    let (me, peer) = (relay.connect("user-1"), relay.connect("user-0"))
    me.post("dm:user-0:user-1", "1")
    me.post("dm:user-1:user-2", "2")
    relay.run()
    me.send(.rooms(.init()))
    relay.run()
    let rows = me.take().rows
    #expect(rows.map(\.title) == ["Näme 0", "Näme 2"])
    #expect(rows.map(\.avatar) == ["https://a/0", "https://a/2"])
    #expect(rows.map(\.presence) == [.online, .offline])
    // From here on it is notified of both.
    relay.disconnect(peer)
    relay.run(forMilliseconds: 4000)
    #expect(me.take().presences.map(\.user) == ["user-0"])
  }
}

@Suite struct `A shard and presence` {
  @Test func `presence changes are reported to sessions that asked, and to no others`() throws {
    let relay = SimulatedRelay(loops: 2, unlimited)
    relay.update(directory(3))
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    _ = try relay.page(ada, .init())
    _ = bo.take()
    let user = relay.connect("user-1", loop: 1)
    relay.run(forMilliseconds: 2000)
    #expect(ada.take().presences.map(\.presence) == [.online])
    user.send(.presence(isAway: true))
    relay.run(forMilliseconds: 2000)
    #expect(ada.take().presences.map(\.presence) == [.away])
    relay.disconnect(user)
    relay.run(forMilliseconds: 2500)
    #expect(ada.take().presences.isEmpty)
    relay.run(forMilliseconds: 1000)
    let gone = try #require(ada.take().presences.first)
    #expect(gone.presence == .offline)
    #expect(gone.user == "user-1")
    #expect(bo.take().presences.isEmpty)
    // And that is when they were last seen.
    let page = try relay.page(bo, .init())
    #expect(page.people[1].lastSeen == gone.lastSeen)
    #expect(gone.lastSeen != nil)
  }

  @Test func `a user who reconnects immediately was not offline`() throws {
    let relay = SimulatedRelay(loops: 2, unlimited)
    relay.update(directory(3))
    let ada = relay.connect("ada")
    var user = relay.connect("user-1")
    _ = try relay.page(ada, .init())
    for loop in [1, 0, 1] {
      relay.disconnect(user)
      relay.run(forMilliseconds: 2000)
      user = relay.connect("user-1", loop: loop)
      relay.run(forMilliseconds: 2000)
    }
    relay.run(forMilliseconds: 10_000)
    #expect(ada.take().presences.isEmpty)
  }

  @Test func `a user is away only if all of the user's connections are`() throws {
    let relay = SimulatedRelay(loops: 2, unlimited)
    relay.update(directory(3))
    let ada = relay.connect("ada")
    let (phone, harness) = (relay.connect("user-1"), relay.connect("user-1", loop: 1))
    relay.run()
    _ = try relay.page(ada, .init())
    phone.send(.presence(isAway: true))
    relay.run(forMilliseconds: 2000)
    #expect(ada.take().presences.isEmpty)
    harness.send(.presence(isAway: true))
    relay.run(forMilliseconds: 2000)
    #expect(ada.take().presences.map(\.presence) == [.away])
    harness.send(.presence(isAway: false))
    relay.run(forMilliseconds: 2000)
    #expect(ada.take().presences.map(\.presence) == [.online])
  }

  @Test func `frequent presence changes are reported at most once per second`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(3))
    let (ada, user) = (relay.connect("ada"), relay.connect("user-1"))
    relay.run()
    _ = try relay.page(ada, .init())
    for round in 0..<101 {
      user.send(.presence(isAway: round % 2 == 0))
      relay.run(forMilliseconds: 30)
    }
    relay.run(forMilliseconds: 2000)
    let told = ada.take().presences
    #expect(told.count <= 5)
    #expect(told.last?.presence == .away)
  }

  @Test func `in a direct room a user is notified of the other's presence`() throws {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    ada.join("dm:ada:bo")
    relay.run()
    #expect(
      ada.take().presences == [.init(user: "bo", presence: .offline, lastSeen: nil)])
    let bo = relay.connect("bo")
    relay.run()
    #expect(ada.take().presences.map(\.presence) == [.online])
    bo.join("dm:ada:bo")
    relay.run()
    #expect(bo.take().presences.map(\.presence) == [.online])
  }

  @Test func `a client that resumes reading gets the latest presence`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(50))
    let ada = relay.connect("ada")
    _ = try relay.page(ada, .init())
    ada.post("r", "1")
    relay.run()
    ada.space = 0
    ada.join("r")
    relay.run()
    for _ in 0..<3 {
      let users = (0..<50).map { relay.connect("user-\($0)") }
      relay.run(forMilliseconds: 2000)
      for user in users { relay.disconnect(user) }
      relay.run(forMilliseconds: 5000)
    }
    ada.space = .max
    relay.run()
    let told = ada.take().presences
    #expect(told.count <= 50 + 1)
    var last: [String: Presence] = [:]
    for presence in told { last[presence.user] = presence.presence }
    #expect(last.values.allSatisfy { $0 == .offline })
  }

  @Test func `a connection is notified of the two thousand users that it asked for last`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(2500))
    let ada = relay.connect("ada")
    var cursor: String?
    repeat {
      cursor = try relay.page(ada, .init(cursor: cursor, limit: 200)).next
    } while cursor != nil
    for number in [0, 499, 500, 2499] { _ = relay.connect("user-\(number)") }
    relay.run()
    #expect(ada.take().presences.map(\.user) == ["user-2499", "user-500"])
    // Their next change removes the last trace of the watched users.
    relay.disconnect(ada)
    for number in 500..<2500 { _ = relay.connect("user-\(number)") }
    relay.run(forMilliseconds: 2000)
    #expect(relay.shard { $0.presenceNews.names } == ["user-2499", "user-500"])
  }

  @Test func `the session of a request does not affect presence`() throws {
    let relay = SimulatedRelay(unlimited)
    relay.update(directory(3))
    let ada = relay.connect("ada")
    _ = try relay.page(ada, .init())
    let session = relay.shard { $0.open(connection: 99, now: relay.now) }
    relay.shard { $0.identify(session, as: "user-1", isPresence: false, now: relay.now) }
    relay.run()
    relay.shard { $0.close(session) }
    relay.run(forMilliseconds: 5000)
    #expect(ada.take().presences.isEmpty)
    #expect(relay.shard { $0.sessions.users["user-1"] } == nil)
  }
}
