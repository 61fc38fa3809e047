import Mixing
import Testing

@testable import Swarm

@Suite struct `A plan` {
  static func scenario(_ yaml: String) throws -> Scenario {
    try Scenario(yaml: Array(yaml.utf8), file: "test.yaml")
  }

  static let everything = """
    seed: 42
    rooms:
      - { shape: one }
      - { shape: many, count: 7, per_client: 2 }
      - { shape: zipf, count: 30, per_client: 3, exponent: 1.2 }
      - { shape: dms, per_client: 2 }
    clients:
      - { persona: chatter, count: 20 }
      - { persona: lurker, count: 10 }
      - { persona: burst, count: 3, size: 4 }
      - { persona: slow_reader, count: 2 }
      - { persona: flapper, count: 5 }
      - { persona: mobile, count: 5 }
    phases:
      - { seconds: 2, connections: { poisson: 30 }, messages: { poisson: 20 } }
      - { seconds: 10, connections: { constant: 10 }, messages: { ramp: [10, 100] } }
      - { seconds: 5, messages: { spike: [10, 200] } }
    chaos: [{ do: restart, at_s: 3, times: 2, every_s: 4 }, { do: kill, at_s: 1 }]
    """

  @Test func `the same seed gives the same plan, another one another`() throws {
    let scenario = try Self.scenario(Self.everything)
    let plan = Plan(scenario)
    #expect(plan == Plan(scenario))
    #expect(plan == Plan(scenario, seed: 42))
    #expect(plan.events != Plan(scenario, seed: 43).events)
  }

  /// Compared with fixed numbers, so that a change in the meaning of old seeds is detected.
  @Test func `a seed means the same on every machine`() throws {
    var random = SplitMix64(seed: 0)
    #expect(random.next() == 0xE220_A839_7B1D_CDAF)
    #expect(random.next() == 0x6E78_9E6A_A1B9_65F4)
    let arrivals = Scenario.Arrivals.poisson(10).times(milliseconds: 1000, &random)
    #expect(arrivals.allSatisfy { $0 < 1_000_000_000 })
    #expect(arrivals == arrivals.sorted())
  }

  @Test func `events are in order, numbered, and from connected clients`() throws {
    let plan = Plan(try Self.scenario(Self.everything))
    #expect(zip(plan.events, plan.events.dropFirst()).allSatisfy { $0.at <= $1.at })
    var isThere = Array(repeating: false, count: plan.clients.count)
    var numbers = Array(repeating: 0, count: plan.clients.count)
    for event in plan.events {
      #expect(event.at < plan.duration)
      switch event.kind {
      case .connect(let client), .wake(let client):
        #expect(!isThere[client])
        isThere[client] = true
      case .cut(let client):
        #expect(isThere[client])
        isThere[client] = false
      case .send(let client, let room, let number, let bytes):
        #expect(isThere[client])
        #expect(plan.clients[client].persona.speaks)
        #expect(plan.clients[client].rooms.contains(room))
        numbers[client] += 1
        #expect(number == numbers[client])
        #expect((64...256).contains(bytes))
      case .phase, .chaos, .reset, .goOn, .freeDisk, .hostility: break
      }
    }
    #expect(isThere.count { $0 } == plan.clients.count - plan.clientsLeftOut)
  }

  @Test func `each client is in the rooms of its group, once in each`() throws {
    let plan = Plan(try Self.scenario(Self.everything))
    for client in plan.clients {
      #expect(client.rooms.count == 1 + 2 + 3 + 4)
      #expect(Set(client.rooms).count == client.rooms.count)
    }
    // One, 7, 30, and 45 clients with two neighbours each.
    #expect(plan.rooms.count == 1 + 7 + 30 + 90)
  }

  @Test func `zipf fills the first room most`() throws {
    let plan = Plan(
      try Self.scenario(
        """
        rooms: [{ shape: zipf, count: 100, exponent: 1 }]
        clients: [{ persona: lurker, count: 10000 }]
        phases: [{ seconds: 1, connections: { constant: 10000 } }]
        """))
    var sizes = Array(repeating: 0, count: 100)
    for client in plan.clients { sizes[client.rooms[0]] += 1 }
    // H(100) = 5.187: the first has 19.3 % of all, the second half of that.
    #expect(abs(sizes[0] - 1928) < 150)
    #expect(abs(sizes[1] - 964) < 120)
    #expect(sizes[99] < 60)
  }

