import Glibc
import TestSupport
import Testing

@testable import Swarm

/// The messages of swarm to a person who has made a mistake, or interrupts it.
@Suite struct `The command line of swarm` {
  /// Three seconds, ten messages.
  static let scenario = """
    rooms: [{ shape: one }]
    clients: [{ persona: chatter, count: 3 }]
    phases: [{ seconds: 3, connections: { constant: 10 }, messages: { constant: 10 } }]
    """

  @Test(arguments: [
    ("spawn: { binary: /nowhere/relay }", 2, "there is no relay at /nowhere/relay; build"),
    (
      "spawn: { binary: /tmp }", 2,
      "exited with code 126 before it listened: check spawn in the scenario; it wrote:"
    ),
    ("spawn: { binary: /bin/false }", 2, "exited with code 1 before it listened: check spawn"),
    ("spawn: { config: { limit: 3 } }", 2, "limit is not a known key; did you mean limits?"),
    ("url: ws://127.0.0.1:1/ws", 5, "no connection to ws://127.0.0.1:1/ws: cannot connect:"),
    ("url: http://127.0.0.1:1/ws", 2, "does not begin with ws://"),
  ])
  func `a relay that cannot be reached is reported with what to do`(
    target: String, exitCode: Int32, text: String
  ) throws {
    let run = try SwarmProcess(playing: "\(Self.scenario)\n\(target)\npatience_ms: 100\n")
    #expect(run.exitCode == exitCode, "\(run.output)")
    #expect(run.output.contains(text), "\(run.output)")
  }

  @Test func `a file that cannot be written is refused before the run, not after it`() throws {
    for flag in ["--json", "--html"] {
      let run = try SwarmProcess(playing: Self.scenario, [flag, "/nowhere/file"])
      #expect(run.exitCode == 2)
      #expect(
        run.output == "open /nowhere/file: No such file or directory; use another file\n")
    }
  }

  @Test func `messages that no client can send are an error in the scenario`() throws {
    let run = try SwarmProcess(
      playing: """
        rooms: [{ shape: one }]
        clients: [{ persona: chatter, count: 3 }]
        phases: [{ seconds: 0.5, connections: { constant: 10 }, messages: { constant: 10 } }]
        """)
    #expect(run.exitCode == 2)
    #expect(run.output.hasPrefix("none of the 5 messages has a sender: "), "\(run.output)")
  }

  /// `timeout` gives the signal to swarm alone.
  @Test(arguments: [("INT", Int32(130)), ("TERM", 143)])
  func `a signal ends it in order, while its relay starts and while it plays`(
    signal: String, exitCode: Int32
  ) throws {
    let starting = try SwarmProcess(
      playing: "\(Self.scenario)\nspawn: { binary: '\(Programs.peer("sleeper"))' }\n",
      through: "timeout --foreground --preserve-status -s \(signal) 0.3")
    #expect(starting.exitCode == exitCode, "\(starting.output)")
    #expect(starting.output.isEmpty, "\(starting.output)")
    let folder = try TemporaryFolder()
    try folder.write(Self.scenario, to: "scenario.yaml")
    let playing = try ChildProcess(
      ["sh", "-c", "exec \"$0\" run \"$1\" 2>&1", Programs.swarm, folder["scenario.yaml"]],
      input: "")
    try playing.waitForOutput { $0.contains("phase 0") }
    playing.signal(signal == "INT" ? SIGINT : SIGTERM)
    let outcome = try playing.wait()
    #expect(outcome == .exit(exitCode), "\(playing.output)")
    #expect(
      playing.output.hasSuffix("\ninterrupted: the rest of the run was not checked\n"),
      "\(playing.output)")
  }
}
