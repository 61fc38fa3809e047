import Mixing
import TestSupport
import Testing

@testable import Swarm

/// Relays that share a PostgreSQL of their own, and what happens to it.
@Suite(.serialized) struct `A cluster, end to end` {
  static func scenario(spawn: String, seconds: Double, chaos: String) -> String {
    """
    spawn:
      relays: 3
      \(spawn)
      config: { limits: { sends_per_s: 0, bytes_per_s: 0 } }
    rooms: [{ shape: many, count: 4, name: team }]
    clients:
      - { persona: chatter, count: 18 }
      - { persona: lurker, count: 3 }
      - { persona: flapper, count: 3, online_ms: 1500, offline_ms: 300 }
    phases:
      - { seconds: 1, connections: { constant: 50 } }
      - { seconds: \(seconds), messages: { poisson: 100 } }
      - { seconds: 0.5 }
    patience_ms: 20000
    chaos: [\(chaos)]
    """
  }

  @Test func `kills, stops, cuts and clocks that are wrong lose and double nothing`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(
        spawn: "postgresql: { standby: none }\n  clock_offsets_s: [0, 3600, -3600]", seconds: 9,
        chaos: """
          { do: restart, at_s: 1.5 }, { do: cut_commit, at_s: 2, times: 3, every_s: 0.4, relay: 1 },
          { do: pause, at_s: 3.5, ms: 500 }, { do: kill_database, at_s: 4.5, ms: 100 },
          { do: restart_database, at_s: 5.2 }, { do: terminate, at_s: 5.8 }, { do: terminate_commits, at_s: 6, ms: 300 },
          { do: stop_database, at_s: 6.5, ms: 100 }, { do: delay_link, at_s: 7.5, ms: 500 },
          { do: freeze_link, at_s: 8.5, ms: 500 }, { do: cut_link, at_s: 9.5 }
          """), repeatsVoid: false)
    #expect(run.keptItsPromises, "\(run.output)")
    #expect(!run.output.contains("NOT recovered"), "\(run.output)")
    #expect(!run.output.contains("exited by itself"), "\(run.output)")
    for cut in ["after the server had answered", "while the server", "before the server had"] {
      #expect(run.output.contains("a connection cut in COMMIT, \(cut)"), "\(run.output)")
    }
    #expect(run.output.contains("s: PostgreSQL answers again"), "\(run.output)")
    #expect(run.output.contains(", 0 refused, 0 missed (never left), 0 of unk"), "\(run.output)")
  }

  @Test func `a synchronous standby that is promoted has every acknowledged message`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(
        spawn: "postgresql: { standby: synchronous }", seconds: 5,
        chaos: "{ do: cancel_waits, at_s: 1.5, ms: 300 }, { do: promote, at_s: 3, ms: 300 }"),
      repeatsVoid: false)
    #expect(run.keptItsPromises, "\(run.output)")
    #expect(run.output.contains("the standby promoted, after it had received"), "\(run.output)")
    #expect(run.output.contains(", 0 refused, 0 missed (never left), 0 of unk"), "\(run.output)")
    #expect(!run.output.contains("forks:"), "\(run.output)")
    #expect(!run.output.contains("exited by itself"), "\(run.output)")
  }

  @Test func `a standby that lags is promoted: every client that holds a lost entry is told`()
    throws
  {
    let run = try SwarmProcess(
      playing: Self.scenario(
        spawn: "postgresql: { standby: asynchronous }", seconds: 6,
        chaos: "{ do: promote, at_s: 2, ms: 700 }"), repeatsVoid: false)
    #expect(run.keptItsPromises, "\(run.output)")
    #expect(!run.output.contains("exited by itself"), "\(run.output)")
    let line = try #require(
      run.output.split(separator: "\n").first { $0.hasPrefix("forks: ") }, "\(run.output)")
    let counts = line.split(separator: " ").compactMap { Int($0) }
    try #require(counts.count == 2, "\(line)")
    // All 24 clients had something of the 70 or so messages, of which nearly all were lost.
    #expect(counts[0] >= 12, "\(line)")
    #expect(counts[1] >= 10, "\(line)")
  }
}

@Suite struct `A scenario of a cluster` {
  private func faults(_ spawn: String, chaos: String = "", mode: String = "relay") -> String? {
    let rest = "rooms: [{ shape: one }]\nchaos: [\(chaos)]"
    do {
      _ = try Scenario(
        yaml: Array(
          """
          mode: \(mode)
          spawn: { \(spawn) }
          clients: [{ persona: chatter, count: 2 }]
          phases: [{ seconds: 9, connections: { constant: 2 } }]
          \(mode == "echo" ? "" : rest)
          """.utf8), file: "a.yaml")
      return nil
    } catch {
      return error.description
    }
  }

