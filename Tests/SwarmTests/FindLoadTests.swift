import Testing

@testable import Swarm

@Suite struct `A scenario with more load` {
  private static func scenario(_ extra: String = "") throws -> Scenario {
    try Scenario(
      yaml: Array(
        """
        rooms: [{ shape: many, count: 4 }]
        clients: [{ persona: chatter, count: 30 }, { persona: lurker, count: 7 }]
        phases:
          - { seconds: 2, connections: { constant: 19 } }
          - { seconds: 10, messages: { ramp: [10, 50] } }
          - { seconds: 10, messages: { spike: [20, 100] } }
          - { seconds: 1 }
        chaos: [{ do: cut, at_s: 11.5 }]
        \(extra)
        """.utf8), file: "a.yaml")
  }

  private static func plan(_ scenario: Scenario) -> (messages: Int, clients: Int, seconds: Double) {
    let plan = Plan(scenario)
    return (plan.messageCount, plan.honestCount, Double(plan.duration) / 1e9)
  }

  @Test(arguments: [1, 1.5, 2.83, 10])
  func `has a multiple of the messages, at the same times`(factor: Double) throws {
    let scenario = try Self.scenario()
    let before = Self.plan(scenario)
    let after = Self.plan(scenario.loaded(factor))
    #expect(abs(Double(after.messages) - Double(before.messages) * factor) <= 2)
    #expect(after.clients == before.clients)
    #expect(after.seconds == before.seconds)
    #expect(abs(scenario.loaded(factor).peakMessagesPerSecond - 100 * factor) < 1e-9)
  }

  @Test(arguments: [1, 1.5, 2.83, 10])
  func `may have a multiple of the clients, all connected in time`(factor: Double) throws {
    let scenario = try Self.scenario()
    let loaded = scenario.loaded(factor, clients: true)
    let plan = Plan(loaded)
    #expect(plan.clientsLeftOut == 0)
    #expect(plan.messagesLeftOut == 0)
    #expect(abs(Double(plan.honestCount) - 37 * factor) <= 1)
    let share = Double(loaded.clients[0].count) / Double(loaded.clients[1].count)
    #expect((3.5...5).contains(share))
  }

  @Test(arguments: [3, 5.5, 11.5, 22.9])
  func `in less time keeps its rates, its clients and the order of events`(seconds: Double) throws {
    let scenario = try Self.scenario()
    let short = scenario.shortened(toSeconds: seconds)
    let plan = Plan(short)
    #expect(abs(Double(plan.duration) / 1e9 - seconds) < 0.01)
    #expect(plan.clientsLeftOut == 0)
    #expect(short.peakMessagesPerSecond == 100)
    #expect(abs(Double(plan.messageCount + plan.messagesLeftOut) - 660 * seconds / 23) <= 2)
    let share = Double(short.chaos[0].atMilliseconds) / 1000 / seconds
    #expect(abs(share - 0.5) < 0.01)
  }

  @Test func `is never made longer`() throws {
    let scenario = try Self.scenario()
    #expect(scenario.shortened(toSeconds: 23) == scenario)
    #expect(scenario.shortened(toSeconds: 100) == scenario)
  }

  @Test func `the file says how long a run of a search is`() throws {
    #expect(try Self.scenario().find.seconds == nil)
    #expect(try Self.scenario("find: { seconds: 7.5 }").find.seconds == 7.5)
    for (text, expected) in [
      ("find: { second: 3 }", "find.second is not a known key; did you mean find.seconds?"),
      ("find: { seconds: 0 }", "find.seconds is \"0\"; expected a number, more than 0"),
      ("find: 3", "find is \"3\"; expected keys and values"),
    ] {
      #expect {
        try Self.scenario(text)
      } throws: {
        "\($0)".contains("a.yaml:9: \(expected)")
      }
    }
  }

  @Test func `the largest load that is tried is named with its reason`() throws {
    let scenario = try Self.scenario()
    func most(_ asked: Double?, _ clients: Bool, _ descriptors: Int) -> (Double, String) {
      scenario.mostLoad(asked: asked, scalingClients: clients, descriptors: descriptors)
    }
    #expect(most(nil, false, 20_000) == (1024, "--max sets another"))
    #expect(most(3, true, 20_000).0 == 3)
    #expect(most(50_000, false, 20_000).0 == 10_000)
    let crowd = most(nil, true, 470)
    #expect(crowd.0 == 10)
    #expect(crowd.1.contains("at most 370 connections (ulimit -n)"))
    // The load that the scenario itself requests may fail, and is never reduced.
    #expect(most(nil, true, 110).0 == 1)
  }

  @Test func `a plan in which no client can send is refused`() throws {
    let plan = Plan(try Self.scenario().shortened(toSeconds: 1))
    let why = try #require(plan.silence)
    #expect(why.contains("give each run more time") || why.contains("Give each run more time"))
    #expect(Plan(try Self.scenario()).silence == nil)
  }
}

@Suite struct `The rate that a relay allows each client` {
  private static func plan(rate: Int, chatters: Int) throws -> Plan {
    Plan(
      try Scenario(
        yaml: Array(
          """
          rooms: [{ shape: one }]
          clients: [{ persona: chatter, count: \(chatters) }]
          phases:
            - { seconds: 2, connections: { constant: \(chatters) } }
            - { seconds: 20, messages: { constant: \(rate) } }
          """.utf8), file: "a.yaml"))
  }

