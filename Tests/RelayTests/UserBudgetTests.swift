import ShardWorld
import Testing
import Wire

@testable import Relay

/// What happens to a client that sends more than its user may.
@Suite struct `A user who sends too much is slowed` {
  private func limited(
    _ configuration: inout Shard.Configuration, sends: Int = 20, burst: Int = 40,
    requests: Int = 0, bytes: Int = 0, connections: Int = 0
  ) {
    unlimited(&configuration)
    configuration.limits.budget.sendsPerSecond = sends
    configuration.limits.budget.burst = burst
    configuration.limits.budget.requestsPerSecond = requests
    configuration.limits.budget.bytesPerSecond = bytes
    configuration.limits.budget.connections = connections
  }

  @Test func `every send is acknowledged, in order and without an error, at the rate of the limit`()
  {
    let relay = SimulatedRelay { limited(&$0, sends: 20, burst: 40) }
    let ada = relay.connect("ada")
    for id in 1...100 { ada.post("r", "\(id)") }
    relay.run()
    var messages = ada.take()
    #expect(messages.acks.map(\.id) == (1...40).map(String.init))
    relay.run(forMilliseconds: 1000)
    messages = ada.take()
    #expect(messages.acks.map(\.id) == (41...60).map(String.init))
    relay.run(forMilliseconds: 2000)
    messages = ada.take()
    #expect(messages.acks.map(\.seq) == Array(61...100))
    #expect(messages.errors.isEmpty)
  }

  @Test func `messages beyond the budget stay in the sender's own socket`() {
    let relay = SimulatedRelay { limited(&$0) }
    let ada = relay.connect("ada")
    for id in 1...10_000 { ada.post("r", "\(id)") }
    relay.run()
    #expect(ada.input.count == 10_000 - 40)
    #expect(relay.queuedBytes(ada) == 0)
  }

  @Test func `others are not slowed, and their messages still arrive`() {
    let relay = SimulatedRelay { limited(&$0) }
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    ada.join("r")
    relay.run()
    for id in 1...1000 { ada.post("r", "\(id)") }
    relay.run()
    _ = ada.take()
    bo.post("r", "hello")
    bo.send(.ping(t: nil))
    relay.run()
    let heard = bo.take()
    #expect(heard.acks.map(\.id) == ["hello"])
    #expect(heard.contains { if case .pong = $0 { true } else { false } })
    #expect(ada.take().entries.map(\.id) == ["hello"])
  }

  @Test(arguments: [1, 2])
  func `a phone waits for one token beside a script on forty-nine connections`(loops: Int) {
    let relay = SimulatedRelay(loops: loops) { limited(&$0, connections: 50) }
    let phone = relay.connect("ada")
    let script = (0..<49).map { relay.connect("ada", loop: $0 % loops) }
    for (number, socket) in script.enumerated() {
      for id in 0..<1000 { socket.post("r", "\(number)-\(id)") }
    }
    relay.run(forMilliseconds: 10_000)
    for id in 1...3 {
      phone.post("r", "phone-\(id)")
      relay.run(forMilliseconds: 120)
      #expect(phone.take().acks.map(\.id) == ["phone-\(id)"])
      relay.run(forMilliseconds: 2500)
    }
  }

