import TestSupport
import Testing

@testable import Swarm

@Suite struct `Mode echo` {
  /// 600 messages of 30 clients in 2 seconds.
  static func scenario(_ url: String, extra: String = "") -> String {
    """
    mode: echo
    url: \(url)
    clients: [{ persona: chatter, count: 28 }, { persona: burst, count: 1, size: 5 },
      { persona: lurker, count: 1 }]
    phases:
      - { name: arrive, seconds: 1.2, connections: { constant: 100 } }
      - { name: talk, seconds: 2, messages: { constant: 300 } }
    patience_ms: 1500
    \(extra)
    """
  }

  @Test(arguments: [("/usr/bin/python3", "echo.py"), ("/usr/bin/node", "echo.js")])
  func `an echo server of another project is good`(interpreter: String, script: String) throws {
    let peer = try EchoPeerProcess(interpreter, script)
    let run = try SwarmProcess(
      playing: Self.scenario(
        peer.url, extra: "thresholds: { connect_p99_ms: 5000, deliver_p99_ms: 5000 }"))
    #expect(run.exitCode == run.unlessVoid(0), "\(run.output)")
    #expect(run.output.contains("30 of 30 clients"), "\(run.output)")
    #expect(
      run.output.contains("600 intended, 600 came back, 0 missed"), "\(run.output)")
  }

  @Test func `our relay's echo can be enabled, and is good`() throws {
    let scenario = Self.scenario("x")
      .split(separator: "\n").map { $0.hasPrefix("url: ") ? "spawn:" : $0 }
      .joined(separator: "\n")
    let run = try SwarmProcess(playing: scenario)
    #expect(run.exitCode == run.unlessVoid(0), "\(run.output)")
    #expect(run.output.contains("600 intended, 600 came back, 0 missed"), "\(run.output)")
    #expect(run.output.contains("relay: "), "\(run.output)")
    let raw = try SwarmProcess(
      playing: """
        mode: echo
        spawn:
        clients: [{ persona: chatter, count: 10 }]
        phases: [{ seconds: 1, connections: { constant: 100 } }]
        raw: { window: 16, seconds: 0.3 }
        """, ["--raw"])
    #expect(raw.exitCode == 0, "\(raw.output)")
  }

  @Test(arguments: [
    ("drop", "lost"), ("double", "doubled"), ("alter", "altered"), ("binary", "altered"),
    ("swap", "reordered"), ("invent", "invented"), ("close", "lost"),
  ])
  func `an echo with a fault is detected`(fault: String, promise: String) throws {
    let peer = try EchoPeerProcess("/usr/bin/python3", "echo.py", [fault])
    let run = try SwarmProcess(
      // One client, so that its messages can change places.
      playing: """
        mode: echo
        url: \(peer.url)
        clients: [{ persona: burst, count: 1, size: 10 }]
        phases:
          - { seconds: 1.1, connections: { constant: 10 } }
          - { seconds: 1, messages: { constant: 300 } }
        patience_ms: 500
        """)
    #expect(run.exitCode == 3, "\(run.output)")
    #expect(run.output.contains("BROKEN \(promise), 1 times:") || fault == "close", "\(run.output)")
    #expect(run.output.split(separator: "BROKEN ").count == 2, "\(run.output)")
    #expect(run.output.contains("\n  \(promise): client 0: "), "\(run.output)")
  }

  @Test func `a connection that the server ends is opened again, and nothing else is lost`() throws
  {
    let peer = try EchoPeerProcess("/usr/bin/python3", "echo.py", ["close"])
    let run = try SwarmProcess(playing: Self.scenario(peer.url))
    #expect(run.exitCode == 3, "\(run.output)")
    #expect(run.output.contains("1 resumes, 1 connections lost"), "\(run.output)")
    #expect(run.output.contains("0 missed (never left)"), "\(run.output)")
  }

  @Test func `without a server there is no connection, and a missed threshold is reported`() throws
  {
    let nobody = try SwarmProcess(playing: Self.scenario("ws://127.0.0.1:1/"))
    #expect(nobody.exitCode == 5, "\(nobody.output)")
    #expect(
      nobody.output.contains("no connection to ws://127.0.0.1:1/: cannot connect"),
      "\(nobody.output)")
    let peer = try EchoPeerProcess("/usr/bin/python3", "echo.py")
    let slow = try SwarmProcess(
      playing: Self.scenario(peer.url, extra: "thresholds: { deliver_p50_ms: 0.001 }"))
    #expect(slow.exitCode == slow.unlessVoid(1), "\(slow.output)")
    #expect(slow.output.contains("MISSED"), "\(slow.output)")
  }

  @Test func `the JSON contains it`() throws {
    let peer = try EchoPeerProcess("/usr/bin/python3", "echo.py")
    let folder = try TemporaryFolder()
    let run = try SwarmProcess(
      playing: Self.scenario(peer.url), ["--json", folder["echo.json"]])
    #expect(run.exitCode == run.unlessVoid(0), "\(run.output)")
    let json = try folder.read("echo.json")
    #expect(json.contains(run.exitCode == 4 ? "void" : "every message came back once"))
    #expect(json.contains("\"mode\":\"echo\""))
    #expect(json.contains("\"deliver\":{\"count\":600"))
  }

  @Test(arguments: [
    ("mode: ecco", "mode is \"ecco\"; expected relay or echo"),
    ("mode: echo\nrooms: [{ shape: one }]", ":2: rooms has no meaning for mode: echo; remove it"),
    ("mode: echo\nchaos: []", "chaos has no meaning for mode: echo"),
    (
      "mode: echo\nclients:\n  - { persona: chatter, count: 1 }\n  - { persona: mobile, count: 1 }",
      ":4: clients[1].persona has no meaning for mode: echo; expected lurker, chatter or burst"
    ),
    (
      "mode: echo\nthresholds: { ack_p99_ms: 3 }",
      "thresholds.ack_p99_ms has no meaning for mode: echo; expected connect or deliver"
    ),
  ])
  func `keys that do not apply to an echo are errors`(yaml: String, expected: String) {
    var yaml = yaml
    if !yaml.contains("clients:") { yaml += "\nclients: [{ persona: chatter, count: 1 }]" }
    yaml += "\nphases: [{ seconds: 1, connections: { constant: 1 } }]\nurl: ws://h/\n"
    do throws(ScenarioError) {
      _ = try Scenario(yaml: Array(yaml.utf8), file: "e.yaml")
      Issue.record("\(yaml) is no mistake")
    } catch {
      #expect(error.description.contains(expected), "\(error)")
    }
  }
}

