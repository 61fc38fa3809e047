import ShardWorld
import Testing
import Wire

@testable import Relay

/// Blocks, as connections see them.
@Suite struct `Blocks, on connections` {
  private typealias Send = ClientMessage.Send

  private let relay = SimulatedRelay(loops: 2, unlimited)
  private let room = "dm:ada:bo"

  private func send(_ socket: SimulatedSocket, _ text: String) {
    socket.send(.send(Send(room: room, id: text, text: text)))
    relay.run()
  }

  private func block(_ socket: SimulatedSocket, _ user: String, on: Bool = true) {
    socket.send(.block(user: user, on: on))
    relay.run()
  }

  private static func texts(_ messages: [ServerMessage]) -> [String?] {
    messages.compactMap { if case .message(let entry) = $0 { .some(entry.text) } else { nil } }
  }

  private static func presences(_ messages: [ServerMessage]) -> [Presence] {
    messages.compactMap {
      if case .presence(let presence) = $0 { presence.presence } else { nil }
    }
  }

  /// Two users who have joined their direct room, on two loops.
  private func conversation() -> (ada: SimulatedSocket, bo: SimulatedSocket) {
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo", loop: 1))
    send(ada, "hello")
    for socket in [ada, bo] { socket.join(room, after: 0) }
    relay.run(forMilliseconds: 2000)
    for socket in [ada, bo] { _ = socket.take() }
    return (ada, bo)
  }

  @Test(arguments: [1, 20])
  func `a forward has the last text that its sender is shown`(hiddenEdits: Int) {
    let (ada, bo) = conversation()
    func edit(_ text: String) {
      bo.send(.send(Send(room: room, id: text, edit: 2, text: text)))
      relay.run()
    }
    send(bo, "first")
    edit("second")
    for round in 0..<2 {
      block(ada, "bo")
      for count in 0..<hiddenEdits { edit("hidden \(round) \(count)") }
      block(ada, "bo", on: false)
    }
    ada.join("copies", after: 0)
    relay.run()
    _ = ada.take()
    ada.send(
      .send(Send(room: "copies", id: "1", forward: Forward(room: room, seq: 2))))
    relay.run()
    #expect(Self.texts(ada.take()) == ["second"])
  }

  @Test func `a reply finds no hidden entry`() {
    let (ada, bo) = conversation()
    block(ada, "bo")
    send(bo, "spam")
    send(ada, "peace")
    _ = ada.take()
    ada.send(.send(Send(room: room, id: "1", text: "what?", replyTo: 2)))
    ada.send(.send(Send(room: room, id: "2", text: "my own", replyTo: 3)))
    relay.run()
    let messages = ada.take()
    let errors = messages.compactMap { if case .error(let error) = $0 { error } else { nil } }
    #expect(errors.map(\.code) == [.noSuchEntry])
    #expect(errors.map(\.field) == ["reply_to"])
    #expect(Self.texts(messages) == ["my own"])
  }

  @Test func `a report or a block that cannot be stored is refused with the room that it names`() {
    let (ada, bo) = conversation()
    relay.log.store.failsCommits = true
    ada.send(.report(room: room, seq: 1, reason: "spam"))
    ada.send(.block(user: "bo", on: true))
    relay.run()
    let errors = ada.take().compactMap { if case .error(let error) = $0 { error } else { nil } }
    #expect(errors.map(\.code) == [.unavailable, .unavailable])
    #expect(errors.map(\.room) == [room, nil])
    relay.log.store.failsCommits = false
    send(bo, "still here")
    #expect(Self.texts(ada.take()) == ["still here"])
  }

  @Test func `reports that cannot be stored do not count towards the limit of a day`() {
    let (ada, bo) = conversation()
    let limit = Int64(EntryLimits.reportsPerDay)
    for number in 2...limit { send(bo, "\(number)") }
    relay.log.store.failsCommits = true
    for seq in 1...limit { ada.send(.report(room: room, seq: seq, reason: "spam")) }
    relay.run()
    _ = ada.take()
    relay.log.store.failsCommits = false
    ada.send(.report(room: room, seq: 1, reason: "spam"))
    relay.run(forMilliseconds: 2000)
    let errors = ada.take().compactMap {
      if case .error(let error) = $0 { error.code } else { nil }
    }
    #expect(errors == [])
  }