  @Test(arguments: [1, 2])
  func `fifty connections take turns, each in two and a half seconds`(loops: Int) {
    let relay = SimulatedRelay(loops: loops) { limited(&$0, connections: 50) }
    let sockets = (0..<50).map { relay.connect("ada", loop: $0 % loops) }
    for (number, socket) in sockets.enumerated() {
      for id in 0..<100 { socket.post("r", "\(number)-\(id)") }
    }
    relay.run(forMilliseconds: 2600)
    for socket in sockets { _ = socket.take() }
    for _ in 0..<4 {
      // Fifty tokens, and the millisecond by which a turn may come later.
      relay.run(forMilliseconds: 2550)
      for socket in sockets { #expect(!socket.take().acks.isEmpty) }
    }
    // Together they get no more than the rate.
    let before = relay.head("r")
    relay.run(forMilliseconds: 10_000)
    #expect(relay.head("r") - before <= 200)
  }

  @Test func `reconnecting gains nothing over connections that wait`() {
    let relay = SimulatedRelay { limited(&$0, sends: 10, burst: 1, connections: 50) }
    let phone = relay.connect("ada")
    var script = (0..<20).map { _ in relay.connect("ada") }
    for socket in script { socket.post("r", "x\(socket.connection)") }
    relay.run()
    phone.post("r", "phone")
    relay.run()
    var waited = 0
    var isAcknowledged = false
    while waited < 2000, !isAcknowledged {
      // Each of the script's connections ends once it was served, and another one comes.
      for place in script.indices where !script[place].take().acks.isEmpty {
        relay.disconnect(script[place])
        script[place] = relay.connect("ada")
        script[place].post("r", "x\(script[place].connection)")
      }
      relay.run(forMilliseconds: 10)
      waited += 10
      isAcknowledged = !phone.take().acks.isEmpty
    }
    #expect(isAcknowledged)
    #expect(waited <= 1000)
  }

  @Test func `a connection that ends while it waits leaves its turn to the others`() {
    let relay = SimulatedRelay { limited(&$0, sends: 1, burst: 1) }
    let (first, second) = (relay.connect("ada"), relay.connect("ada"))
    first.post("r", "1")
    first.post("r", "2")
    second.post("r", "3")
    relay.run()
    relay.disconnect(second)
    _ = first.take()
    relay.run(forMilliseconds: 1100)
    #expect(first.take().acks.map(\.id) == ["2"])
  }

  @Test func `bytes are charged as they are after inflating, and one message may leave a debt`() {
    let relay = SimulatedRelay { limited(&$0, sends: 0, bytes: 10_000) }
    let ada = relay.connect("ada")
    for id in 1...5 { ada.post("r", "\(id)", text: String(repeating: "x", count: 30_000)) }
    relay.run()
    #expect(ada.take().acks.count == 1)
    // Two seconds of debt, and a little for the rest of the message.
    relay.run(forMilliseconds: 1900)
    #expect(ada.take().acks.isEmpty)
    relay.run(forMilliseconds: 300)
    #expect(ada.take().acks.count == 1)
    relay.run(forMilliseconds: 10_000)
    #expect(ada.take().acks.count == 3)
  }

  @Test func `duplicates are charged as requests`() {
    let relay = SimulatedRelay { limited(&$0, sends: 0, requests: 10) }
    let ada = relay.connect("ada")
    for _ in 1...5000 { ada.post("r", "1") }
    relay.run(forMilliseconds: 10_000)
    // They are charged when the log has answered: until then as many pass as may be under way.
    #expect(ada.take().acks.count < 300)
    #expect(ada.input.count > 4700)
  }

  @Test func `duplicates do not give sends back`() {
    let relay = SimulatedRelay { limited(&$0, sends: 20, burst: 40, requests: 50) }
    let ada = relay.connect("ada")
    for _ in 1...5000 { ada.post("r", "1") }
    relay.run()
    var acks = ada.take().acks.count
    #expect(acks <= 140)
    relay.run(forMilliseconds: 10_000)
    acks += ada.take().acks.count
    #expect(acks <= 140 + 10 * 50)
  }

  @Test func `typing, marks and presence are requests as well`() {
    let relay = SimulatedRelay { limited(&$0, sends: 0, requests: 10) }
    let ada = relay.connect("ada")
    ada.join("r")
    relay.run(forMilliseconds: 1000)
    for _ in 1...1000 {
      ada.send(.typing(room: "r", on: true))
      ada.send(.read(room: "r", seq: 1))
      ada.send(.presence(isAway: true))
    }
    relay.run(forMilliseconds: 2000)
    #expect(ada.input.count == 3000 - 30)
  }

  @Test func `a user has a limited number of connections over all loops, one that ends makes room`()
  {
    let relay = SimulatedRelay(loops: 2) { limited(&$0, sends: 0, connections: 3) }
    let sockets = (0..<4).map { relay.connect("ada", loop: $0 % 2) }
    relay.run()
    #expect(sockets[2].isOpen)
    let refused = sockets[3]
    #expect(refused.take().errors.map(\.code) == [.limitReached])
    #expect(refused.closeCode == 1013)
    #expect(relay.connect("bo").isOpen)
    relay.disconnect(sockets[0])
    let again = relay.connect("ada", loop: 1)
    relay.run()
    #expect(again.take().errors.isEmpty)
    #expect(again.isOpen)
  }
}

@Suite struct `The budget of one user` {
  @Test func `keeps the turn of a connection that was called until it is read`() throws {
    var limits = UserBudget.Limits()
    limits.sendsPerSecond = 1
    limits.burst = 1
    let budget = UserBudget(UserBudget.Terms(limits), now: 0)
    let called = try #require(budget.connect(now: 0))
    let other = try #require(budget.connect(now: 0))
    _ = budget.charge(.send, bytes: 1)
    #expect(budget.delay(called, now: 0) != nil)
    #expect(budget.delay(other, now: 0) != nil)
    #expect(budget.delay(called, keepsPlace: true, now: 1000) == nil)
    // Another loop looks before the one that was called is read.
    #expect(budget.delay(other, now: 1000) != nil)
    #expect(budget.delay(called, now: 1000) == nil)
    #expect(budget.delay(other, now: 1000) == nil)
  }
}

@Suite struct `Budgets of payers` {
  private func budgets(sends: Int = 2, burst: Int = 4, requests: Int = 3) -> Budgets<String> {
    var limits = UserBudget.Limits()
    limits.sendsPerSecond = sends
    limits.burst = burst
    limits.requestsPerSecond = requests
    limits.bytesPerSecond = 0
    limits.connections = 0
    return Budgets(limits)
  }