@Suite struct `Echo ledger` {
  private func take(_ ledger: inout EchoLedger, _ text: String, isText: Bool = true)
    -> EchoLedger.Finding
  {
    ledger.received(Array(text.utf8).span, isText: isText)
  }

  private func promise(_ finding: EchoLedger.Finding) -> Promise? {
    if case .wrong(let promise, _) = finding { promise } else { nil }
  }

  private func ledger(_ count: Int) -> EchoLedger {
    var ledger = EchoLedger(user: "ada")
    for number in 1...count {
      ledger.sent(Array("ada #\(number) @x".utf8), number: number, intended: UInt64(number))
    }
    return ledger
  }

  @Test func `messages that return in order are good, in any number`() {
    var ledger = ledger(5000)
    for number in 1...5000 {
      #expect(take(&ledger, "ada #\(number) @x") == .good(intended: UInt64(number)))
    }
    #expect(ledger.isComplete)
  }

  @Test func `each fault is named, and the rest stays good`() {
    var ledger = ledger(8)
    #expect(take(&ledger, "ada #3 @x") == .good(intended: 3))
    #expect(promise(take(&ledger, "ada #1 @x")) == .reordered)
    #expect(promise(take(&ledger, "ada #1 @x")) == .doubled)
    #expect(promise(take(&ledger, "ada #4 @y")) == .altered)
    #expect(promise(take(&ledger, "ada #5 @x", isText: false)) == .altered)
    #expect(promise(take(&ledger, "something")) == .altered)
    #expect(take(&ledger, "ada #8 @x") == .good(intended: 8))
    #expect(promise(take(&ledger, "ada #7 @y")) == .altered)
    #expect(promise(take(&ledger, "ada #8 @x")) == .doubled)
    #expect(promise(take(&ledger, "something")) == .invented)
    #expect(ledger.outstanding.map(\.number) == [2])
  }

  @Test func `messages in flight on a lost connection are missing`() {
    var ledger = ledger(3)
    _ = take(&ledger, "ada #1 @x")
    #expect(ledger.forget().map(\.number) == [2, 3])
    #expect(ledger.isComplete)
  }
}

extension SwarmProcess {
  /// If the machine was too busy in every attempt, that is reported instead.
  func unlessVoid(_ code: Int32) -> Int32 { output.contains("\nvoid: ") ? 4 : code }
}
