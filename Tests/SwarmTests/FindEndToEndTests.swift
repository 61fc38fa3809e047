import TestSupport
import Testing

@testable import Swarm

@Suite struct `swarm find, end to end` {
  private static func scenario(
    _ spawn: String, rate: Int = 20, thresholds: String = "thresholds: { ack_p50_ms: 20000 }"
  ) -> String {
    """
    name: found
    spawn: { \(spawn) }
    rooms: [{ shape: one, name: team }]
    clients: [{ persona: chatter, count: 5 }]
    phases:
      - { seconds: 1.2, connections: { constant: 100 } }
      - { seconds: 1.5, messages: { constant: \(rate) } }
    patience_ms: 3000
    \(thresholds)
    """
  }
  private static let free = "config: { limits: { sends_per_s: 0, bytes_per_s: 0 } }"

  @Test func `doubles a load up to the limit, and reports every try`() throws {
    let folder = try TemporaryFolder()
    let run = try SwarmProcess(
      playing: Self.scenario(Self.free), ["--max", "3", "--json", folder["find.json"]],
      command: "find")
    // On a machine that is busy swarm may be the limit, which is an answer too.
    try #require([0, 4].contains(run.exitCode), "\(run.output)")
    #expect(run.output.hasPrefix("×1 (20 messages/s): "), "\(run.output)")
    let text = try folder.read("find.json")
    #expect(text.hasPrefix(#"{"scenario":"found","seed":"1","precision":0.05,"most":3,"#))
    #expect(text.contains(#""tries":[{"factor":1,"messages_per_s":20,"clients":5,"#), "\(text)")
    if text.contains(#""holds_at":3"#) {
      #expect(run.output.contains("\nholds at ×3 (60 messages/s): ack p50 "), "\(run.output)")
      #expect(
        run.output.contains("×3 is the largest load that was tried: see --max"), "\(run.output)")
    }
  }

  @Test func `multiplies clients as well if requested`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(Self.free), ["--max", "1", "--clients", "--quiet"], command: "find")
    try #require([0, 4].contains(run.exitCode), "\(run.output)")
    let answer = run.exitCode == 0 ? "holds at ×1 (20 messages/s): ack p50 " : "swarm is the limit"
    #expect(run.output.contains(answer), "\(run.output)")
  }

  @Test func `if the scenario as it is misses twice, there is no answer`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(
        "config: { limits: { sends_per_s: 0, bytes_per_s: 0 }, debug: { commit_delay_ms: 50 } }",
        thresholds: "thresholds: { ack_p50_ms: 20 }"), command: "find")
    #expect(run.exitCode == (run.output.contains("swarm is the limit") ? 4 : 1), "\(run.output)")
    #expect(run.output.contains("×1 (20 messages/s), the smallest load"), "\(run.output)")
  }

  @Test func `a load that clients would delay is not measured, and the key is named`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario("config: { limits: { sends_per_s: 5, burst: 2 } }", rate: 20),
      ["--max", "4"], command: "find")
    // On a busy machine swarm itself may be too slow for the load before, and says so.
    if run.exitCode == 4 {
      #expect(run.output.contains("swarm's own lag"), "\(run.output)")
      return
    }
    #expect(run.exitCode == 2, "\(run.output)")
    #expect(run.output.contains("×2 cannot be measured: its busiest client would"), "\(run.output)")
    #expect(run.output.contains("limits.sends_per_s: 5"), "\(run.output)")
  }

  @Test func `a broken promise ends the search immediately, with its report`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(
        "binary: '\(Programs.wrongRelay)', config: { fault: double }", rate: 300),
      command: "find")
    #expect(run.exitCode == 3, "\(run.output)")
    #expect(run.output.contains("BROKEN doubled,"), "\(run.output)")
    #expect(run.output.contains("ended at ×1 (300 messages/s): the relay broke a promise"))
  }

  @Test func `without a server there is no connection`() throws {
    let run = try SwarmProcess(
      playing: Self.scenario(Self.free).replacing("3000", with: "100"),
      ["--url", "ws://127.0.0.1:1/ws"], command: "find")
    #expect(run.exitCode == 5, "\(run.output)")
    #expect(
      run.output.contains("no connection to ws://127.0.0.1:1/ws: cannot connect"), "\(run.output)")
  }

  @Test func `invalid arguments are wrong usage, and the error says what to do`() throws {
    let loose = try SwarmProcess(
      playing: Self.scenario(Self.free, thresholds: ""), command: "find")
    #expect(loose.exitCode == 2)
    #expect(loose.output.contains("add for example thresholds: {"), "\(loose.output)")
    let silent = try SwarmProcess(
      playing: Self.scenario(Self.free).replacing(", messages: { constant: 20 }", with: ""),
      command: "find")
    #expect(silent.exitCode == 2)
    #expect(silent.output.contains("add for example messages: {"), "\(silent.output)")
    let short = try SwarmProcess(
      playing: Self.scenario(Self.free), ["--seconds", "0.5"], command: "find")
    #expect(short.exitCode == 2)
    #expect(short.output.contains("Give each run more time (--seconds,"), "\(short.output)")
    for wrong in [
      ["--precision", "0"], ["--max", "0.5"], ["--seconds", "-1"], ["--max", "nan"],
    ] {
      let run = try SwarmProcess(playing: Self.scenario(Self.free), wrong, command: "find")
      #expect(run.exitCode == 2, "\(wrong): \(run.output)")
    }
  }
}