  @Test func `a payer has one for sends and one for the rest`() {
    let budgets = budgets()
    for _ in 1...4 { #expect(budgets.take(.send, bytes: 0, from: "ada", now: 0) == nil) }
    #expect(budgets.take(.send, bytes: 0, from: "ada", now: 0) == 500)
    #expect(budgets.take(.send, bytes: 0, from: "bo", now: 0) == nil)
    for _ in 1...3 { #expect(budgets.take(.request, bytes: 0, from: "bo", now: 0) == nil) }
    #expect(budgets.take(.request, bytes: 0, from: "bo", now: 0) == 334)
    #expect(budgets.take(.send, bytes: 0, from: "ada", now: 500) == nil)
    #expect(budgets.take(.send, bytes: 0, from: "ada", now: 500) == 500)
  }

  @Test func `a send that made no entry is charged as a request`() {
    let budgets = budgets()
    for _ in 1...3 {
      #expect(budgets.take(.send, bytes: 0, from: "ada", now: 0) == nil)
      budgets.refundDuplicate(of: "ada")
    }
    #expect(budgets.take(.request, bytes: 0, from: "ada", now: 0) == 334)
  }

  @Test func `no limit is none`() {
    let budgets = budgets(sends: 0, burst: 0, requests: 0)
    for _ in 1...1000 {
      #expect(budgets.take(.send, bytes: 1000, from: "ada", now: 0) == nil)
      #expect(budgets.take(.request, bytes: 1000, from: "ada", now: 0) == nil)
    }
    #expect(budgets.count == 0)
  }

  @Test func `a payer that is at rest is forgotten, and the number of others is bounded`() {
    let budgets = budgets()
    for number in 0..<1024 { _ = budgets.take(.send, bytes: 0, from: "\(number)", now: 0) }
    #expect(budgets.count == 1024)
    for number in 0..<100 { _ = budgets.take(.send, bytes: 0, from: "later\(number)", now: 10_000) }
    #expect(budgets.count == 100)
    for number in 0..<300_000 {
      _ = budgets.take(.send, bytes: 0, from: "crowd\(number)", now: 10_000)
    }
    #expect(budgets.count == 262_144)
    // One of the crowd is still held to its limit, and a newcomer waits.
    for _ in 1...3 { #expect(budgets.take(.send, bytes: 0, from: "crowd0", now: 10_000) == nil) }
    #expect(budgets.take(.send, bytes: 0, from: "crowd0", now: 10_000) == 500)
    #expect(budgets.take(.send, bytes: 0, from: "newcomer", now: 10_000) == 1000)
    #expect(budgets.take(.send, bytes: 0, from: "newcomer", now: 20_000) == nil)
  }

  @Test func `nothing is kept of payers that have left`() throws {
    let budgets = budgets()
    let crowd = try (0..<3000).map { try #require(budgets.connect("\($0)", now: 0)) }
    budgets.evictIdle(now: 5000)
    #expect(budgets.count == 3000)
    for (budget, rank) in crowd { budgets.disconnect(budget, rank: rank) }
    budgets.evictIdle(now: 10_000)
    #expect(budgets.count == 0)
  }

  @Test func `a connection that waits is served before the next request over HTTP`() throws {
    let budgets = budgets(sends: 10, burst: 1)
    let (budget, rank) = try #require(budgets.connect("ada", now: 0))
    #expect(budgets.take(.send, bytes: 0, from: "ada", now: 0) == nil)
    #expect(budget.delay(rank, now: 0)?.milliseconds == 100)
    #expect(budgets.take(.send, bytes: 0, from: "ada", now: 100) == 1)
    #expect(budget.delay(rank, now: 100) == nil)
    let next = budget.charge(.send, bytes: 0)
    // And then HTTP is the one that was served less recently.
    #expect(budget.delay(next, now: 150)?.milliseconds == 50)
    #expect(budgets.take(.send, bytes: 0, from: "ada", now: 200) == nil)
    #expect(budgets.take(.send, bytes: 0, from: "ada", now: 250) == 50)
  }

  @Test func `a script on a connection does not silence HTTP, nor HTTP the connection`() throws {
    let budgets = budgets(sends: 10, burst: 1)
    let connected = try #require(budgets.connect("ada", now: 0))
    let budget = connected.0
    var rank = connected.rank
    var served = (connection: 0, http: 0)
    for now in Int64(0)..<10_000 {
      // Both ask in every millisecond, and the connection is the first to do so.
      if budget.delay(rank, now: now) == nil {
        rank = budget.charge(.send, bytes: 0)
        served.connection += 1
      }
      if budgets.take(.send, bytes: 0, from: "ada", now: now) == nil { served.http += 1 }
    }
    #expect((45...55).contains(served.connection))
    #expect((45...55).contains(served.http))
  }
}
