import Relay
import Testing
import WebSocket
import Wire

@testable import Gateway

@Suite struct `What a loop tells the operator's log` {
  private let relay = ArrayLoop { $0.idleTimeoutSeconds = 30 }

  init() { show(.info) }

  private func show(_ level: Diagnostics.Level) {
    relay.world.diagnosticsLevel = level
    relay.loop.sweep()
  }

  /// Connects a user, and returns the stream.
  private func connect(_ query: String = "?user=ada", network: UInt64 = 0xC000_0207) -> Int {
    let stream = relay.connect(from: HostKey(network: network, isIPv6: false))
    let head = """
      GET /ws\(query) HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
      Sec-WebSocket-Protocol: relay.v1\r\n\r\n
      """
    #expect(relay.send(head.utf8, on: stream).hasPrefix("HTTP/1.1 101"))
    return stream
  }

  private func reports(_ message: String) -> [[String: LogField.Value]] {
    relay.world.reports.filter { $0.message == message }.map { report in
      Dictionary(uniqueKeysWithValues: report.fields.map { ($0.name, $0.value) })
    }
  }

  private static let signIn = "A user signed in."
  private static let refusal = "A client was refused."
  private static let end = "A session has ended."
  private static let omission =
    "Lines were left out: the limit is \(LineQuota.linesPerMinute) of a kind per minute."

  // MARK: - At info

  @Test func `a user who signs in, with session, transport and address`() throws {
    let stream = connect()
    let report = try #require(reports(Self.signIn).first)
    #expect(report["user"] == .text("ada"))
    #expect(report["address"] == .text("192.0.2.7"))
    #expect(report["transport"] == .text("websocket"))
    #expect(report["connection"] == .number(Int64(stream)))
    guard case .text(let session) = report["session"] else {
      Issue.record("no session")
      return
    }
    #expect(session.count == 11)
  }

  @Test func `a client that is refused, with the reason that it was told`() throws {
    _ = connect("?user=ADA")
    let report = try #require(reports(Self.refusal).first)
    #expect(report["code"] == .number(4401))
    #expect(report["reason"] == .text("A user name must be 1 to 64 of a-z 0-9 . _ -, not . or .."))
    #expect(reports(Self.signIn).isEmpty && reports(Self.end).isEmpty)
  }

