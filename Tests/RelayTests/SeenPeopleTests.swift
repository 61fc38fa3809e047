import Mixing
import ShardWorld
import Testing
import Wire

@testable import Relay

extension SeenPeople {
  /// Returns all users, as pages find them.
  fileprivate func all() -> [SeenPerson] {
    var all: [SeenPerson] = []
    while case let run = run(after: all.last?.user ?? ""), !run.isEmpty { all += run }
    return all
  }
}

@Suite struct `Users who have connected` {
  @Test(arguments: [UInt64(1), 2, 3])
  func `are in the order of their names, however they come and go`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let seen = SeenPeople()
    var model: [String: String] = [:]
    for step in 0..<20_000 {
      let user = "u\(Int.random(in: 0..<3000, using: &random))"
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        seen.remove(user)
        model[user] = nil
      case 1:
        seen.record(user, name: "Name \(step)")
        model[user] = "Name \(step)"
      default:
        seen.record(user)
        model[user] = model[user] ?? ""
      }
    }
    #expect(seen.count == model.count)
    let all = seen.all()
    #expect(all.map(\.user) == model.keys.sorted())
    #expect(all.allSatisfy { $0.name ?? "" == model[$0.user] })
    #expect(model.allSatisfy { seen.person($0.key)?.name ?? "" == $0.value })
    for user in model.keys { seen.remove(user) }
    #expect(seen.count == 0)
    #expect(seen.all().isEmpty)
  }

  @Test(arguments: [true, false])
  func `are at most a hundred thousand`(_ ascends: Bool) {
    let seen = SeenPeople()
    for number in 0..<200_000 {
      seen.record("user-\(1_000_000 + (ascends ? number : 200_000 - number))")
    }
    #expect(seen.count == SeenPeople.limit)
    #expect(seen.all().count == SeenPeople.limit)
    // Those who are listed can still be renamed; others are not.
    seen.record("user-1100002", name: "The middle")
    seen.record("ada", name: "Ada")
    #expect(seen.person("user-1100002")?.name == (ascends ? nil : "The middle"))
    #expect(seen.person("ada")?.name == nil)
    seen.remove("user-1100001")
    seen.record("ada", name: "Ada")
    #expect(seen.person("ada")?.name == (ascends ? nil : "Ada"))
  }

  @Test func `are loaded and recorded by one loop of all`() {
    let seen = SeenPeople()
    #expect(seen.beginLoading())
    #expect(!seen.beginLoading())
  }
}

@Suite struct `A roster with users who have connected` {
  private func roster(people: Int = 0, seen: [String]) -> Roster {
    let list = SeenPeople()
    for user in seen { list.record(user) }
    var roster = Roster(bots: [("echo", "Echo"), ("guide", "Guide")], seen: list)
    roster.directory = DirectoryUpdate(
      people: PeopleList(
        (0..<people).map { Person(user: "p\($0)", name: "Person \($0)") }, source: "file", asOf: 7))
    return roster
  }

  private func users(
    _ roster: Roster, _ query: String = "", after cursor: PeopleCursor? = nil, limit: Int = 2
  ) -> [String] {
    var (users, cursor, pages) = ([String](), cursor, 0)
    repeat {
      let page = roster.page(query, after: cursor, limit: limit)
      users += page.people.map(\.person.user)
      // As a client returns it.
      cursor = page.next.flatMap { PeopleCursor($0.text) }
      #expect(cursor == page.next)
      pages += 1
    } while cursor != nil && pages < 1000
    #expect(cursor == nil)
    return users
  }

