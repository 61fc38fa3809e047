import EventLoop
import TestSupport
import Testing

@testable import Swarm

@Suite struct `swarm run --raw` {
  static func scenario(_ target: String, raw: String, extra: String = "") -> String {
    """
    \(target)
    rooms: [{ name: team, shape: many, count: 4 }]
    clients: [{ persona: chatter, count: 8 }, { persona: lurker, count: 12 }]
    phases: [{ seconds: 1, connections: { constant: 100 } }]
    text_bytes: [64, 128]
    raw: { \(raw), seconds: 0.5, warm_up_s: 0.1 }
    patience_ms: 2000
    \(extra)
    """
  }

  static let free =
    "spawn: { config: { limits: { sends_per_s: 0, bytes_per_s: 0, unauthenticated_per_address: 0 } } }"

  @Test(arguments: ["window: 4", "window: 4, release: ack", "rate: 400"])
  func `every delivery of the relay arrives`(raw: String) throws {
    let folder = try TemporaryFolder()
    let run = try SwarmProcess(
      playing: Self.scenario(Self.free, raw: raw), ["--raw", "--json", folder["raw.json"]])
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("20 connections in 4 rooms"), "\(run.output)")
    #expect(run.output.contains("good: the number of deliveries is right"), "\(run.output)")
    let json = try folder.read("raw.json")
    #expect(json.contains("\"raw\":true,\"status\":\"good\""))
    #expect(json.contains("\"server_cpu_s\":"))
    #expect(json.contains("\"missing\":0"))
    let whole = try #require(json.split(separator: "\"whole\":{").last)
    func number(_ key: String) -> Int? {
      whole.split(separator: "\"\(key)\":", omittingEmptySubsequences: false).dropFirst().first
        .flatMap { Int($0.prefix { $0.isNumber }) }
    }
    let sends = try #require(number("sends"))
    #expect(sends > 100)
    // Five in each room.
    #expect(number("deliveries") == sends * 5)
    #expect(number("acks") == sends)
  }

  @Test func `deliveries that a relay drops are missing`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(
        "spawn: { binary: '\(Programs.wrongRelay)', config: { fault: drop } }", raw: "rate: 800"),
      ["--raw"])
    #expect(run.exitCode == 3, "\(run.output)")
    #expect(run.output.contains("deliveries are missing"), "\(run.output)")
  }

  @Test func `sends that are not accepted in time make a run void`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(
        "spawn: { config: { limits: { sends_per_s: 1, burst: 1 } } }", raw: "rate: 1000"
      ).replacing("patience_ms: 2000", with: "patience_ms: 500"), ["--raw"])
    #expect(run.exitCode == 4, "\(run.output)")
    #expect(run.output.contains("void: the server accepted "), "\(run.output)")
    #expect(run.output.contains("raise its limits"), "\(run.output)")
  }

  @Test func `an echo that ends a connection has missing deliveries, with the reason`() throws {
    let peer = try EchoPeerProcess("/usr/bin/python3", "echo.py", ["close"])
    let run = try SwarmProcess(
      playing: """
        mode: echo
        url: \(peer.url)
        clients: [{ persona: chatter, count: 2 }]
        phases: [{ seconds: 1, connections: { constant: 100 } }]
        raw: { window: 2, seconds: 0.3 }
        patience_ms: 500
        """, ["--raw"])
    #expect(run.exitCode == 3, "\(run.output)")
    #expect(run.output.contains("1 connections lost (the last: the server"), "\(run.output)")
  }

  @Test func `without a server there is no connection, and a threshold can be missed`() throws {
    let nobody = try SwarmProcess(
      playing: Self.scenario("url: ws://127.0.0.1:1/ws", raw: "window: 1"), ["--raw"])
    #expect(nobody.exitCode == 5, "\(nobody.output)")
    #expect(
      nobody.output.contains("cannot connect to ws://127.0.0.1:1/ws: connect: Connection refused"),
      "\(nobody.output)")
    let slow = try SwarmProcess(
      playing: Self.scenario(
        Self.free, raw: "window: 1", extra: "thresholds: { ack_p50_ms: 0.001 }"), ["--raw"])
    #expect(slow.exitCode == 1, "\(slow.output)")
  }

  @Test func `an echo server of another project, raw`() throws {
    let peer = try EchoPeerProcess("/usr/bin/python3", "echo.py")
    let run = try SwarmProcess(
      playing: """
        mode: echo
        url: \(peer.url)
        clients: [{ persona: chatter, count: 10 }]
        phases: [{ seconds: 1, connections: { constant: 100 } }]
        raw: { window: 16, seconds: 0.5 }
        """, ["--raw"])
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.contains("raw echo, window of 16: 10 connections"), "\(run.output)")
  }

  @Test(arguments: [
    ("seconds: 1", "raw.window and rate are both missing; expected window: N messages"),
    ("window: 8, rate: 3", "raw.rate and window are both given; remove one of them"),
    ("window: 0", "raw.window is \"0\"; expected 1 to 100000"),
    ("rate: fast", "raw.rate is \"fast\"; expected sends per second"),
    ("rate: 3, release: ack", "raw.release has no meaning for a rate; remove it"),
    ("window: 3, dialect: morse", "raw.dialect is \"morse\"; expected relay.v1, echo, plain"),
    ("window: 3, procesor: 1", "raw.procesor is not a known key; did you mean raw.processor?"),
  ])
  func `an error has its line, its key and the expected value`(
    raw: String, expected: String
  ) {
    let yaml = """
      rooms: [{ shape: one }]
      clients: [{ persona: chatter, count: 1 }]
      phases: [{ seconds: 1, connections: { constant: 1 } }]
      raw: { \(raw) }
      """
    do throws(ScenarioError) {
      _ = try Scenario(yaml: Array(yaml.utf8), file: "r.yaml")
      Issue.record("\(raw) is no mistake")
    } catch {
      #expect(error.description.hasPrefix("r.yaml:4: \(expected)"), "\(error)")
    }
  }

  @Test(arguments: [
    ("", "chatter", "raw is missing; expected raw: { window: 8 }"),
    ("raw: { window: 1 }", "flapper", "clients[0].persona is flapper; expected lurker or chatter"),
    ("raw: { window: 1 }", "lurker", "clients are silent, but --raw must send"),
    (
      "raw: { window: 1 }\nthresholds: { resume_p50_ms: 1 }", "chatter",
      "thresholds.resume_p50_ms is not measured with --raw"
    ),
  ])
  func `scenarios that raw cannot play are refused`(
    extra: String, persona: String, expected: String
  ) throws {
    let scenario = try Scenario(
      yaml: Array(
        """
        rooms: [{ shape: one }]
        clients: [{ persona: \(persona), count: 2 }]
        phases: [{ seconds: 1, connections: { constant: 1 } }]
        \(extra)
        """.utf8), file: "r.yaml")
    do throws(RawLoad.Failure) {
      _ = try RawScenario.plan(scenario, file: "r.yaml", seed: nil)
      Issue.record("\(extra) is no mistake")
    } catch {
      #expect(error.isUsage)
      #expect(error.description.hasPrefix("r.yaml: \(expected)"), "\(error)")
    }
  }

  @Test func `rooms of all shapes become rooms of their sizes`() throws {
    let scenario = try Scenario(
      yaml: Array(
        """
        rooms: [{ name: hall, shape: one }, { name: dm, shape: dms, per_client: 1 }]
        clients: [{ persona: chatter, count: 2 }, { persona: lurker, count: 2 }]
        phases: [{ seconds: 1, connections: { constant: 1 } }]
        raw: { window: 3, processor: 1 }
        """.utf8), file: "r.yaml")
    let plan = try RawScenario.plan(scenario, file: "r.yaml", seed: nil)
    #expect(plan.layout.first == .init(members: 4, senders: 2))
    #expect(plan.layout.dropFirst().map(\.members) == [2, 2, 2, 2])
    #expect(plan.connections == 12)
    #expect(plan.work == .publish(.window(3)))
    #expect(plan.processor == 1)
  }
}

