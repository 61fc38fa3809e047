import ShardWorld
import Synchronization
import Testing
import Wire

@testable import Relay

/// Rooms with members, as connections see them.
@Suite struct `Rooms with members, on connections` {
  private typealias Send = ClientMessage.Send

  private final class Den {
    let relay: SimulatedRelay
    let ada: SimulatedSocket
    private var ids = 0

    init(_ relay: SimulatedRelay, members: [String] = [], access: RoomSettings.Access = .private) {
      self.relay = relay
      ada = relay.connect("ada")
      var settings = RoomSettings.Change()
      settings.title = "Den"
      settings.access = access
      ada.send(.send(Send(room: "den", id: "s", settings: settings)))
      for member in members { set(member, .member) }
      relay.run()
      _ = ada.take()
    }

    func set(_ user: String, _ role: Role, reason: String? = nil) {
      ids += 1
      let change = MemberChange(user: user, role: role, reason: reason)
      ada.send(.send(Send(room: "den", id: "m\(ids)", member: change)))
    }

    func text(_ text: String, from socket: SimulatedSocket? = nil) {
      ids += 1
      (socket ?? ada).send(.send(Send(room: "den", id: "t\(ids)", text: text)))
    }
  }

  private static func entries(_ messages: [ServerMessage]) -> [Int64] {
    messages.compactMap { if case .message(let entry) = $0 { entry.seq } else { nil } }
  }

  private static func left(_ messages: [ServerMessage]) -> [ServerMessage.Departure] {
    messages.compactMap { if case .left(_, let departure) = $0 { departure } else { nil } }
  }

  @Test(arguments: [false, true])
  func `a removed member gets the entry that removed them, then left, and nothing after it`(
    isSlow: Bool
  ) {
    let den = Den(SimulatedRelay(unlimited), members: ["bo"])
    let bo = den.relay.connect("bo")
    bo.join("den", after: 0)
    den.relay.run()
    #expect(Self.entries(bo.take()) == [1, 2])
    if isSlow { bo.space = 0 }
    den.text("three")
    den.text(String(repeating: "long ", count: 1000))
    den.set("bo", .none, reason: "spam")
    for number in 0..<20 { den.text("after \(number)") }
    den.relay.run()
    if isSlow {
      #expect(bo.take().isEmpty)
      den.text("much later")
      den.relay.run()
      bo.space = .max
      den.relay.shard { $0.unblock(bo.session) }
      den.relay.run()
    }
    let told = bo.take()
    #expect(Self.entries(told) == [3, 4, 5])
    #expect(Self.left(told) == [.init(seq: 5, by: "ada", role: Role.none, reason: "spam")])
    guard case .left = told.last else {
      Issue.record("it is told something after left")
      return
    }
    den.text("later")
    den.relay.run()
    #expect(bo.take().isEmpty)
    #expect(den.relay.shard { $0.subscriptions.slots.count } == 0)
  }

