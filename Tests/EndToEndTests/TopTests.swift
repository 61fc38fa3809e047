import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// `relay top`, and the list of connections that it reads.
  @Suite struct `relay top` {
    private func top(_ relay: RelayProcess, _ arguments: String...) throws -> ChildProcess {
      try ChildProcess(
        [Programs.relay, "top", "--data", relay.dataFolder] + arguments, input: "")
    }

    /// Waits for a line that is as expected.
    private func line(
      of top: ChildProcess, where isExpected: (JSONNode) -> Bool
    ) throws -> JSONNode {
      while let line = top.readLine() {
        guard let node = JSONNode(Array(line.utf8)), node.isObject else {
          throw Unexpected("no JSON: \(line)")
        }
        if isExpected(node) { return node }
      }
      throw Unexpected("top ended: \(top.errors)")
    }

    private func number(_ node: JSONNode?) -> Double { node?.number.flatMap(Double.init) ?? -1 }

    @Test func `each line tells the load, the latency, who is connected, and what the threads do`()
      throws
    {
      let relay = try RelayProcess()
      let (ada, bo) = (try RawClient(relay, user: "ada"), try RawClient(relay, user: "bo"))
      _ = try bo.join("tea")
      let top = try top(relay, "--json")
      var sent = 0
      let busy = try line(of: top) { node in
        // It measures between two looks, whenever those are.
        for _ in 0..<5 {
          sent += 1
          _ = try? ada.say("hello", in: "tea", id: "\(sent)")
        }
        return number(node["entries_per_s"]) > 0 && number(node["ack_ms"]?["p99"]) > 0
          && !(node["clients"]?["rooms"]?.elements ?? []).isEmpty
      }
      #expect(number(busy["connections"]) == 2)
      #expect(number(busy["deliveries_per_s"]) > 0)
      #expect(number(busy["ack_ms"]?["p50"]) <= number(busy["ack_ms"]?["p99"]))
      #expect(busy["clients"]?["rooms"]?.elements?.first?["room"]?.string == "tea")
      let clients = try #require(busy["clients"]?["connections"]?.elements)
      #expect(Set(clients.compactMap { $0["user"]?.string }) == ["ada", "bo"])
      #expect(clients.allSatisfy { $0["transport"]?.string == "websocket" })
      #expect(clients.allSatisfy { $0["address"]?.string == "127.0.0.1" })
      #expect(busy["clients"]?["total"]?.integer == 2)
      #expect(busy["file_bytes"]?.member(named: "relay.db") != nil)
    }

    @Test func `a relay that ends is missed with a word, and so is one that does not run`() throws {
      let relay = try RelayProcess()
      let top = try top(relay, "--json")
      _ = try line(of: top) { _ in true }
      _ = try relay.stop()
      #expect(try top.wait() == .exit(1))
      #expect(top.errors.contains("No relay runs on the data folder \(relay.dataFolder): "))
    }

    @Test func `the screen shows it until q, also where the relay starts again`() throws {
      let relay = try RelayProcess()
      let ada = try RawClient(relay, user: "ada")
      _ = try ada.join("tea")
      let terminal = try TerminalSession([Programs.relay, "top", "--data", relay.dataFolder])
      let screen = try terminal.wait(for: "figures") {
        $0.contains("latency") && $0.contains("clients")
      }
      #expect(screen.isAlternate)
      #expect(screen.contains("ada, websocket from 127.0.0.1: 1 room, 0 bytes queued"))
      withExtendedLifetime(ada) {}
      try relay.kill()
      try terminal.wait(for: "the problem") { $0.contains("No relay runs on the data folder") }
      try relay.start()
      try terminal.wait(for: "figures again") { $0.contains("latency") }
      try terminal.press("q")
      try terminal.wait(for: "the shell's screen") { !$0.isAlternate }
    }

    @Test func `who is connected is for operators, and for no token of the metrics`() throws {
      let relay = try RelayProcess(
        "auth: { mode: jwt, secret: 0123456789abcdef0123456789abcdef, operators: [root] }")
      func token(_ user: String) throws -> String {
        try run(Programs.relay, "token", "--user", user, "--config", relay.folder["relay.yaml"])
          .split(separator: "\n").joined()
      }
      let address = "http://127.0.0.1:\(relay.port)"
      func answer(_ user: String, _ query: String = "") throws -> String {
        let credentials = "Authorization: Bearer \(try token(user))"
        return try run("curl", "-s", "-H", credentials, "\(address)/v1/connections\(query)")
      }
      let ada = try RawClient(
        relay, user: nil, headers: [("Authorization", "Bearer \(try token("ada"))")])
      _ = try ada.join("tea")
      #expect(try answer("ada").contains("Only operators of the relay may do that."))
      #expect(try answer("root", "?of=bo").hasPrefix(#"{"total":0,"connections":[],"#))
      #expect(try answer("root").hasPrefix(#"{"total":1,"connections":[{"user":"ada","#))
      let top = try ChildProcess(
        [
          Programs.relay, "top", "--json", "--url", address, "--token", RelayProcess.metricsToken,
        ], input: "")
      #expect(try line(of: top) { _ in true }["clients"] == nil)
      withExtendedLifetime(ada) {}
    }
  }
}