  @Test func `a request that is refused, with the reason that it was told`() throws {
    let stream = relay.connect()
    relay.send("GET /v1/rooms HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8, on: stream)
    let report = try #require(reports(Self.refusal).first)
    #expect(report["status"] == .number(401))
    #expect(report["transport"] == .text("http"))
    #expect(report["reason"] != .text(""))
  }

  @Test func `a session that its client closes, once`() throws {
    let stream = connect()
    relay.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8], on: stream)
    relay.pass(milliseconds: 5000)
    let ended = reports(Self.end)
    #expect(ended.count == 1)
    #expect(ended.first?["user"] == .text("ada"))
    #expect(ended.first?["code"] == .number(1000))
    #expect(ended.first?["reason"] == .text("the client closed the connection"))
  }

  @Test func `a session that the relay closes, once, with the reason that its client was told`() {
    let stream = connect()
    relay.world.mail.append(.ban(["ada"]))
    relay.run()
    relay.loop.remove(stream: stream)
    let ended = reports(Self.end)
    #expect(ended.map { $0["code"] } == [.number(4403)])
    #expect(ended.map { $0["reason"] } == [.text("ada is banned from this relay.")])
  }

  @Test func `a session whose connection is lost, once`() {
    relay.loop.remove(stream: connect())
    #expect(reports(Self.end).map { $0["reason"] } == [.text("the connection was lost")])
  }

  @Test func `a limited number of lines, and how many were left out`() {
    let count = LineQuota.linesPerMinute + 40
    for _ in 0..<count { relay.loop.remove(stream: connect()) }
    #expect(reports(Self.signIn).count == LineQuota.linesPerMinute)
    #expect(reports(Self.end).count == LineQuota.linesPerMinute)
    #expect(reports(Self.omission).isEmpty)
    relay.pass(milliseconds: 60_250)
    #expect(reports(Self.omission).map { $0["count"] } == [.number(40), .number(40)])
    #expect(
      reports(Self.omission).map { $0["kind"] } == [.text("signed_in"), .text("ended")])
    _ = connect()
    #expect(reports(Self.signIn).count == LineQuota.linesPerMinute + 1)
  }

  @Test func `every line at debug`() {
    show(.debug)
    let count = LineQuota.linesPerMinute + 40
    for _ in 0..<count { relay.loop.remove(stream: connect()) }
    #expect(reports(Self.signIn).count == count)
  }

  // MARK: - Limits

  @Test func `a rule that was violated, at most once a minute, with the count and the last peer`()
    throws
  {
    let violations = relay.loop.context.violations
    let host = HostKey(network: 0xC000_0207, isIPv6: false)
    violations.count(.sendsPerSecond, 3, by: "ada", from: host)
    violations.count(.sendsPerSecond, 2, by: "bo", from: host)
    relay.pass(milliseconds: 250)
    let message = try #require(Violations.Rule.sendsPerSecond.consequence)
    let report = try #require(reports(message).first)
    #expect(report["rule"] == .text("limits.sends_per_s"))
    #expect(report["count"] == .number(5))
    #expect(report["user"] == .text("bo"))
    #expect(report["address"] == .text("192.0.2.7"))
    for _ in 0..<100 {
      violations.count(.sendsPerSecond, by: "cy")
      relay.pass(milliseconds: 250)
    }
    #expect(reports(message).count == 1)
    relay.pass(milliseconds: 60_000)
    #expect(reports(message).map { $0["count"] } == [.number(5), .number(100)])
    relay.pass(milliseconds: 120_000)
    #expect(reports(message).count == 2)
  }

  @Test(arguments: Violations.Rule.allCases.filter { $0 != .reset })
  func `each rule with a sentence that says what the relay did`(rule: Violations.Rule) {
    relay.loop.context.violations.count(rule)
    relay.pass(milliseconds: 250)
    let reports = relay.world.reports.filter { $0.fields.contains(LogField("rule", rule.rawValue)) }
    #expect(reports.map(\.level) == [rule.isShortage ? .warning : .notice])
    #expect(reports.first?.message.hasSuffix(".") == true)
  }

  @Test func `what is left to tell, when the relay stops`() {
    relay.loop.context.violations.count(.framing)
    relay.pass(milliseconds: 250)
    relay.loop.context.violations.count(.framing)
    for _ in 0...LineQuota.linesPerMinute { relay.loop.remove(stream: connect()) }
    relay.world.mail.append(.shutDown(isTakenOver: false))
    relay.pass(milliseconds: 10_000)
    #expect(relay.run() == .over)
    #expect(relay.world.reports.count { $0.fields.contains(LogField("rule", "framing")) } == 2)
    #expect(reports(Self.omission).count == 2)
  }

  // MARK: - Paths

  @Test(arguments: [
    ("/", "/"), ("/ws", "/ws"), ("/join/s3cret", "/join/…"), ("//join//s3cret", "/join/…"),
    ("/v1/invites/s3cret", "/v1/invites/…"), ("/v1/device/s3cret", "/v1/device/…"),
    ("/sign-in/github/callback", "/sign-in/…"),
    ("/v1/rooms/tea/messages", "/v1/rooms/tea/messages"),
    ("/v1/people/ada/avatar", "/v1/people/ada/avatar"), ("/v1", "/v1"),
  ])
  func `a path without what may be a secret, and no query`(path: String, shown: String) throws {
    show(.debug)
    let stream = relay.connect()
    relay.send("GET \(path)?token=s3cret HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8, on: stream)
    #expect(reports("A request has arrived.").map { $0["path"] } == [.text(shown)])
    #expect(!relay.world.reports.contains { "\($0)".contains("s3cret") })
  }
}