@Suite struct `Raw load` {
  private func play(_ plan: RawLoad.Plan) throws -> (RawResult, [RawLoad.Moment]) {
    var moments: [RawLoad.Moment] = []
    let result = try RawLoad(plan).play { moments.append($0) }
    return (result, moments)
  }

  private func relay() throws -> SpawnedRelay {
    var spawn = Scenario.Spawn()
    spawn.binary = Programs.relay
    spawn.configuration =
      "{limits: {sends_per_s: 0, bytes_per_s: 0, requests_per_s: 0, unauthenticated_per_address: 0}}"
    return try SpawnedRelay(spawn)
  }

  @Test func `connecting is measured to members`() throws {
    let relay = try relay()
    var plan = RawLoad.Plan(url: relay.url, dialect: .relay)
    plan.rooms = 10
    plan.membersPerRoom = 5
    plan.work = .connect
    let (result, moments) = try play(plan)
    #expect(result.connections == 50)
    #expect(result.connectsPerSecond > 0)
    #expect(result.latencies.count(.connect) == 50)
    #expect(moments == [.measuring, .ready, .measured, .drained])
  }

  @Test func `idle connections send nothing until they are told to`() throws {
    let relay = try relay()
    var plan = RawLoad.Plan(url: relay.url, dialect: .relay)
    plan.membersPerRoom = 20
    plan.work = .idle
    plan.seconds = .infinity
    let load = try RawLoad(plan)
    let stop = load.stop
    var moments: [RawLoad.Moment] = []
    let result = try load.play { moment in
      moments.append(moment)
      if moment == .measuring { stop.stop() }
    }
    #expect(result.connections == 20)
    #expect(moments == [.ready, .measuring])
    #expect(result.counts.deliveries == 0)
  }