  @Test
  func `a live cursor of the user who blocks gets the place of an entry, and later its successor`()
  {
    let (ada, bo) = conversation()
    block(ada, "bo")
    _ = ada.take()
    send(bo, "spam")
    send(ada, "peace")
    #expect(Self.texts(ada.take()) == [nil, "peace"])
    #expect(Self.texts(bo.take()) == ["spam", "peace"])
    block(ada, "bo", on: false)
    send(bo, "sorry")
    #expect(Self.texts(ada.take()) == ["sorry"])
    ada.send(.leave(room: room, forget: false))
    ada.join(room, after: 0)
    relay.run()
    #expect(Self.texts(ada.take()) == ["hello", nil, "peace", "sorry"])
  }

  @Test func `neither of the two gets the other's typing, receipts and presence`() {
    let (ada, bo) = conversation()
    block(ada, "bo")
    relay.run(forMilliseconds: 2000)
    #expect(Self.presences(bo.take()) == [.offline])
    #expect(Self.presences(ada.take()) == [.offline])
    for socket in [ada, bo] {
      socket.send(.typing(room: room, on: true))
      socket.send(.read(room: room, seq: 1))
      socket.send(.presence(isAway: true))
    }
    relay.run(forMilliseconds: 5000)
    for (socket, user) in [(ada, "ada"), (bo, "bo")] {
      let foreign = socket.take().filter {
        switch $0 {
        case .typing, .presence: true
        case .receipt(_, let marks): marks.user != user
        default: false
        }
      }
      #expect(foreign == [])
    }
    // A new device of the blocked one sees no more.
    let later = relay.connect("bo", loop: 1)
    later.send(.rooms(.init()))
    relay.run(forMilliseconds: 2000)
    let rows = later.take().compactMap {
      if case .rooms(let rows, _) = $0 { rows.first } else { nil }
    }
    #expect(rows.map(\.presence) == [.offline])
    block(ada, "bo", on: false)
    relay.run(forMilliseconds: 2000)
    #expect(Self.presences(bo.take()) == [.away])
  }

  @Test func `hidden entries make no activity, and all devices know of the block`() {
    let (ada, bo) = conversation()
    let phone = relay.connect("ada", loop: 1)
    phone.send(.rooms(.init()))
    relay.run(forMilliseconds: 2000)
    _ = phone.take()
    block(ada, "bo")
    #expect(phone.take().contains(.blocks(["bo"])))
    send(bo, "spam")
    relay.run(forMilliseconds: 3000)
    #expect(phone.take().contains { if case .activity = $0 { true } else { false } } == false)
    send(ada, "peace")
    relay.run(forMilliseconds: 3000)
    let told = phone.take().compactMap {
      if case .activity(let activity) = $0 { activity } else { nil }
    }
    #expect(told.map(\.last?.text) == ["peace"])
    #expect(told.map(\.unread) == [0])
    phone.send(.blocks, ref: "b")
    relay.run()
    #expect(phone.take() == [.blocks(["bo"])])
  }

  @Test func `a block in return tells nothing of a presence that is hidden already`() {
    let (ada, bo) = conversation()
    block(ada, "bo")
    relay.run(forMilliseconds: 2000)
    _ = bo.take()
    block(bo, "ada")
    block(bo, "ada", on: false)
    relay.run(forMilliseconds: 2000)
    #expect(bo.take().filter { if case .presence = $0 { true } else { false } } == [])
  }

  @Test func `typing ends with the block, as if the other one had gone offline`() {
    let (ada, bo) = conversation()
    ada.join("tea")
    bo.join("tea")
    relay.run(forMilliseconds: 2000)
    for room in [room, "tea"] { ada.send(.typing(room: room, on: true)) }
    relay.run(forMilliseconds: 1000)
    _ = bo.take()
    block(ada, "bo")
    func typing(_ messages: [ServerMessage]) -> [String] {
      messages.compactMap {
        if case .typing(let room, _, let on) = $0 { "\(room) \(on)" } else { nil }
      }
    }
    #expect(typing(bo.take()).sorted() == ["\(room) false", "tea false"])
    relay.run(forMilliseconds: 9000)
    #expect(typing(bo.take()) == [])
  }

