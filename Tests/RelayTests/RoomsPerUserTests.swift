import Mixing
import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `The limit of a user's memberships` {
  private func full(_ rooms: Int = 3) throws -> (SimulatedRelay, SimulatedSocket) {
    let relay = SimulatedRelay(roomsPerUser: 3, unlimited)
    try relay.give("ada", rooms: rooms)
    return (relay, relay.connect("ada"))
  }

  @Test func `a join or a send to one more room is refused with the limit`() throws {
    let (relay, ada) = try full()
    ada.join("new")
    ada.post("other", "1")
    ada.post("r-1", "1")
    ada.join("r-2")
    relay.run()
    let messages = ada.take()
    #expect(messages.errors.map(\.code) == [.limitReached, .limitReached])
    #expect(messages.errors.map(\.field) == ["rooms_per_user", "rooms_per_user"])
    #expect(
      messages.errors.map(\.re) == [.send, .join]
        || messages.errors.map(\.re) == [.join, .send])
    #expect(messages.errors.first { $0.re == .send }?.id == "1")
    #expect(messages.acks.map(\.room) == ["r-1"])
    #expect(messages.joined.map(\.room) == ["r-2"])
    #expect(try relay.allRooms(ada).count == 3)
  }

  @Test func `a room that is left for good makes room for another`() throws {
    let (relay, ada) = try full()
    ada.join("r-0")
    ada.send(.leave(room: "r-0", forget: true))
    ada.join("new")
    ada.join("r-0")
    relay.run()
    let messages = ada.take()
    // The first join was left before it was answered; the second is answered for itself.
    #expect(messages.joined.map(\.room) == ["new"])
    #expect(messages.errors.map(\.room) == ["r-0"])
    // A room without entries counts as long as it is there.
    ada.send(.leave(room: "new", forget: false))
    ada.join("r-0")
    relay.run()
    #expect(ada.take().joined.map(\.room) == ["r-0"])
  }

  @Test func `a direct message is stored anyway, but makes no membership beyond the limit`() throws
  {
    let (relay, ada) = try full()
    let bo = relay.connect("bo")
    _ = try relay.page(ada)
    bo.post("dm:ada:bo", "1")
    relay.run()
    #expect(bo.take().acks.map(\.seq) == [1])
    #expect(ada.take().activity.isEmpty)
    #expect(try relay.allRooms(ada).count == 3)
    #expect(try relay.allRooms(bo) == ["dm:ada:bo"])
    // It can be read, and the next entry makes her a member once she is below the limit.
    ada.send(.history(.init(room: "dm:ada:bo")))
    ada.join("r-0")
    ada.send(.leave(room: "r-0", forget: true))
    relay.run()
    #expect(ada.take().pages.first?.entries.map(\.id) == ["1"])
    bo.post("dm:ada:bo", "2")
    relay.run()
    #expect(ada.take().activity.map(\.unread) == [2])
    #expect(try relay.allRooms(ada).contains("dm:ada:bo"))
  }

  @Test func `no membership beyond the limit is made on a full disk`() throws {
    let (relay, ada) = try full(1)
    relay.connect("eve").join("elsewhere")
    relay.connect("eve").post("elsewhere", "1")
    relay.run()
    for round in 0..<4 {
      relay.log.store.failsCommits = true
      ada.join("r-0", after: nil)
      ada.post("new-\(round)", "1")
      ada.join("elsewhere", after: nil)
      ada.join("empty-\(round)", after: nil)
      relay.run()
      relay.log.store.failsCommits = false
      ada.send(.typing(room: "r-0", on: true))
      relay.run(forMilliseconds: 2000)
    }
    // Of the unstored batch, sends are refused, and joins succeed as long as the limit allows.
    #expect(try Set(relay.allRooms(ada)) == ["r-0", "elsewhere"])
    #expect(relay.nodes == 2)
  }

  @Test func `memberships are counted once per user`() throws {
    let (relay, ada) = try full(2)
    for number in 0..<20 {
      ada.join("n", after: nil)
      ada.post("n", "\(number)")
      ada.join("beyond", after: nil)
      relay.run()
    }
    #expect(ada.take().errors.count == 20)
    #expect(relay.log.store.meter.total(.membershipCount) == 1)
    #expect(try relay.log.store.membershipCount(of: "ada") == 3)
  }

  @Test(arguments: 1...30)
  func `the counts in memory equal the memberships`(_ seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let relay = SimulatedRelay(roomsPerUser: 4, unlimited)
    let users = ["ada", "bo", "cy"]
    var sockets = users.map { relay.connect($0) }
    for step in 0..<300 {
      let place = Int.random(in: 0..<3, using: &random)
      let rooms = (0..<8).map { "r\($0)" } + ["dm:ada:bo", "dm:ada:cy"]
      let room = rooms[Int.random(in: 0..<rooms.count, using: &random)]
      switch Int.random(in: 0..<10, using: &random) {
      case 0...2: sockets[place].join(room, after: nil)
      case 3...5: sockets[place].post(room, "\(step)")
      case 6: sockets[place].send(.leave(room: room, forget: true))
      case 7: sockets[place].send(.leave(room: room, forget: false))
      case 8: relay.log.store.failsCommits = Bool.random(using: &random)
      default:
        relay.disconnect(sockets[place])
        sockets[place] = relay.connect(users[place])
      }
      if Bool.random(using: &random) { relay.run() }
      relay.advance(Int64.random(in: 0...600, using: &random))
    }
    relay.log.store.failsCommits = false
    relay.run(forMilliseconds: 5000)
    relay.connect("eve").post("end", "1")
    relay.run()
    for user in users {
      let stored = try relay.log.store.membershipCount(of: user)
      let count = stored + relay.log.sequencer.unstored.count(of: user)
      #expect(count <= 4, "\(user)")
      if let counted = relay.log.sequencer.membershipCounts[user] {
        #expect(counted == count, "\(user)")
      }
    }
  }

  @Test func `an invitation counts among the rooms of its sender until the user takes part`() throws
  {
    let (relay, ada) = try full(1)
    let bo = relay.connect("bo")
    var settings = RoomSettings.Change()
    settings.access = .private
    ada.send(.send(.init(room: "den", id: "1", settings: settings)))
    func invite(_ user: String, _ id: String) {
      let change = MemberChange(user: user, role: .member)
      ada.send(.send(.init(room: "den", id: id, member: change)))
      relay.run()
    }
    invite("bo", "2")
    invite("cy", "3")
    let refused = try #require(ada.take().errors.first)
    #expect(refused.code == .limitReached && refused.field == "rooms_per_user")
    // Of the user's own rooms all are still free.
    for room in ["a", "b", "c"] { bo.post(room, "1") }
    relay.run()
    #expect(bo.take().acks.count == 3)
    bo.join("den")
    relay.run()
    #expect(bo.take().errors.map(\.field) == ["rooms_per_user"])
    bo.send(.leave(room: "a", forget: true))
    bo.join("den")
    relay.run()
    #expect(bo.take().joined.map(\.room) == ["den"])
    invite("cy", "4")
    #expect(ada.take().errors.isEmpty)
    bo.join("d")
    relay.run()
    #expect(bo.take().errors.map(\.field) == ["rooms_per_user"])
    settings.access = .open
    ada.send(.send(.init(room: "den", id: "5", settings: settings)))
    // Nor does an entry of one's own lead around it.
    let cy = relay.connect("cy")
    for room in ["a", "b", "c"] { cy.post(room, "1") }
    relay.run()
    _ = cy.take()
    ada.send(.send(.init(room: "den", id: "6", member: .init(user: "cy", role: .none))))
    relay.run()
    cy.send(.send(.init(room: "den", id: "1", member: .init(user: "cy", role: .member))))
    relay.run()
    #expect(cy.take().errors.map(\.field) == ["rooms_per_user"])
  }
}
