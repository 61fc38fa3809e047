import Platform
import TestSupport
import Testing

@testable import Swarm

@Suite struct `A scenario file` {
  static let rest = """
    clients: [{ persona: chatter, count: 2 }]
    phases: [{ seconds: 1, connections: { constant: 2 } }]

    """

  private func error(of yaml: String) -> String {
    do throws(ScenarioError) {
      _ = try Scenario(yaml: Array(yaml.utf8), file: "s/a.yaml")
      return "none"
    } catch {
      return error.description
    }
  }

  @Test(arguments: [
    ("", "s/a.yaml:1: the file is empty; expected a scenario"),
    ("romms: []", "s/a.yaml:1: romms is not a known key; did you mean rooms?"),
    ("rooms: [", "this is not YAML"),
    ("rooms:\n\t- { shape: one }", "s/a.yaml:2: the line begins with a tab; indent with spaces"),
    ("rooms: []", "s/a.yaml:1: rooms is a list; expected a non-empty list"),
    ("\nrooms: [{ shape: mani }]", "s/a.yaml:2: rooms[0].shape is \"mani\"; expected one, many,"),
    ("rooms: [{ name: a }]", "rooms[0].shape is missing; expected one, many, zipf or dms"),
    (
      "rooms: [{ shape: one, count: 3 }]",
      "rooms[0].count has no meaning for shape: one; remove it"
    ),
    ("rooms: [{ shape: many, count: 2, per_client: 3 }]", "per_client is more than count"),
    ("clients: [{ persona: chater, count: 1 }]", "clients[0].persona is \"chater\"; expected lur"),
    (
      "clients: [{ persona: lurker, count: 1, size: 3 }]",
      "clients[0].size has no meaning for persona: lurker"
    ),
    ("clients: [{ persona: lurker, count: 0 }]", "clients[0].count is \"0\"; expected 1 to"),
    (
      "phases: [{ seconds: 1, messages: { ramp: 3 } }]",
      "phases[0].messages.ramp is \"3\"; expected two numbers from 0 to 1000000, per second"
    ),
    (
      "phases: [{ seconds: 1, connections: { constant: -5 } }]",
      "phases[0].connections.constant is \"-5\"; expected one of the numbers from 0"
    ),
    (
      "phases: [{ seconds: 1, messages: { constant: 1, poisson: 2 } }]",
      "phases[0].messages is not one rate; expected one of constant: R,"
    ),
    ("phases: [{ seconds: 0 }]", "phases[0].seconds is \"0\"; expected a number"),
    (
      "thresholds: { ack_p98_ms: 1 }",
      "ack_p98_ms is not a known key; did you mean thresholds.ack_p9"
    ),
    (
      "thresholds: { ack_p99_ms: fast }", "thresholds.ack_p99_ms is \"fast\"; expected milliseconds"
    ),
    (
      "chaos: [{ do: explode, at_s: 1 }]",
      "chaos[0].do is \"explode\"; expected kill, restart, power_loss, pause,"
    ),
    (
      "chaos: [{ do: kill, at_s: 1, ms: 3 }]",
      "chaos[0].ms has no meaning for do: kill; remove it"
    ),
    (
      "chaos: [{ do: cut, at_s: 1, share: 2 }]", "chaos[0].share is \"2\"; expected more than 0, at"
    ),
    ("chaos: [{ do: kill, at_s: 1, times: 3 }]", "chaos[0].every_s is missing"),
    ("spawn: { config: { listen: x } }", "spawn.config.listen is set; remove it"),
    (
      "source_addresses: here",
      "s/a.yaml:1: source_addresses is \"here\"; expected numeric addresses of this machine"
    ),
    ("source_addresses: 0", "source_addresses is \"0\"; expected numeric addresses"),
    ("source_addresses: 255", "source_addresses is \"255\"; expected numeric addresses"),
    (
      "rooms: [{ shape: one }]\nsource_addresses: [127.0.0.1,\n  localhost]",
      "s/a.yaml:3: source_addresses[1] is \"localhost\"; expected a numeric address"
    ),
    ("source_adresses: 2", "source_adresses is not a known key; did you mean source_addresses?"),
    (
      "thresholds: { catch_up_p99: 2 }",
      "catch_up_p99 is not a known key; did you mean thresholds.catch_up_p99_ms?"
    ),
    ("text_bytes: [9, 5]", "text_bytes is a list; expected two whole numbers"),
    ("seed: -1", "seed is \"-1\"; expected a whole number from 0"),
    ("url: ws://h/ws\nspawn:", "url and spawn are both given; remove one of them"),
  ])
  func `an error has its line, its key and the expected value`(
    yaml: String, expected: String
  ) {
    #expect(error(of: yaml).contains(expected), "\(error(of: yaml))")
  }

  @Test(arguments: [
    (
      "url: ws://h/ws\nchaos: [{ do: kill, at_s: 1 }]\nrooms: [{ shape: one }]\n\(rest)",
      "s/a.yaml:2: chaos requires a relay started by swarm"
    ),
    ("rooms: [{ shape: one }, { shape: one }]\n\(rest)", "rooms have the name one twice"),
    (
      "rooms: [{ shape: one }]\n\(rest)chaos: [{ do: cut, at_s: 2 }]",
      "s/a.yaml:4: chaos continues until 2.0 s; expected no step after the last phase, which ends at 1"
    ),
    (
      "rooms: [{ shape: dms }]\nclients: [{ persona: lurker, count: 1 }]\n"
        + "phases: [{ seconds: 1, connections: { constant: 1 } }]",
      "s/a.yaml:2: clients are only one; direct messages require two"
    ),
    (
      "rooms: [{ shape: one }]\nclients: [{ persona: lurker, count: 1 }]\n"
        + "phases: [{ seconds: 1, connections: { constant: 1 }, messages: { constant: 1 } }]",
      "clients are silent, but phases have messages; add a chatter"
    ),
    (
      "rooms: [{ shape: one }]\nclients: [{ persona: lurker, count: 1 }]\nphases: [{ seconds: 1 }]",
      "phases open no connection"
    ),
  ])
  func `keys that cannot be combined are reported as well`(yaml: String, expected: String) {
    #expect(error(of: yaml).contains(expected), "\(error(of: yaml))")
  }