  @Test func `typing ends for no connection whose join is not answered yet`() {
    let (ada, bo) = conversation()
    let phone = relay.connect("bo", loop: 1)
    for socket in [ada, bo] { socket.join("tea") }
    relay.run(forMilliseconds: 2000)
    ada.send(.typing(room: "tea", on: true))
    relay.run(forMilliseconds: 1000)
    _ = phone.take()
    phone.join("tea")
    block(ada, "bo")
    let messages = phone.take()
    #expect(messages.contains { if case .joined = $0 { true } else { false } })
    #expect(!messages.contains { if case .typing = $0 { true } else { false } })
  }

  @Test
  func `to the blocked user the other one was last seen at the block, whatever they do since`() {
    let (ada, bo) = conversation()
    relay.run(forMilliseconds: 5000)
    block(ada, "bo")
    relay.run(forMilliseconds: 2000)
    func seen(_ messages: [ServerMessage]) -> [Int64?] {
      messages.compactMap {
        switch $0 {
        case .presence(let presence): .some(presence.lastSeen)
        case .rooms(let rows, _): .some(rows.first?.lastSeen)
        default: nil
        }
      }
    }
    let first = seen(bo.take())
    #expect(first.count == 1 && first[0] != nil)
    bo.send(.rooms(.init()))
    relay.run(forMilliseconds: 2000)
    relay.disconnect(ada)
    relay.run(forMilliseconds: 9000)
    bo.send(.rooms(.init()))
    relay.run(forMilliseconds: 2000)
    #expect(seen(bo.take()) == [first[0], first[0]])
  }

  @Test func `a trace does not tell the sender of hidden entries who has the room open`() {
    let (ada, bo) = conversation()
    block(ada, "bo")
    for number in 0..<5 { send(bo, "spam \(number)") }
    _ = ada.take()
    for seq in Int64(2)...6 {
      #expect(relay.shard { $0.fanOut(of: seq, inRoom: room) } == nil)
      #expect(relay.shard(1) { $0.fanOut(of: seq, inRoom: room) }?.sessions == 1)
      #expect(relay.shard(1) { $0.fanOut(of: seq, inRoom: room) }?.lagging == 0)
    }
  }

  @Test func `every connection learns once that a request was accepted, also where it is joined`() {
    let relay = SimulatedRelay(loops: 2) {
      unlimited(&$0)
      $0.asksStrangers = true
    }
    let bo = relay.connect("bo")
    bo.send(.send(Send(room: room, id: "1", text: "hello")))
    relay.run()
    let (phone, desk) = (relay.connect("ada"), relay.connect("ada", loop: 1))
    for socket in [phone, desk] { socket.send(.rooms(.init())) }
    desk.join(room, after: 0)
    relay.run(forMilliseconds: 2000)
    for socket in [phone, desk] { _ = socket.take() }
    for expected in [[false], []] {
      phone.send(.accept(room: room))
      relay.run(forMilliseconds: 2000)
      for socket in [phone, desk] {
        let told = socket.take().compactMap {
          if case .activity(let activity) = $0 { activity.isRequest } else { nil }
        }
        #expect(told == expected)
      }
    }
    bo.send(.send(Send(room: room, id: "2", text: "again")))
    relay.run(forMilliseconds: 2000)
    #expect(desk.take().contains { if case .activity = $0 { true } else { false } } == false)
  }

  @Test func `a user blocks at most a thousand others, and never themself`() {
    let ada = relay.connect("ada")
    block(ada, "ada")
    #expect(ada.take().compactMap(\.code) == [.badField])
    for number in 0...EntryLimits.blocksPerUser { block(ada, "user-\(number)") }
    #expect(ada.take().compactMap(\.code) == [.limitReached])
  }
}

extension ServerMessage {
  fileprivate var code: ErrorCode? { if case .error(let error) = self { error.code } else { nil } }
}