  @Test func `a cursor that catches up from storage ends with the entry, too`() {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.tailBytes = 0
    }
    let den = Den(relay, members: ["bo"])
    for number in 0..<40 { den.text("\(number) " + String(repeating: "x", count: 8000)) }
    relay.run()
    let bo = relay.connect("bo")
    relay.readsAreHeld = true
    bo.join("den", after: 0)
    relay.run()
    den.set("bo", .banned)
    den.text("after")
    relay.run()
    relay.readsAreHeld = false
    relay.run()
    let told = bo.take()
    #expect(Self.entries(told) == Array(1...43))
    #expect(Self.left(told).map(\.seq) == [43])
  }

  @Test func `a removal ends five hundred cursors in one turn`() {
    let relay = SimulatedRelay(unlimited)
    let den = Den(relay, members: ["bo"])
    let sockets = (0..<500).map { _ in relay.connect("bo") }
    for socket in sockets { socket.join("den") }
    relay.run()
    for socket in sockets { _ = socket.take() }
    den.set("bo", .none)
    relay.receive(den.ada)
    relay.turn(0)
    _ = relay.process()
    relay.turn(0)
    #expect(sockets.allSatisfy { Self.left($0.take()).count == 1 })
    #expect(relay.shard { $0.subscriptions.slots.isEmpty })
  }

  @Test func `who was removed is informed of nothing in the room`() throws {
    let relay = SimulatedRelay(unlimited)
    let den = Den(relay, members: ["bo", "cy"])
    let (bo, cy) = (relay.connect("bo"), relay.connect("cy"))
    for socket in [den.ada, bo, cy] { socket.join("den") }
    relay.run()
    _ = try relay.page(bo)
    _ = bo.take()
    den.set("bo", .none)
    cy.send(.typing(room: "den", on: true))
    cy.send(.read(room: "den", seq: 4))
    relay.run(forMilliseconds: 5000)
    den.text("after")
    relay.run(forMilliseconds: 5000)
    let told = bo.take()
    #expect(Self.entries(told) == [4] && Self.left(told).count == 1)
    #expect(told.count == 2, "\(told)")
    // Nor does it learn of the others by asking.
    bo.send(.typing(room: "den", on: true), ref: "1")
    bo.send(.read(room: "den", seq: 1), ref: "2")
    bo.send(.leave(room: "den", forget: true), ref: "3")
    relay.run()
    #expect(bo.take().errors.map(\.code) == [.notJoined, .notJoined, .notJoined])
    #expect(try relay.allRooms(bo).isEmpty)
  }

  @Test func `an invitation comes as activity, and rooms show what the room is`() throws {
    let relay = SimulatedRelay(unlimited)
    let den = Den(relay)
    let bo = relay.connect("bo")
    _ = try relay.page(bo)
    den.set("bo", .moderator)
    relay.run(forMilliseconds: 2000)
    let activity = try #require(bo.take().activity.first)
    #expect(activity.room == "den" && activity.unread == 0 && activity.last?.kind == .member)
    let row = try #require(relay.page(bo).rows.first)
    #expect(row.about == .init(title: "Den", access: .private, role: .moderator))
  }

  @Test func `a listed room that is private is not in the list of others`() throws {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.listed = [("den", "Listed"), ("hall", "Hall")]
      $0.verifyToken = { token, _ throws(WireError) in Identity(user: token) }
      $0.isOperator = { $0.user == "ada" }
    }
    let den = Den(relay)
    #expect(try relay.allRooms(den.ada) == ["den", "hall"])
    let bo = relay.connect("bo")
    #expect(try relay.allRooms(bo) == ["hall"])
    den.text("more")
    relay.run(forMilliseconds: 2000)
    #expect(bo.take().activity.isEmpty)
  }

  @Test func `a member named by an entry leaves by an entry`() throws {
    let relay = SimulatedRelay(unlimited)
    let den = Den(relay, members: ["bo"])
    let bo = relay.connect("bo")
    bo.send(.leave(room: "den", forget: true), ref: "1")
    relay.run()
    #expect(bo.take().errors.map(\.code) == [.forbidden])
    #expect(try relay.allRooms(bo) == ["den"])
    let change = MemberChange(user: "bo", role: .none)
    bo.send(.send(Send(room: "den", id: "bye", member: change)))
    den.relay.run()
    #expect(bo.take().acks.count == 1)
    #expect(try relay.allRooms(bo).isEmpty)
  }

  @Test func `what a refused batch would have changed has no effect`() {
    var harness = SequencerHarness()
    var settings = RoomSettings.Change()
    settings.access = .private
    func member(_ user: String, _ role: Role, _ id: String) -> LogRequest {
      .append(Send(room: "den", id: id, member: MemberChange(user: user, role: role)), "ada")
    }
    harness.store.failsCommits = true
    #expect(
      harness.submit(.append(Send(room: "den", id: "1", settings: settings), "ada")).acks.isEmpty)
    harness.now += 1000
    // The room is free again.
    harness.store.failsCommits = false
    #expect(harness.submit(.append("den", "bo", "b")).acks.map(\.seq) == [1])

    harness.submit(.append(Send(room: "den2", id: "1", settings: settings), "ada"))
    func other(_ user: String, _ role: Role, _ id: String) -> LogRequest {
      .append(Send(room: "den2", id: id, member: MemberChange(user: user, role: role)), "ada")
    }
    harness.submit(other("bo", .member, "2"), other("cy", .owner, "3"))
    harness.store.failsCommits = true
    let refused = harness.submit(
      other("bo", .none, "4"), .append("den2", "bo", "5"), .subscribe("den2", "bo"),
      other("eve", .member, "6"), .append("den2", "eve", "7"))
    #expect(refused.acks.isEmpty && refused.commit?.departures.isEmpty != false)
    #expect(refused.refusals.allSatisfy { $0.code == .unavailable })
    harness.store.failsCommits = false
    harness.now += 1000
    let after = harness.submit(
      .append("den2", "bo", "5"), .append("den2", "eve", "7"), .subscribe("den2", "bo"))
    #expect(after.acks.map(\.seq) == [4])
    #expect(after.refusals.map(\.code) == [.noSuchRoom])
    #expect(after.joined.map(\.room) == ["den2"])
    #expect(harness.memberships(of: "bo") == ["den", "den2"])
    #expect(harness.memberships(of: "eve").isEmpty)
  }

  @Test(arguments: [10, 5_000])
  func `a text costs the same in a room of few and of many members`(members: Int) {
    var harness = SequencerHarness()
    var settings = RoomSettings.Change()
    settings.access = .private
    harness.submit(.append(Send(room: "den", id: "s", settings: settings), "ada"))
    for first in stride(from: 0, to: members, by: 1000) {
      _ = harness.submit(
        (first..<min(members, first + 1000)).map { number in
          let change = MemberChange(user: "u\(number)", role: .member)
          return .append(Send(room: "den", id: "m\(number)", member: change), "ada")
        })
    }
    harness.submit(.append("den", "u1", "first"), .append("den", "u2", "first"))
    _ = harness.store.meter.take()
    let outcome = harness.submit(.append("den", "u1", "x"), .append("den", "u2", "x"))
    #expect(outcome.acks.count == 2)
    let work = harness.store.meter.take()
    #expect(work.lookups <= 4 && work.rows <= 2, "\(work)")
    #expect(work.appended <= 4, "\(work)")
  }

  @Test func `what one member may read does not change what others get`() {
    let relay = SimulatedRelay(unlimited)
    let den = Den(relay)
    var settings = RoomSettings.Change()
    settings.history = .joined
    den.ada.send(.send(Send(room: "den", id: "h", settings: settings)))
    den.set("old", .member)
    for number in 0..<20 { den.text("\(number)") }
    den.set("bo", .member)
    relay.run()
    let (bo, old) = (relay.connect("bo"), relay.connect("old"))
    bo.join("den", after: 0)
    relay.run()
    #expect(Self.entries(bo.take()) == [24])
    old.join("den", after: 0)
    relay.run()
    let told = old.take()
    #expect(told.joined.count == 1 && Self.entries(told) == Array(3...24))
  }

  @Test func `a room whose name the relay chooses leaves nothing owed`() {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    var settings = RoomSettings.Change()
    settings.title = "Den"
    for id in ["1", "1", "2"] {
      ada.send(.send(Send(room: "", id: id, settings: settings)))
      relay.run()
    }
    #expect(ada.take().acks.map(\.duplicate) == [false, true, false])
    #expect(relay.shard { $0.sessions[ada.session.slot].owedBytes } == 0)
  }

  @Test func `a listed room is no user's`() {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.listed = [("hall", "Hall")]
    }
    let eve = relay.connect("eve")
    var settings = RoomSettings.Change()
    settings.access = .private
    eve.send(.send(Send(room: "hall", id: "1", settings: settings)))
    relay.run()
    #expect(eve.take().errors.map(\.code) == [.forbidden])
    let ada = relay.connect("ada")
    ada.join("hall")
    relay.run()
    #expect(ada.take().joined.count == 1)
  }

  @Test func `a muted user does not speak by leaving, by coming back, or by reasons`() {
    let relay = SimulatedRelay(unlimited)
    let den = Den(relay, members: ["bo"], access: .open)
    den.set("bo", .muted)
    relay.run()
    let bo = relay.connect("bo")
    func say(_ role: Role, _ id: String, reason: String? = nil) -> [ErrorCode] {
      let change = MemberChange(user: "bo", role: role, reason: reason)
      bo.send(.send(Send(room: "den", id: id, member: change)))
      relay.run()
      return bo.take().errors.map(\.code)
    }
    #expect(say(.member, "1", reason: "buy") == [.forbidden])
    #expect(say(.none, "2", reason: "buy") == [.forbidden])
    #expect(say(.none, "3") == [])
    #expect(say(.none, "4") == [.forbidden])
    bo.join("den")
    den.text("hello", from: bo)
    relay.run()
    let told = bo.take()
    #expect(told.joined.count == 1 && told.errors.map(\.code) == [.forbidden])
  }

  @Test func `an operator reads a private room only as long as they are one`() throws {
    let isOperator = Atomic(true)
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.verifyToken = { token, _ throws(WireError) in Identity(user: token) }
      $0.isOperator = { $0.user == "root" && isOperator.load(ordering: .relaxed) }
    }
    let den = Den(relay)
    let root = relay.connect("root")
    root.join("den", after: 0)
    den.text("hello", from: root)
    relay.run()
    #expect(Self.entries(root.take()) == [1, 2])
    // They belong to it for none of that.
    #expect(try relay.allRooms(root).isEmpty)
    isOperator.store(false, ordering: .relaxed)
    relay.shard { $0.updateOperators() }
    den.text("secret")
    relay.run(forMilliseconds: 2000)
    let told = root.take()
    #expect(Self.entries(told).isEmpty && told.activity.isEmpty)
    #expect(told.errors.map(\.code) == [.noSuchRoom])
  }

  @Test func `what makes a room private is not told to users that it excludes`() {
    let relay = SimulatedRelay(unlimited)
    let bo = relay.connect("bo")
    bo.join("den")
    relay.run()
    _ = bo.take()
    _ = Den(relay)
    let told = bo.take()
    #expect(Self.entries(told).isEmpty && Self.left(told) == [.init(seq: 1, by: "ada")])
  }
}