  @Test(arguments: [
    ("constant: 200", 10.0, 2000), ("ramp: [0, 100]", 10, 500), ("spike: [10, 110]", 10, 300),
    ("constant: 0", 10, 0),
  ])
  func `rates give as many as the area under them`(
    arrivals: String, seconds: Double, count: Int
  ) throws {
    let scenario = try Self.scenario(
      """
      rooms: [{ shape: one }]
      clients: [{ persona: chatter, count: 1 }]
      phases: [{ seconds: \(seconds), connections: { constant: 1 }, messages: { \(arrivals) } }]
      """)
    var random = SplitMix64(seed: 1)
    let times = scenario.phases[0].messages.times(
      milliseconds: scenario.phases[0].milliseconds, &random)
    #expect(times.count == count)
    #expect(times.allSatisfy { $0 <= UInt64(seconds * 1e9) })
    #expect(times == times.sorted())
  }

  @Test func `constant arrivals are evenly spaced, and a spike is in the middle fifth`() {
    var random = SplitMix64(seed: 1)
    let even = Scenario.Arrivals.constant(100).times(milliseconds: 1000, &random)
    for (index, time) in even.enumerated() {
      #expect(time.distance(to: UInt64(index) * 10_000_000).magnitude < 1000)
    }
    let spike = Scenario.Arrivals.spike(base: 0, peak: 100).times(milliseconds: 10_000, &random)
    #expect(spike.count == 200)
    #expect(spike.dropFirst().allSatisfy { (4_000_000_000...6_000_000_000).contains($0) })
  }

  @Test func `poisson arrivals have their mean, and are not even`() {
    var random = SplitMix64(seed: 9)
    let times = Scenario.Arrivals.poisson(1000).times(milliseconds: 20_000, &random)
    // 20,000 with a deviation of 141: five of these.
    #expect(abs(times.count - 20_000) < 707)
    let gaps = zip(times, times.dropFirst()).map { Double($1 - $0) / 1e6 }
    // Of an exponential distribution 1/e are longer than the mean.
    let long = Double(gaps.count { $0 > 1 }) / Double(gaps.count)
    #expect(abs(long - 0.3679) < 0.02)
  }

  @Test func `the logarithm and the power are those of mathematics`() {
    #expect(abs(Exponential.logarithm(2.718281828459045) - 1) < 1e-13)
    #expect(abs(Exponential.logarithm(1e-9) + 20.72326583694641) < 1e-12)
    #expect(abs(Exponential.power(10, 2.5) - 316.22776601683796) < 1e-9)
    #expect(Exponential.power(7, 1) > 6.999999999)
    #expect(Exponential.power(7, 1) < 7.000000001)
  }

  @Test func `texts contain sender, number and time, and have the right length`() {
    let id = Naming.SendID(client: 3, number: 12)
    let text = MessageText.text(user: "sw-x-3", id, at: 5_000_000, bytes: 200, seed: 1)
    #expect(text.hasPrefix("sw-x-3 #12 @5000us "))
    #expect(text.utf8.count == 200)
    #expect(text == MessageText.text(user: "sw-x-3", id, at: 5_000_000, bytes: 200, seed: 1))
    #expect(MessageText.digest(text) != MessageText.digest(text + "x"))
  }

  @Test func `names are parsed back to users and rooms, and others are not`() throws {
    let naming = Naming(
      Plan(try Self.scenario(Self.everything)), tag: "0123456789abcdefghij")
    let send = Naming.SendID(client: 17, number: 4)
    #expect(naming.send(ofID: naming.id(of: send)) == send)
    for id in ["", "x", "0123456789abcdefghij-99-1", "0123456789abcdefghij-1", "other-17-4"] {
      #expect(naming.send(ofID: id) == nil)
    }
    #expect(naming.id(of: send).utf8.count <= 64)
    for (index, room) in naming.rooms.enumerated() {
      #expect(naming.room(room) == index)
    }
    #expect(naming.room("general") == nil)
  }
}