  @Test func `all errors are reported together`() {
    let text = error(of: "rooms: [{ shape: x }]\nclients: [{}]\nphases: [{}]\nsed: 1\n")
    #expect(text.split(separator: "\n").count == 5, "\(text)")
  }

  @Test func `a relay's configuration is passed on as it is written`() throws {
    let yaml =
      "spawn: { config: { limits: { burst: 5 }, log_level: \"debug\", bots: [] } }\n"
      + "rooms: [{ shape: one }]\n\(Self.rest)"
    let scenario = try Scenario(yaml: Array(yaml.utf8), file: "a.yaml")
    guard case .spawn(let spawn) = scenario.target else { return #expect(Bool(false)) }
    #expect(
      spawn.configuration == #"{"limits": {"burst": 5}, "log_level": "debug", "bots": []}"#)
    #expect(scenario.name == "a")
  }

  @Test(arguments: [
    "smoke", "fanout", "dms", "reconnect-storm", "slow-readers", "chaos", "hostile", "soak",
    "capacity", "full-disk", "kills", "pause", "power-loss", "cluster-relays", "cluster-database",
    "cluster-failover", "cluster-replicated", "cluster-fork", "cluster-random", "backup-under-load",
    "retention-under-load", "upgrade",
  ])
  func `the included scenarios are valid, and their plans leave nothing out`(
    name: String
  ) throws {
    let path = Project["LoadTests/scenarios/\(name).yaml"]
    let plan = Plan(try Scenario(yaml: try readBytes(path), file: path))
    #expect(plan.clientsLeftOut == 0)
    #expect(plan.messagesLeftOut == 0)
    #expect(plan.scenario == name)
    #expect(plan.clients.count <= 1000, "the relay's default limit for an address")
  }

  @Test func `documents show scenarios`() { #expect(DocumentBlock.all(.scenario).count >= 4) }

  @Test(arguments: DocumentBlock.all(.scenario))
  func `a scenario in a document is valid`(block: DocumentBlock) throws {
    #expect(throws: Never.self) {
      try Scenario(yaml: Array(block.staged.utf8), file: block.description)
    }
  }

  @Test(arguments: ["crowd", "torrent", "drain-10k-tls"])
  func `the scenarios of scale raise the limits that they exceed`(name: String) throws {
    let path = Project["LoadTests/scenarios/\(name).yaml"]
    let scenario = try Scenario(yaml: try readBytes(path), file: path)
    let plan = Plan(scenario)
    #expect(plan.clientsLeftOut == 0)
    #expect(plan.messagesLeftOut == 0)
    #expect(plan.duration <= 60_000_000_000)
    guard case .spawn(let spawn) = scenario.target else { return #expect(Bool(false)) }
    #expect(spawn.configuration.contains("connections_per_address"))
  }

  @Test func `source addresses are a list, or how many there are on loopback`() throws {
    func hosts(_ value: String) throws -> [String] {
      let yaml = "source_addresses: \(value)\nrooms: [{ shape: one }]\n\(Self.rest)"
      return try Scenario(yaml: Array(yaml.utf8), file: "a.yaml").sourceAddresses.map(\.host)
    }
    #expect(try hosts("3") == ["127.0.0.1", "127.0.0.2", "127.0.0.3"])
    #expect(try hosts("[127.0.0.9, 127.1.2.3]") == ["127.0.0.9", "127.1.2.3"])
    #expect(try hosts("['::1']") == ["::1"])
  }

  /// So that any relay.v1 server can be tested with it, even a slow one.
  @Test func `smoke stays within the default limits of any relay`() throws {
    let path = Project["LoadTests/scenarios/smoke.yaml"]
    let scenario = try Scenario(yaml: try readBytes(path), file: path)
    let plan = Plan(scenario)
    #expect(scenario.chaos.isEmpty)
    #expect(scenario.thresholds.allSatisfy { $0.limitMilliseconds >= 1000 })
    #expect((15_000_000_000...25_000_000_000).contains(plan.duration))
    #expect(plan.messageCount >= 2000)
    var sends: [Int: Int] = [:]
    var deliveries: [Int: Int] = [:]
    var bySender: [[Int]: Int] = [:]
    var cuts = 0
    let members = plan.rooms.indices.map { room in
      plan.clients.count { $0.rooms.contains(room) }
    }
    for event in plan.events {
      let second = Int(event.at / 1_000_000_000)
      switch event.kind {
      case .send(let client, let room, _, _):
        sends[second, default: 0] += 1
        deliveries[second, default: 0] += members[room]
        bySender[[client, second], default: 0] += 1
      case .cut: cuts += 1
      default: break
      }
    }
    #expect(sends.values.allSatisfy { $0 <= 200 })
    #expect(deliveries.values.allSatisfy { $0 <= 2000 })
    #expect(bySender.values.allSatisfy { $0 <= 20 })
    #expect(cuts >= 20)
  }
}