  @Test(arguments: [1, 2, 3, 200])
  func `has each user once: the directory's, those who have connected, the bots`(_ limit: Int) {
    let roster = roster(people: 3, seen: ["zoe", "p1", "echo", "ada", "p"])
    #expect(
      users(roster, limit: limit) == ["p0", "p1", "p2", "ada", "p", "zoe", "echo", "guide"])
  }

  @Test func `a user who comes or goes between two pages moves no other`() {
    let roster = roster(people: 1, seen: ["bo", "cy", "di", "ed"])
    let first = roster.page("", after: nil, limit: 3)
    #expect(first.people.map(\.person.user) == ["p0", "bo", "cy"])
    roster.seen?.record("al")
    roster.seen?.record("cyd")
    #expect(users(roster, after: first.next) == ["cyd", "di", "ed", "echo", "guide"])
    roster.seen?.remove("cy")
    #expect(users(roster, after: first.next) == ["cyd", "di", "ed", "echo", "guide"])
  }

  @Test func `the directory may get a user who has connected, or lose one`() {
    var roster = roster(people: 2, seen: ["ada", "p1", "zoe"])
    let first = roster.page("", after: nil, limit: 2)
    roster.directory.people = PeopleList(
      [Person(user: "p0", name: "P"), Person(user: "zoe", name: "Zoe")], source: "s", asOf: 8)
    #expect(users(roster, after: first.next) == ["ada", "p1", "echo", "guide"])
    roster.directory.people = PeopleList([], source: "s", asOf: 9)
    #expect(users(roster, after: first.next) == ["ada", "p1", "zoe", "echo", "guide"])
  }

  @Test func `are found by display name and by user`() {
    let roster = roster(seen: ["ada", "bo"])
    roster.seen?.record("ada", name: "Ada Lövelace")
    #expect(users(roster, "LOVE") == ["ada"])
    #expect(users(roster, "ADA") == ["ada"])
    #expect(users(roster, "o") == ["ada", "bo", "echo"])
    #expect(users(roster, "lovelaces").isEmpty)
    #expect(roster.page("love", after: nil, limit: 9).people.map(\.person.name) == ["Ada Lövelace"])
    #expect(roster.profile(of: "ada") == Person(user: "ada", name: "Ada Lövelace"))
    #expect(roster.profile(of: "bo") == nil)
  }

  @Test func `have the pictures of their accounts`() {
    let roster = roster(people: 1, seen: ["bo", "p0"])
    roster.seen?.record("ada", name: "Ada", avatar: "https://p.example/1")
    roster.seen?.record("p0", name: "P", avatar: "https://p.example/2")
    let listed = roster.page("", after: nil, limit: 3).people.map(\.person)
    #expect(
      listed.map(\.avatar) == [nil, "https://p.example/1", nil],
      "the directory's person has its own")
    #expect(roster.profile(of: "ada")?.avatar == "https://p.example/1")
    // A connection knows the name alone.
    roster.seen?.record("ada", name: "Ada L")
    #expect(roster.profile(of: "ada")?.avatar == "https://p.example/1")
    roster.seen?.record("ada", name: "Ada", avatar: nil)
    #expect(roster.profile(of: "ada") == Person(user: "ada", name: "Ada"))
    roster.seen?.record("ada", name: "Ada", avatar: "https://p.example/3")
    roster.seen?.remove("ada")
    roster.seen?.record("ada", name: "Another Ada")
    #expect(roster.profile(of: "ada")?.avatar == nil)
  }

  @Test func `a hundred thousand with one match are searched in pages that look at 20,000 each`() {
    let roster = roster(seen: (0..<100_000).map { "user-\(100_000 + $0)" })
    var (found, pages, cursor) = ([String](), 0, PeopleCursor?.none)
    repeat {
      let page = roster.page("user-199999", after: cursor, limit: 50)
      (found, cursor) = (found + page.people.map(\.person.user), page.next)
      pages += 1
    } while cursor != nil
    #expect(found == ["user-199999"])
    // The fifth ends with the last user, before the bots.
    #expect(pages == 6)
  }

  @Test(arguments: [
    "a@1", "zz@1", "zz@1073741823", "a@1073741824", "zz@1073741824", "echo@1073741824",
    "a@1073741825", "zz@1073741826", "zz@1073741827", "p0@1073741824", "p0@1073741900",
    "guide@2147483647", "zz@2147483647",
  ])
  func `a cursor that no page had ends nothing but the list`(_ cursor: String) throws {
    let roster = roster(people: 2, seen: ["ada", "zoe"])
    let all = users(roster)
    let start: PeopleCursor = try #require(PeopleCursor(cursor))
    let rest = users(roster, after: start)
    #expect(Array(all.suffix(rest.count)) == rest)
  }

  @Test func `a full list leaves the directory and the bots as they are`() {
    let roster = roster(people: 2, seen: (0..<200_000).map { "flood-\(100_000 + $0)" })
    roster.seen?.record("late")
    let first = roster.page("", after: nil, limit: 2)
    #expect(first.people.map(\.person.user) == ["p0", "p1"])
    #expect(users(roster, "guide", limit: 200) == ["guide"])
    #expect(users(roster, "late", limit: 200).isEmpty)
  }
}

