import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// `relay trace`, and the interface behind it.
  @Suite struct `Traces` {
    private func trace(_ relay: RelayProcess, _ arguments: String...) throws -> ChildProcess {
      let command = try ChildProcess(
        [Programs.relay, "trace", "--config", relay.folder["relay.yaml"]] + arguments, input: "")
      try command.wait()
      return command
    }

    private func node(_ command: ChildProcess) throws -> JSONNode {
      guard let node = JSONNode(Array(command.output.utf8)) else {
        throw Unexpected("\(command.output)\(command.errors)")
      }
      return node
    }

    private func http(
      _ relay: RelayProcess, _ request: String, _ headers: String = "", _ content: String = ""
    ) throws -> String {
      try HTTPExchange(
        relay,
        "\(request) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(headers)\r\n\(content)"
      ).answer()
    }

    private func milliseconds(_ node: JSONNode?) throws -> Double {
      guard let number = node?.number.flatMap(Double.init) else { throw Unexpected("no number") }
      return number
    }

    @Test(arguments: ["fsync", "memory"])
    func `an entry goes from stage to stage, to two receivers, one of which reads`(
      durability: String
    ) throws {
      let relay = try RelayProcess("loops: 2\nlog: { durability: \(durability) }")
      let (bo, cy) = (try RawClient(relay, user: "bo"), try RawClient(relay, user: "cy"))
      for client in [bo, cy] { _ = try client.join("r") }
      let ada = try RawClient(relay, user: "ada")
      let ack = try ada.say("hello", in: "r", id: "a/1")
      for client in [bo, cy] { #expect(try client.entry().seq == ack.seq) }
      try bo.send(#"{"type":"read","room":"r","seq":1,"ref":"x"}"#)
      try cy.send(#"{"type":"received","room":"r","seq":1,"ref":"x"}"#)
      // The mark has taken effect.
      for client in [bo, cy] { _ = try client.first { if case .ok = $0 { true } else { nil } } }

      let command = try trace(relay, "--room", "r", "--id", "a/1", "--json")
      #expect(command.errors == "")
      let node = try node(command)
      #expect(node["room"]?.string == "r")
      #expect(node["seq"]?.integer == 1)
      #expect(node["from"]?.string == "ada")
      // The relay's clock may be set while this runs, but not by much.
      #expect(abs((node["received_at"]?.integer ?? 0) - ack.at) < 1000)
      let batched = try milliseconds(node["batched_ms"])
      let committed = try milliseconds(node["committed_ms"])
      let synced = try milliseconds(node["synced_ms"])
      #expect(0 <= batched)
      #expect(batched <= committed)
      #expect(committed <= synced)
      let fanOuts = try #require(node["fanned_out"]?.elements)
      #expect(fanOuts.compactMap { $0["connections"]?.integer }.reduce(0, +) == 2)
      for fanOut in fanOuts { #expect(synced <= (try milliseconds(fanOut["ms"]))) }
      #expect(node["members"]?.integer == 3)
      let received = try #require(node["received_by"]?.elements)
      #expect(received.compactMap { $0["user"]?.string } == ["bo", "cy"])
      for member in received { #expect(synced < (try milliseconds(member["ms"]))) }
      let read = try #require(node["read_by"]?.elements)
      #expect(read.compactMap { $0["user"]?.string } == ["bo"])
      try relay.stop()
    }

    @Test
    func `the command prints a table, and finds the relay by its folder, however long its path is`()
      throws
    {
      let folder = try TemporaryFolder()
      let relay = try RelayProcess(
        in: folder, data: folder[String(repeating: "d", count: 120)])
      let ada = try RawClient(relay, user: "ada")
      _ = try ada.join("r")
      try ada.say("hello", in: "r", id: "1")
      _ = try ada.entry()
      let command = try RelayProcess.command(
        "trace", "--room", "r", "--seq", "1", "--data",
        folder[String(repeating: "d", count: 120)])
      #expect(command.errors == "")
      let lines = command.output.split(separator: "\n").map(String.init)
      #expect(lines.first == "entry 1 of r by ada")
      let stages = lines.dropFirst(2).map { $0.prefix { $0 != " " } }
      #expect(stages == ["received", "batched", "committed", "synced", "fanned"])
      #expect(
        lines.last?.hasSuffix("loop 0: 1 connection") == true
          || lines.last?.hasSuffix("loop 1: 1 connection") == true)
      try relay.stop()
    }

    @Test
    func
      `an entry is found by the trace of its sender, over WebSocket and HTTP, by operators only`()
      throws
    {
      let relay = try RelayProcess()
      let ada = try RawClient(relay, user: "ada")
      let parents = ["a", "b"].map { "00-\(String(repeating: $0, count: 32))-00f067aa0ba902b7-01" }
      try ada.send(
        #"{"type":"send","room":"r","id":"1","text":"hi","traceparent":"\#(parents[0])"}"#)
      _ = try ada.first { if case .ack = $0 { true } else { nil } }
      let content = #"{"id":"2","text":"hi"}"#
      let answer = try http(
        relay, "POST /v1/rooms/r/messages?user=bo",
        """
        traceparent: \(parents[1])\r
        Content-Type: application/json\r
        Content-Length: \(content.utf8.count)\r

        """, content)
      #expect(answer.hasPrefix("HTTP/1.1 201 "))
      for (seq, parent) in zip(1..., parents) {
        let id = String(parent.dropFirst(3).prefix(32))
        let table = try trace(relay, "--trace-id", id)
        #expect(table.output.contains("entry \(seq) of r by "), "\(table.errors)")
        #expect(table.output.contains("\ntraceparent \(parent)\n"))
        let node = try node(try trace(relay, "--trace-id", id, "--json"))
        #expect(node["seq"]?.integer == Int64(seq))
        #expect(node["traceparent"]?.string == parent)
        #expect(try http(relay, "GET /v1/traces/\(id)?user=ada").hasPrefix("HTTP/1.1 403 "))
      }
      let none = try trace(relay, "--trace-id", String(repeating: "c", count: 32))
      #expect(try none.wait() == .exit(1))
      #expect(none.errors.hasPrefix("No entry of this trace is kept"))
      try relay.stop()
    }

    @Test func `a certificate for another name is no obstacle on the relay's machine`() throws {
      let certificates = try Certificates()
      try certificates.use("server", key: "server")
      let relay = try RelayProcess(certificates.configuration)
      let command = try RelayProcess.command(
        "trace", "--room", "r", "--seq", "1", "--url", "https://127.0.0.1:\(relay.port)")
      // Its address is no credential.
      #expect(command.errors.hasPrefix("Authentication is required"))
      try relay.stop()
    }

    @Test func `after too many entries the trace is gone, and one that never was is told from it`()
      throws
    {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let ada = try RawClient(relay, user: "ada")
      try ada.say("first", in: "r", id: "first")
      // The limit of the history, in entries.
      let count = 16_384
      for batch in 0..<16 {
        for number in 0..<count / 16 {
          try ada.send(#"{"type":"send","room":"r","id":"\#(batch)-\#(number)","text":"hi"}"#)
        }
        let last = "\(batch)-\(count / 16 - 1)"
        _ = try ada.first { message in
          if case .ack(let ack) = message, ack.id == last { true } else { nil }
        }
      }
      #expect(try trace(relay, "--room", "r", "--seq", "\(count + 1)").wait() == .exit(0))
      for arguments in [["--seq", "1"], ["--seq", "\(count + 2)"]] {
        let command = try trace(relay, "--room", "r", arguments[0], arguments[1])
        #expect(try command.wait() == .exit(1))
        #expect(command.output == "")
        #expect(command.errors.contains("is not kept any longer") == (arguments[1] == "1"))
        #expect(command.errors.contains("There is no entry") == (arguments[1] != "1"))
      }
      try relay.stop()
    }

    @Test func `a relay that is not there, and a wrong command line, are told`() throws {
      let relay = try RelayProcess()
      try relay.stop()
      // What remains is files that every tool can copy.
      #expect(unsafe access("\(relay.dataFolder)/operator.sock", F_OK) != 0)
      let command = try trace(relay, "--room", "r", "--seq", "1")
      #expect(try command.wait() == .exit(1))
      #expect(
        command.errors.hasPrefix("No relay runs on the data folder \(relay.dataFolder): "))
      for arguments in [
        [], ["--seq", "1", "--id", "1"], ["--seq", "0"], ["--seq", "1", "--token", "x"],
        ["--seq", "1", "--data", "x", "--url", "http://127.0.0.1:1"],
        ["--trace-id", String(repeating: "a", count: 32)],
      ] {
        let command = try ChildProcess(
          [Programs.relay, "trace", "--room", "r"] + arguments, input: "")
        #expect(try command.wait() == .exit(2), "\(arguments)")
      }
    }
  }
}
