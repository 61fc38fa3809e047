import Glibc
import TestSupport
import Testing
import WebSocket

@testable import Swarm

@Suite struct `Measured: hostile clients` {
  @Test func `the others on our relay do not notice them`() throws {
    let run = try SwarmProcess(
      playing: `Hostile clients`.scenario(
        relay: "spawn:", "thresholds: { connect_p99_ms: 1000, deliver_p99_ms: 1000 }"))
    #expect(run.exitCode == 0, "\(run.output)")
  }
}

@Suite struct `Hostile clients` {
  static func scenario(relay: String, _ extra: String = "") -> String {
    """
    \(relay)
    rooms: [{ shape: many, count: 2, name: team }]
    clients:
      - { persona: chatter, count: 10 }
      - { persona: hostile, count: 20, every_ms: 500 }
    phases:
      - { seconds: 1.2, connections: { constant: 50 } }
      - { seconds: 3, messages: { constant: 50 } }
    patience_ms: 3000
    \(extra)
    """
  }

  @Test func `do all of their mischief, and all others on our relay are served`() throws {
    let run = try SwarmProcess(playing: Self.scenario(relay: "spawn:"))
    #expect(run.keptItsPromises, "\(run.output)")
    #expect(run.output.contains("10 of 10 clients"), "\(run.output)")
    #expect(
      run.output.contains("150 intended, 150 acknowledged, 0 refused, 0 missed"), "\(run.output)")
    #expect(run.output.contains("0 connections lost"), "\(run.output)")
    var unfinished = 0
    for act in HostileAct.allCases {
      let counts = try Self.counts(of: act, in: run)
      #expect(counts.done >= 5, "\(act): \(run.output)")
      unfinished += counts.attempted - counts.done
    }
    // On a slow machine each client may still be at its last act when the run is over.
    #expect(unfinished <= 20, "\(run.output)")
    // The relay ends every client that breaks the framing, each time except perhaps the last.
    for act in [HostileAct.unmasked, .oversized, .invalidUTF8, .reservedOpcode] {
      let counts = try Self.counts(of: act, in: run)
      #expect(counts.endedByRelay >= counts.done - 4, "\(act): \(run.output)")
    }
  }

  @Test func `can attack a server that swarm did not start`() throws {
    let server = try ForeignServer()
    defer { server.end() }
    let run = try SwarmProcess(playing: Self.scenario(relay: "spawn:"), ["--url", server.url])
    #expect(run.keptItsPromises, "\(run.output)")
    #expect(run.output.contains("10 of 10 clients"), "\(run.output)")
    #expect(try Self.counts(of: .garbage, in: run).done >= 5, "\(run.output)")
    #expect(try Self.counts(of: .reservedOpcode, in: run).endedByRelay >= 1, "\(run.output)")
  }

  @Test func `are dealt their acts by the seed, none left out, and are in no room`() throws {
    let scenario = try Scenario(yaml: Array(Self.scenario(relay: "spawn:").utf8), file: "a.yaml")
    let plan = Plan(scenario)
    #expect(plan == Plan(scenario))
    #expect(plan.honestCount == 10)
    for client in plan.clients { #expect(client.persona.isHostile == client.rooms.isEmpty) }
    var counts: [HostileAct: Int] = [:]
    var last: [Int: UInt64] = [:]
    for event in plan.events {
      switch event.kind {
      case .connect(let client), .send(let client, _, _, _):
        #expect(!plan.clients[client].persona.isHostile)
      case .hostility(let client, let act, _):
        #expect(plan.clients[client].persona.isHostile)
        if let before = last[client] { #expect(event.at - before == 500_000_000) }
        last[client] = event.at
        counts[act, default: 0] += 1
      default: break
      }
    }
    #expect(counts.count == HostileAct.allCases.count)
    let (least, most) = (counts.values.min() ?? 0, counts.values.max() ?? 0)
    #expect(most - least <= 1)
    #expect(Plan(scenario, seed: 9).events != plan.events)
  }

  /// Each act breaks the rule that it is meant to break, by our own reading of the protocol.
  @Test(arguments: [
    (HostileAct.unmasked, CloseCode.protocolError), (.oversized, .tooBig),
    (.invalidUTF8, .invalidPayload), (.reservedOpcode, .protocolError),
  ])
  func `break the rule that they are named after`(act: HostileAct, code: CloseCode) {
    for seed in 0..<20 as Range<UInt64> {
      var script = HostileBytes(act, room: "r", seed: seed)
      #expect(!script.skipsHandshake)
      #expect(Self.violation(in: script.payload())?.closeCode == code, "seed \(seed)")
    }
  }

  @Test func `flood with frames that keep to the framing`() {
    for act in [HostileAct.invalidJSON, .pings, .neverReads] {
      var script = HostileBytes(act, room: "r", seed: 3)
      let bytes = script.payload()
      #expect(Self.violation(in: bytes) == nil, "\(act)")
      #expect(bytes.count < 256 * 1024, "\(act)")
    }
  }

  @Test func `alone measure nothing, and an interval of 0 is refused`() {
    for (clients, expected) in [
      ("[{ persona: hostile, count: 2 }]", "clients are all hostile; add a lurker or a chatter"),
      ("[{ persona: hostile, count: 2, every_ms: 5 }]", "every_ms is 5; expected at least 100"),
    ] {
      let yaml = """
        rooms: [{ shape: one }]
        clients: \(clients)
        phases: [{ seconds: 1, connections: { constant: 2 } }]
        """
      let error = #expect(throws: ScenarioError.self) {
        try Scenario(yaml: Array(yaml.utf8), file: "a.yaml")
      }
      #expect(error?.description.contains(expected) == true, "\(error?.description ?? "")")
    }
  }

  private static func violation(in bytes: [UInt8]) -> ProtocolViolation? {
    var connection = Connection(
      role: .server,
      limits: Limits(frameBytes: 65_536, messageBytes: 65_536, fragments: 16))
    var input = bytes
    var output: [UInt8] = []
    var offset = 0
    var span = input.mutableSpan
    do throws(ProtocolViolation) {
      while try connection.next(in: &span, at: &offset, output: &output, maskKey: { 0 }) != nil {}
      return nil
    } catch {
      return error
    }
  }

  /// From the line `hostile: 5 garbage (5 attempted, 4 ended by the relay)`.
  private static func counts(
    of act: HostileAct, in run: SwarmProcess
  ) throws -> (done: Int, attempted: Int, endedByRelay: Int) {
    let line = try #require(
      run.output.split(separator: "\n").first {
        $0.hasPrefix("hostile: ") && $0.contains(" \(act.rawValue) (")
      }, "\(run.output)")
    let numbers = line.split { !$0.isNumber }.compactMap { Int($0) }
    // "UTF-8" has a digit of its own.
    let counts = act == .invalidUTF8 ? [numbers[0]] + numbers.dropFirst(2) : numbers
    return (counts[0], counts[1], counts[2])
  }
}