  @Test func `is no obstacle if no client has to wait`() throws {
    let allowance = SendAllowance(sendsPerSecond: 20, burst: 40)
    #expect(allowance.obstacle(to: try Self.plan(rate: 100, chatters: 5)) == nil)
    // A little more than the rate, for as long as the burst lasts.
    #expect(allowance.obstacle(to: try Self.plan(rate: 105, chatters: 5)) == nil)
    let none = SendAllowance(sendsPerSecond: 0, burst: 1)
    #expect(none.obstacle(to: try Self.plan(rate: 1000, chatters: 1)) == nil)
  }

  @Test func `is an obstacle that names the key where sends would wait`() throws {
    let allowance = SendAllowance(sendsPerSecond: 20, burst: 40)
    let why = try #require(allowance.obstacle(to: try Self.plan(rate: 150, chatters: 5)))
    #expect(why.contains("its busiest client would send 30."), "\(why)")
    #expect(why.contains("limits.sends_per_s: 20, limits.burst: 40"))
    #expect(why.contains("spawn.config"))
  }
}

@Suite struct `The result of a search` {
  private static func attempt(_ factor: Double, _ result: LoadSearch.Result, ack: Double = 10)
    -> LoadTry
  {
    var outcome = PlantedOutcome.make()
    outcome.plan.clientsLeftOut = -3
    outcome.judgements[0].milliseconds = ack
    if result == .misses { outcome.judgements[0].milliseconds = 5000 }
    if result == .void { outcome.load.lagP99Milliseconds = 30 }
    var scenario = Scenario.planted
    scenario.phases = [
      .init(
        name: "talk", milliseconds: 1000, connections: .none, messages: .constant(200 * factor))
    ]
    return LoadTry(factor: factor, scenario, outcome)
  }

  private static func finding(_ tries: [LoadTry], _ end: LoadFinding.End = .answered) -> LoadFinding
  {
    var finding = LoadFinding(
      scenario: "planted", seed: 7, precision: 0.05, most: (8, "see --max"))
    finding.tries = tries
    finding.end = end
    return finding
  }

  @Test func `is printed with both loads, their rates and measures`() {
    let finding = Self.finding([
      Self.attempt(1, .holds), Self.attempt(4, .misses), Self.attempt(4, .misses),
      Self.attempt(3.2, .holds, ack: 990), Self.attempt(3.4, .misses), Self.attempt(3.4, .misses),
    ])
    #expect(
      finding.text == """
        holds at ×3.2 (640 messages/s): ack p99 990 ms (at most 2000)
        misses at ×3.4 (680 messages/s): ack p99 5000 ms (at most 2000)

        """)
    #expect(finding.exitCode == 0)
  }

  @Test func `a load that fails once and holds when repeated holds`() {
    let finding = Self.finding([
      Self.attempt(1, .holds), Self.attempt(8, .misses), Self.attempt(8, .holds),
    ])
    #expect(finding.holds?.factor == 8)
    #expect(finding.fails == nil)
    #expect(finding.text.contains("×8 is the largest load that was tried: see --max"))
  }

  @Test func `void is swarm's limit, and at the smallest load no answer`() {
    let finding = Self.finding([Self.attempt(1, .void), Self.attempt(1, .misses)])
    #expect(finding.exitCode == 4)
    #expect(
      finding.text.hasPrefix(
        "at ×1 (200 messages/s), the smallest load, swarm is the limit, not the relay: swarm's own"),
      "\(finding.text)")
    #expect(Self.finding([Self.attempt(1, .misses), Self.attempt(1, .misses)]).exitCode == 1)
  }

  @Test func `a load with missing or refused clients does not hold`() {
    var outcome = PlantedOutcome.make()
    outcome.plan.clientsLeftOut = -5
    let away = LoadTry(factor: 1, .planted, outcome)
    #expect(away.result == .misses)
    #expect(away.line.contains("3 of 5 clients were connected"), "\(away.line)")
    outcome.plan.clientsLeftOut = -3
    outcome.verdict.refused = 4
    outcome.lastRefusal = "too much"
    #expect(LoadTry(factor: 1, .planted, outcome).line.contains("4 sends were refused (too much)"))
  }

  @Test func `other results have their own exit codes and sentences`() {
    let tries = [Self.attempt(1, .holds)]
    let obstacle = Self.finding(tries, .obstacle(factor: 2, "too loud"))
    #expect(obstacle.exitCode == 2)
    #expect(obstacle.text.contains("×2 cannot be measured: too loud"))
    #expect(Self.finding(tries, .failed(.promiseBroken)).exitCode == 3)
    #expect(Self.finding(tries, .failed(.noConnection)).exitCode == 5)
    #expect(Self.finding(tries, .interrupted).exitCode == 130)
    #expect(Self.finding([], .obstacle(factor: 1, "x")).text == "×1 cannot be measured: x\n")
  }

  @Test func `programs get every try`() {
    let json = Self.finding([
      Self.attempt(1, .holds), Self.attempt(2, .void), Self.attempt(2, .void),
    ]).json
    #expect(json.hasPrefix(#"{"scenario":"planted","seed":"7","precision":0.05,"most":8,"#))
    #expect(json.contains(#""holds_at":1,"fails_at":2,"limit":"swarm","tries":[{"factor":1,"#))
    #expect(json.contains(#""thresholds":{"ack_p99_ms":{"limit":2000,"measured":10,"met":true}}"#))
    #expect(json.ranges(of: #"{"factor":2,"#).count == 2)
  }
}

extension Scenario {
  fileprivate static var planted: Scenario {
    guard
      let scenario = try? Scenario(
        yaml: Array("rooms: [{ shape: one }]\n\(`A scenario file`.rest)".utf8), file: "planted.yaml"
      )
    else { preconditionFailure("a scenario that other tests read") }
    return scenario
  }
}
