import TestSupport
import Testing

@testable import Swarm

/// swarm on a terminal, which script(1) provides.
@Suite struct `The status line of a run` {
  private static func output(_ environment: String, _ flag: String = "") throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(
      """
      name: shown
      spawn: { config: { limits: { sends_per_s: 0, bytes_per_s: 0 } } }
      rooms: [{ shape: one }]
      clients: [{ persona: chatter, count: 5 }]
      phases:
        - { name: "a\u{202E}rrive", seconds: 1.2, connections: { constant: 100 } }
        - { name: talk, seconds: 2, messages: { constant: 50 } }
      """, to: "scenario.yaml")
    let command = "\(Programs.swarm) run \(flag) \(folder["scenario.yaml"])"
    return try Shell.run("\(environment) script -qec '\(command)' /dev/null").output
  }

  @Test func `the last second is below the log, and in the end there is only the report`() throws {
    let output = try Self.output("TERM=xterm")
    var rest = output[...]
    for expected in [
      "s: phase arrive\r\n", "\u{1B}[?7lshown: ", "s: phase talk\r\n", " sends/s, ",
      "\r\u{1B}[K\u{1B}[?7hscenario shown, seed 1: ",
    ] {
      let range = try #require(rest.firstRange(of: expected), "\(expected) in\n\(output)")
      rest = rest[range.upperBound...]
    }
    #expect(!rest.contains("\u{1B}"), "\(output)")
  }

  @Test(arguments: [("TERM=dumb", ""), ("TERM=", ""), ("TERM=xterm", "--quiet")])
  func `a terminal that cannot be drawn on, and a quiet run, have none`(
    environment: String, flag: String
  ) throws {
    let output = try Self.output(environment, flag)
    #expect(!output.contains("\u{1B}"), "\(output)")
    #expect(output.contains("s: all sent") == flag.isEmpty, "\(output)")
  }
}