/// The Python peer, started by this test and not by swarm.
@safe final class ForeignServer {
  let url: String
  private let id: pid_t
  private let folder: String
  private let pipe: UnsafeMutablePointer<FILE>

  init() throws {
    let command =
      "d=$(mktemp -d /tmp/swarm-foreign.XXXXXX); echo $$ $d; exec '\(Programs.wrongRelay)' serve"
      + " --config /dev/null --listen 127.0.0.1:0 --data $d 2>/dev/null"
    guard let pipe = unsafe popen(command, "re") else { throw Unexpected("popen: \(errno)") }
    unsafe self.pipe = pipe
    func line() -> String {
      var bytes: [UInt8] = []
      while case let byte = unsafe fgetc(pipe), byte >= 0, byte != 10 { bytes.append(UInt8(byte)) }
      return String(decoding: bytes, as: UTF8.self)
    }
    let words = line().split(separator: " ")
    id = words.first.flatMap { pid_t($0) } ?? 0
    folder = words.last.map(String.init) ?? ""
    url = line().split(separator: " ").last.map(String.init) ?? ""
    guard id > 0, url.hasPrefix("ws://") else { throw Unexpected("no foreign server") }
  }

  func end() {
    kill(id, SIGKILL)
    unsafe pclose(pipe)
    unsafe unlink("\(folder)/log.jsonl")
    unsafe rmdir(folder)
  }
}