@Suite struct `A shard and users who have connected` {
  private func relay(
    loops: Int = 1, _ seen: SeenPeople = SeenPeople(),
    _ configure: (inout Shard.Configuration) -> Void = { _ in }
  ) -> SimulatedRelay {
    SimulatedRelay(loops: loops) {
      unlimited(&$0)
      $0.seen = seen
      configure(&$0)
    }
  }

  private func people(
    _ relay: SimulatedRelay, _ socket: SimulatedSocket
  ) throws -> [ServerMessage.PersonRow] {
    socket.send(.people(.init()))
    relay.run()
    for case .people(let page) in socket.take() { return page.people }
    throw NoPage()
  }

  private struct NoPage: Error {}

  @Test func `two users see each other, with presence and when they were last online`() throws {
    let relay = relay(loops: 2)
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo", loop: 1))
    relay.run()
    #expect(
      try people(relay, ada) == [
        .init(
          user: "ada", name: "ada", avatar: nil, presence: .online, lastSeen: nil, isBot: false,
          room: nil),
        .init(
          user: "bo", name: "bo", avatar: nil, presence: .online, lastSeen: nil, isBot: false,
          room: "dm:ada:bo"),
      ])
    #expect(try people(relay, bo).map(\.user) == ["ada", "bo"])
    relay.disconnect(bo)
    relay.run(forMilliseconds: 5000)
    let rows = try people(relay, ada)
    #expect(rows.map(\.presence) == [.online, .offline])
    #expect(rows.last?.lastSeen != nil)
  }

  @Test func `without the list a relay tells nothing of its users`() throws {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    _ = relay.connect("bo")
    relay.run()
    #expect(try people(relay, ada).isEmpty)
  }

  @Test func `bots, and sessions of single requests, do not count`() throws {
    let relay = relay { $0.bots = [("echo", "Echo")] }
    let ada = relay.connect("ada")
    _ = relay.connect("echo")
    _ = relay.connect("script", isPresence: false)
    relay.run()
    let rows = try people(relay, ada)
    #expect(rows.map(\.user) == ["ada", "echo"])
    #expect(rows.map(\.isBot) == [false, true])
  }

  @Test func `the name of a token is shown, also as the title of a direct room`() throws {
    let relay = relay()
    let bo = relay.connect(nil)
    relay.shard {
      $0.identify(bo.session, as: Identity(user: "bo", name: "Bo Diddley"), now: relay.now)
    }
    let ada = relay.connect("ada")
    ada.post("dm:ada:bo", "1")
    relay.run()
    #expect(try people(relay, ada).map(\.name) == ["ada", "Bo Diddley"])
    ada.send(.rooms(.init()))
    relay.run()
    let titles = ada.take().flatMap { message -> [String] in
      if case .rooms(let rows, _) = message { rows.map(\.title) } else { [] }
    }
    #expect(titles == ["Bo Diddley"])
  }

  @Test func `users of another relay are listed when their presence comes`() throws {
    let relay = relay(loops: 2)
    let ada = relay.connect("ada")
    relay.run()
    // As the log follows another node.
    _ = relay.log.sequencer.process(
      [(0, [.presence(user: "far", from: .offline, to: .online)])], store: &relay.log.store,
      now: relay.now.wall, framing: SimulatedSocket.framing
    ).commit.map { commit in
      for loop in 0..<2 {
        relay.shard(loop) {
          $0.apply(
            LogDelivery(commit: commit, answers: [], completesSubmit: false), now: relay.now)
        }
      }
    }
    #expect(try people(relay, ada).map(\.user) == ["ada", "far"])
  }

  @Test func `those of the store are read first, page by page, and again after a failure`() throws {
    let seen = SeenPeople()
    let relay = relay(seen)
    let users = (0..<2500).map { "user-\(10_000 + $0)" }
    let presences = users.flatMap {
      [
        LogRequest.presence(user: $0, from: .offline, to: .online),
        .presence(user: $0, from: .online, to: .offline),
      ]
    }
    for request in presences { _ = relay.log.process([(0, [request])], now: relay.now.wall) }
    relay.log.store.failsReads = true
    relay.run()
    #expect(seen.count == 0)
    relay.run(forMilliseconds: 900)
    relay.log.store.failsReads = false
    relay.run()
    #expect(seen.count == 0)
    relay.run(forMilliseconds: 200)
    #expect(seen.count == 2500)
    #expect(relay.isIdle)
  }
}
