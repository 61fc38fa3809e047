import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `The operator's log` {
    /// What a client or a program may want the log to show: a cleared screen, a line of its own, and text
    /// from right to left.
    private static let hostile = #"\033[2J\r\n2026-01-01 critical forged\342\200\256\n"#

    /// A relay with a bot whose program writes that to its standard error.
    private func relay(_ configuration: String, under wrapper: [String] = []) throws -> RelayProcess
    {
      try RelayProcess(
        """
        \(configuration)
        bots:
          - user: bot
            behaviour: [exec]
            rooms: [general]
            command: [sh, -c, "printf '\(Self.hostile.replacing(#"\"#, with: #"\\"#))' >&2; cat"]
        """, under: wrapper)
    }

    /// Returns what a relay logs while clients are served, refused and slowed.
    private func log(_ configuration: String, under wrapper: [String] = []) throws -> String {
      let relay = try relay(configuration, under: wrapper)
      let ada = try RawClient(relay, user: "ada")
      _ = try ada.join("general")
      try ada.say("hello", in: "general", id: "1")
      try ada.send(#"{"type":"\u001b[2J\u202e\n","ref":"1"}"#)
      _ = try ada.error()
      _ = try RawClient(relay, user: "ADA").error()
      for path in ["/%1B%5B2J", "/v1/rooms?token=x", "/\u{1B}"] {
        _ = try HTTPExchange(relay, "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").answer()
      }
      try ada.close()
      _ = try ada.untilClosed()
      try relay.process.waitForErrors { $0.contains("forged") }
      #expect(try relay.stop() == .exit(0))
      return relay.process.errors
    }

    private func lines(_ log: String) -> [Substring] { log.split(separator: "\n") }

    /// Programs wait for this line as it is.
    private func isAnnounced(_ line: Substring) -> Bool {
      line.wholeMatch(of: #/listening on ws://127\.0\.0\.1:\d+/ws/#) != nil
    }

    // MARK: Forms

    @Test func `each line has a date with the zone, a level and a message`() throws {
      let log = try log("log_level: trace", under: ["env", "TZ=Asia/Kolkata"])
      let line =
        /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:30 (trace|debug|info|notice|warning) \S.*/
      for text in lines(log) where !isAnnounced(text) {
        #expect(text.wholeMatch(of: line) != nil, "\(text)")
      }
      #expect(lines(log).contains(where: isAnnounced))
      #expect(log.contains(#"line="\u{1b}[2J" "#))
      #expect(log.contains(#"line="2026-01-01 critical forged\u{202e}" "#))
      #expect(!log.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{202E}" || $0 == "\r" })
    }

    @Test func `the journal gets a priority instead of the date and the level`() throws {
      let wrapper = [
        "sh", "-c", #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$0" "$@""#,
      ]
      let log = try log("log_level: trace", under: wrapper)
      for text in lines(log) { #expect(text.wholeMatch(of: #/<[4-7]>[A-Zl].*/#) != nil, "\(text)") }
      #expect(log.contains("<5>listening on ws://127.0.0.1:"))
      #expect(log.contains("<6>A user signed in. address=127.0.0.1 "))
      #expect(log.contains("<7>A message is received. "))
      let other = try self.log("", under: ["env", "JOURNAL_STREAM=1:1"])
      #expect(lines(other).allSatisfy { $0.hasPrefix("2") || isAnnounced($0) })
    }

    @Test func `JSON has one object on each line, with the fields as members`() throws {
      let log = try log("log_level: trace\nlog_format: json")
      let script = """
        import json, sys
        for line in sys.stdin:
            event = json.loads(line)
            assert list(event)[:3] == ["time", "level", "message"], line
            if event["message"] == "A user signed in." and event["user"] == "ada":
                print(event["level"], event["transport"], event["address"], type(event["loop"]).__name__)
            if event["message"].endswith("its standard error."):
                print(ascii(event["line"]))
        """
      let parser = try ChildProcess(["/usr/bin/python3", "-c", script], input: log)
      #expect(try parser.wait() == .exit(0), "\(parser.errors)")
      #expect(
        Set(lines(parser.output)) == [
          "info websocket 127.0.0.1 int", #"'\x1b[2J'"#,
          #"'2026-01-01 critical forged\u202e'"#,
        ])
    }

    // MARK: Start, changes and stop

    @Test func `the start and the stop are told`() throws {
      let relay = try RelayProcess()
      #expect(try relay.stop() == .exit(0))
      let log = relay.process.errors
      let started = try #require(lines(log).first { $0.contains(" info The relay has started. ") })
      for field in [
        "version=", "address=127.0.0.1:\(relay.port)", "data=\(relay.dataFolder)", "store=sqlite",
        "durability=fsync", "rooms=0", "entries=0", "auth=open", "tls=off",
      ] { #expect(started.contains(" \(field)"), "\(started)") }
      #expect(log.contains(" info The relay stops. signal=SIGTERM\n"))
      #expect(log.contains(#/ info The relay has stopped\. drain_ms=\d+\n/#))

      try relay.start()
      let ada = try RawClient(relay, user: "ada")
      try ada.say("hello", in: "general", id: "1")
      try relay.stop()
      try relay.start()
      #expect(relay.process.errors.contains(#/ entries=1 .* rooms=1 /#))
    }

    @Test func `it is told at any level that the relay listens, and why it does not start`() throws
    {
      let relay = try RelayProcess("log_level: critical")
      #expect(lines(relay.process.errors).count == 1)
      let other = try ChildProcess(
        [
          Programs.relay, "serve", "--config", relay.folder["relay.yaml"], "--listen",
          "127.0.0.1:\(relay.port)",
        ], input: "")
      #expect(try other.wait() == .exit(4))
      #expect(other.errors.contains(" critical Cannot listen on 127.0.0.1:\(relay.port): "))
    }

    private func reload(_ relay: RelayProcess, _ old: String, _ new: String) throws {
      try relay.folder.write(
        try readFile(relay.folder["relay.yaml"]).replacing(old, with: new), to: "relay.yaml")
      relay.process.signal(SIGHUP)
    }

    @Test func `a reload names the keys that have changed, and no secret`() throws {
      let relay = try RelayProcess(
        "auth: { mode: jwt, secret: 0123456789abcdef0123456789abcdef }\ndrain_s: 5")
      try reload(
        relay, "secret: 0123456789abcdef0123456789abcdef",
        "secret: fedcba9876543210fedcba9876543210, banned: [eve]")
      try relay.process.waitForErrors { log in
        log.contains(#" info The configuration was reloaded. changed="auth.secret auth.banned""#)
      }
      #expect(!relay.process.errors.contains("Changes of some keys"))

      try reload(relay, "drain_s: 5", "drain_s: 6")
      try relay.process.waitForErrors { log in
        log.contains(" info The configuration was reloaded. changed=drain_s\n")
          && log.contains(
            " warning Changes of some keys are not in effect. Restart the relay. keys=drain_s\n")
      }
      try reload(relay, "drain_s: 6", "drain_s: many")
      try relay.process.waitForErrors { log in
        log.contains(#/ error The configuration was not reloaded.*drain_s is "many"/#)
      }
      #expect(!relay.process.errors.contains("0123456789abcdef"))
      #expect(!relay.process.errors.contains("fedcba9876543210"))
    }

    // MARK: What clients cause

    @Test func `users who sign in again and again fill no disk`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      for _ in 0..<100 { _ = try RawClient(relay, user: "ada") }
      #expect(try relay.stop() == .exit(0))
      let log = relay.process.errors
      #expect(lines(log).count { $0.contains(" A user signed in. ") } == 60)
      #expect(log.contains(#/ info Lines were left out: .* count=40 kind=signed_in\n/#))
      #expect(lines(log).count { $0.contains(" A session has ended. ") } == 60)
    }

    @Test func `a user who sends too much is named, with the address, the rule and the count`()
      throws
    {
      let relay = try RelayProcess("limits: { sends_per_s: 5, burst: 2 }")
      let ada = try RawClient(relay, user: "ada")
      for id in 1...4 { try ada.say("hello", in: "general", id: "\(id)") }
      try relay.process.waitForErrors { log in
        log.contains(
          #/ notice Users were slowed.* address=127\.0\.0\.1 count=\d+ rule=limits\.sends_per_s user=ada\n/#
        )
      }
    }

    @Test(arguments: [
      ("127.0.0.1", "The header cannot be used"),
      ("192.0.2.1", "The address is not in trusted_proxies"),
    ])
    func `a connection that comes as no proxy is told with what to do`(
      proxy: String, reason: String
    ) throws {
      let relay = try RelayProcess("proxy_protocol: true\ntrusted_proxies: [\(proxy)]")
      for _ in 1...3 {
        let answer = try HTTPExchange(relay, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").answer()
        #expect(answer.hasPrefix("HTTP/1.1 40"))
      }
      try relay.process.waitForErrors { log in
        let reports = lines(log).filter { $0.contains(" rule=proxy_protocol") }
        return reports.contains { $0.contains(" reason=\"\(reason)") }
      }
    }

    // MARK: Secrets

    /// Tokens, cookies, codes of invitations and devices, and texts: see `logged_secrets.py`.
    @Test(arguments: ["text", "json"])
    func `no secret of a client gets into the log`(format: String) throws {
      let peer = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("logged_secrets.py"), Programs.relay, format])
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }
  }
}