  @Test func `names what it lacks`() {
    #expect(faults("relays: 3, postgresql: { standby: none }") == nil)
    #expect(faults("postgresql:") == nil)
    #expect(
      faults("relays: 3")
        == "a.yaml:2: spawn.relays are 3, but have no log in common; add postgresql: { standby:"
        + " none }, or use one relay")
    #expect(faults("relays: 17")?.contains("expected 1 to 16") == true)
    #expect(
      faults("postgresql: { standby: slow }")?.hasSuffix(
        "expected { standby: S }, S one of none, synchronous, asynchronous") == true)
    #expect(
      faults("clock_offsets_s: [0, 3600]")
        == "a.yaml:2: spawn.clock_offsets_s are for 2 relays; expected at most 1")
    #expect(faults("clock_offsets_s: [90000]")?.contains("from -86400 to 86400") == true)
    #expect(
      faults("postgresql:", mode: "echo")
        == "a.yaml:2: spawn.postgresql has no meaning for mode: echo; remove it")
  }

  @Test func `refuses steps that it has no server for`() {
    #expect(
      faults("relays: 1", chaos: "{ do: kill_database, at_s: 1 }")
        == "a.yaml:6: chaos[0].do is kill_database, but the relay has no PostgreSQL; add"
        + " postgresql: { standby: none } to spawn")
    #expect(
      faults("postgresql:", chaos: "{ do: promote, at_s: 1 }")
        == "a.yaml:6: chaos[0].do is promote, but PostgreSQL has no standby; give it one:"
        + " postgresql: { standby: synchronous }")
    #expect(
      faults("postgresql:", chaos: "{ do: power_loss, at_s: 1 }")?.hasSuffix("use kill_database")
        == true)
    #expect(
      faults("postgresql:", chaos: "{ do: restart, at_s: 1, relay: 2 }")
        == "a.yaml:6: chaos[0].relay is 2; expected 1 to 1")
    #expect(
      faults("postgresql:", chaos: "{ do: terminate, at_s: 1, relay: 1 }")
        == "a.yaml:6: chaos[0].relay has no meaning for do: terminate; remove it")
    #expect(
      faults("postgresql:", chaos: "{ do: fill_disk, at_s: 1 }")?.contains("disk_bytes") == true)
  }

  @Test func `any is drawn by the seed, from all steps that suit the scenario`() throws {
    func steps(_ spawn: String, seed: UInt64) throws -> [Scenario.ChaosStep.Kind] {
      let scenario = try Scenario(
        yaml: Array(
          """
          seed: \(seed)
          spawn: { relays: 3, \(spawn) }
          rooms: [{ shape: one }]
          clients: [{ persona: chatter, count: 2 }]
          phases: [{ seconds: 1000, connections: { constant: 2 } }]
          chaos: [{ do: any, at_s: 1, times: 900, every_s: 1 }]
          """.utf8), file: "a.yaml")
      #expect(Plan(scenario) == Plan(scenario))
      return Plan(scenario).events.compactMap { event in
        if case .chaos(let kind, let relay) = event.kind, (0..<3).contains(relay) { return kind }
        if case .reset = event.kind { return .cut(share: 0.5) }
        return nil
      }
    }
    let all = try steps("postgresql: { standby: synchronous }, disk_bytes: 67108864", seed: 1)
    #expect(all.count == 900)
    #expect(try steps("postgresql: { standby: synchronous }, disk_bytes: 67108864", seed: 2) != all)
    let names = Set(all.map { "\($0)".prefix { $0 != "(" && !$0.isNumber } })
    #expect(names.isSuperset(of: ["restart", "pause", "fillDisk", "cut", "database", "link"]))
    func has(_ kinds: [Scenario.ChaosStep.Kind], _ name: String) -> Bool {
      kinds.contains { "\($0)".contains(name) }
    }
    for name in ["promote", "cancelWaits", "terminate", "cutCommit", "freeze"] {
      #expect(has(all, name), "\(name)")
    }
    let alone = try steps("postgresql: { standby: none }", seed: 1)
    for name in ["promote", "cancelWaits", "fillDisk"] { #expect(!has(alone, name), "\(name)") }
  }

  @Test func `entries may be lost only where an asynchronous standby is promoted`() throws {
    func mayFork(_ standby: String, _ step: String) throws -> Bool {
      try Scenario(
        yaml: Array(
          """
          spawn: { postgresql: { standby: \(standby) } }
          rooms: [{ shape: one }]
          clients: [{ persona: chatter, count: 2 }]
          phases: [{ seconds: 9, connections: { constant: 2 } }]
          chaos: [{ do: \(step), at_s: 1 }]
          """.utf8), file: "a.yaml"
      ).mayFork
    }
    #expect(try mayFork("asynchronous", "promote"))
    #expect(try mayFork("asynchronous", "any"))
    #expect(try !mayFork("asynchronous", "kill_database"))
    #expect(try !mayFork("synchronous", "promote"))
  }
}
