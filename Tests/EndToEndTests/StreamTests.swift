import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Rooms as event streams and by long polls.
  @Suite struct `Without a WebSocket` {
    /// Runs one case of `streams.py`.
    private func play(_ name: String, _ configuration: String) throws {
      let relay = try RelayProcess(configuration)
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer("streams.py"), name, "\(relay.port)"], input: "")
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a stream has the relay's messages, and is resumed by the id of any entry`() throws {
      try play("basics", "loops: 2\n\(RelayProcess.withoutLimits)")
    }

    @Test func `a stream that cannot begin is a problem`() throws {
      try play(
        "refusals",
        """
        rooms: { create: listed, listed: [{ room: open }, { room: a }] }
        limits: { rooms_per_connection: 4, requests_per_s: 0 }
        """)
    }

    @Test func `a long poll is answered when there is an entry, or in the end`() throws {
      try play("polls", "loops: 2\n\(RelayProcess.withoutLimits)")
    }

    @Test func `streams and polls count as connections, and a stream makes its user online`() throws
    {
      let folder = try TemporaryFolder()
      try folder.write("[{ user: bo }]\n", to: "people.yaml")
      try play(
        "limits",
        """
        limits: { connections_per_user: 3, requests_per_s: 0 }
        directory: { kind: local, file: \(folder["people.yaml"]) }
        """)
    }

    @Test func `a hundred streams get every entry`() throws {
      try play("many", "loops: 2\n\(RelayProcess.withoutLimits)")
    }

    @Test func `a stream that is read slowly gets every entry, in order`() throws {
      try play("slow", RelayProcess.withoutLimits)
    }

    @Test func `a stream that is not read ends, and one without entries has comments`() throws {
      try play(
        "gone",
        """
        limits: { connections_per_user: 0, sends_per_s: 0, burst: 0, requests_per_s: 0,
          bytes_per_s: 0, heartbeat_s: 1, idle_timeout_s: 2 }
        """)
    }

    @Test func `a stream over TLS is the same`() throws {
      let certificates = try Certificates()
      try certificates.use("server", key: "server")
      let relay = try RelayProcess("\(certificates.configuration)\n\(RelayProcess.withoutLimits)")
      let peer = try ChildProcess(
        [
          "/usr/bin/python3", Programs.peer("streams.py"), "basics", "\(relay.port)",
          certificates.authority,
        ], input: "")
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }

    @Test func `a ban ends streams and polls`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer("streams.py"), "ban", "\(relay.port)"], input: "")
      try peer.waitForOutput { $0 == "ready\n" }
      try relay.folder.write(
        "data: \(relay.dataFolder)\nauth: { banned: [bo] }\n\(RelayProcess.withoutLimits)\n",
        to: "relay.yaml")
      relay.process.signal(SIGHUP)
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "ready\ngood\n")
    }

    @Test func `streams and polls end with their token`() throws {
      try play("tokens", "auth: { mode: jwt, secret: 0123456789abcdef0123456789abcdef }")
    }

    /// One stream of two rooms, each time from the last id that curl was told.
    @Test func `curl loses and doubles no entry while the relay is killed again and again`() throws
    {
      let relay = try RelayProcess("loops: 2\n\(RelayProcess.withoutLimits)")
      var id: String?
      var seen: [String: [Int64]] = ["a": [], "b": []]
      var posted = 0
      for round in 1...6 {
        let curl = try ChildProcess(
          [
            "/usr/bin/curl", "-sN", "-H", "Last-Event-ID: \(id ?? "")",
            "http://127.0.0.1:\(relay.port)/v1/stream?user=bo&room=a&after=0&room=b&after=0",
          ], input: "")
        for _ in 1...25 {
          posted += 1
          for room in ["a", "b"] {
            let body = #"[{"type":"send","room":"\#(room)","id":"\#(posted)","text":"hi"}]"#
            let answer = try HTTPExchange(
              relay,
              "POST /v1/requests?user=ada HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                + body
            ).answer()
            #expect(answer.contains(#""type":"ack""#), "\(answer)")
          }
        }
        // Sometimes all have come, and sometimes it is killed while some are on their way.
        let count = round % 2 == 0 ? posted * 2 - seen.values.reduce(0) { $0 + $1.count } : 7
        try curl.waitForOutput { $0.ranges(of: "event: message\n").count >= count }
        try relay.kill()
        _ = try curl.wait()
        // An event counts when it is whole.
        for block in curl.output.split(separator: "\n\n").dropLast(
          curl.output.hasSuffix("\n\n") ? 0 : 1)
        {
          let lines = block.split(separator: "\n")
          if let line = lines.first(where: { $0.hasPrefix("id: ") }) {
            id = String(line.dropFirst(4))
          }
          guard lines.first == "event: message",
            let data = lines.first(where: { $0.hasPrefix("data: ") })
          else { continue }
          let entry = try Entry(decoding: Array(data.dropFirst(6).utf8).span)
          seen[entry.room]?.append(entry.seq)
        }
        try relay.start()
      }
      #expect(seen == ["a": Array(1...Int64(posted)), "b": Array(1...Int64(posted))])
      try relay.stop()
    }

    @Test func `a shutdown announces itself to streams, and answers polls`() throws {
      let relay = try RelayProcess()
      let base = "http://127.0.0.1:\(relay.port)/v1"
      let stream = try ChildProcess(
        ["/usr/bin/curl", "-sN", "\(base)/stream?user=ada&room=a"], input: "")
      let poll = try ChildProcess(
        ["/usr/bin/curl", "-s", "\(base)/rooms/a/messages?user=ada&after=0&wait_s=60"], input: "")
      try stream.waitForOutput { $0.contains("\nid: ") }
      #expect(becomesTrue { (try? relay.metrics())?.contains("\nrelay_sessions 2\n") == true })
      #expect(try relay.stop() == .exit(0))
      #expect(try stream.wait() == .exit(0))
      #expect(stream.output.contains("\nretry: "))
      #expect(stream.output.contains("event: closing\n"))
      #expect(stream.output.hasSuffix("\n\n"))
      #expect(try poll.wait() == .exit(0))
    }
  }
}