  @Test func `clients that reconnect get everything, once`() throws {
    let relay = try relay()
    var plan = RawLoad.Plan(url: relay.url, dialect: .relay)
    plan.rooms = 3
    plan.membersPerRoom = 4
    plan.work = .resume(messages: 500)
    let (result, moments) = try play(plan)
    #expect(result.counts.deliveries == 3 * 4 * 500)
    #expect(result.missing == 0)
    #expect(result.deliveriesPerSecond > 0)
    #expect(moments == [.ready, .measuring, .measured, .drained])
  }

  @Test func `with TLS every delivery arrives as well, if the certificate is known`() throws {
    let folder = try TemporaryFolder()
    let places = BenchProgram.Places(
      commands: Programs.folder(of: "relay"), built: folder.path, peers: folder.path)
    let server = try BenchServer(
      .relay(places).secured(by: OwnCertificate(in: folder.path)), in: folder.path,
      processor: nil)
    var plan = try #require(BenchLoad.room(members: 20, window: 8).plan(for: server))
    // What is in flight takes several records.
    plan.textBytes = 7_000
    plan.seconds = 0.3
    let (result, moments) = try play(plan)
    #expect(result.missing == 0)
    #expect(result.connectionsLost == 0)
    #expect(result.whole.deliveries == result.whole.sends * 20)
    #expect(result.whole.sends > 8)
    #expect(moments == [.ready, .measuring, .measured, .drained])
    plan.authorities = nil
    do throws(RawLoad.Failure) {
      _ = try RawLoad(plan).play()
      Issue.record("the system knows the certificate of a test")
    } catch {
      #expect(error.description.contains("certificate"), "\(error)")
    }
  }

  @Test func `rooms of a plain server, by its path`() throws {
    let peer = try EchoPeerProcess("/usr/bin/python3", "broadcast.py")
    var plan = RawLoad.Plan(url: peer.url, dialect: .plain)
    plan.layout = [.init(members: 4, senders: 2), .init(members: 1, senders: 1)]
    plan.work = .publish(.window(3))
    plan.warmUpSeconds = 0
    plan.seconds = 0.3
    plan.sampleEvery = 1
    let (result, moments) = try play(plan)
    #expect(result.missing == 0)
    #expect(result.whole.deliveries > result.whole.sends)
    #expect(result.latencies.count(.deliver) > 10)
    #expect(result.counts.acks == 0)
    #expect(moments == [.ready, .measuring, .measured, .drained])
  }

  @Test(arguments: [
    "rooms", "senders", "text", "window", "resume", "release", "url", "processor",
  ])
  func `an impossible plan is refused with a reason`(fault: String) {
    var plan = RawLoad.Plan(url: "ws://127.0.0.1:1/", dialect: .echo)
    switch fault {
    case "rooms": plan.rooms = 0
    case "senders": plan.sendersPerRoom = 2
    case "text": plan.textBytes = 3
    case "window": plan.work = .publish(.window(0))
    case "resume": plan.work = .resume(messages: 3)
    case "release": plan.release = .ack
    case "processor": plan.processor = 1000
    default: plan.url = "http://h/"
    }
    do throws(RawLoad.Failure) {
      _ = try RawLoad(plan).play()
      Issue.record("\(fault) is no mistake")
    } catch {
      #expect(error.isUsage, "\(error)")
    }
  }

  @Test func `the error of a server that rejects a client is quoted`() throws {
    let relay = try relay()
    var dialect = RawDialect.relay
    dialect.query = "user=NOT_A_NAME!"
    let plan = RawLoad.Plan(url: relay.url, dialect: dialect)
    do throws(RawLoad.Failure) {
      _ = try RawLoad(plan).play()
      Issue.record("it was let in")
    } catch {
      #expect(!error.isUsage)
      #expect(error.description.contains(relay.url.dropLast(3)), "\(error)")
    }
  }
}
