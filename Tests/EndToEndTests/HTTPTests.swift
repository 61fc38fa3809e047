import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// relay.v1 as requests, by Python's http.client and by bytes of one's own.
  @Suite struct `Over HTTP` {
    /// Runs one case of `http_client.py`.
    private func play(_ name: String, _ configuration: String, in folder: TemporaryFolder? = nil)
      throws
    {
      let relay = try RelayProcess(configuration, in: folder)
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer("http_client.py"), name, "\(relay.port)"], input: "")
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      #expect(try relay.stop() == .exit(0))
      let verify = try RelayProcess.command("verify", "--data", relay.dataFolder)
      #expect(try verify.wait() == .exit(0), "\(verify.output)\(verify.errors)")
    }

    @Test func `a thousand entries are published, and read in pages from either end`() throws {
      try play("paging", RelayProcess.withoutLimits)
    }

    @Test func `an id that was sent before is answered with its first entry`() throws {
      try play("duplicate", "")
    }

    @Test func `an error is answered with its status and the reason`() throws {
      try play("problems", RelayProcess.withoutLimits)
    }

    @Test func `all kinds of entry are published, and read folded or as stored`() throws {
      try play("kinds", RelayProcess.withoutLimits)
    }

    @Test func `people are listed in pages`() throws {
      let folder = try TemporaryFolder()
      try folder.write("[{ user: bot-1, name: Number 1 }, { user: bot-2 }]\n", to: "people.yaml")
      let bots = (3...7).map { "{ user: bot-\($0), name: Number \($0), behaviour: echo }" }
      try play(
        "people",
        """
        \(RelayProcess.withoutLimits)
        bots: [\(bots.joined(separator: ", "))]
        directory: { kind: local, file: \(folder["people.yaml"]) }
        """, in: folder)
    }

    @Test func `pictures of people come from the relay, not from their hosts`() throws {
      let folder = try TemporaryFolder()
      let pictures = try ChildProcess(
        ["/usr/bin/python3", Programs.peer("pictures.py"), "small", folder["people.yaml"]])
      try pictures.waitForOutput { $0.contains("ready\n") }
      try play(
        "avatars",
        "directory: { kind: local, file: \(folder["people.yaml"]), private_avatars: true }",
        in: folder)
      pictures.write("\n")
      #expect(try pictures.wait() == .exit(0), "\(pictures.errors)")
      // However often they were asked for, each was fetched once.
      #expect(pictures.output == "ready\n/ada 1\n/bo 1\n/bomb 1\n/jo 1\n")
    }

    @Test func `a user's limits hold over all connections`() throws {
      try play("limits", "loops: 2\nlimits: { sends_per_s: 2, burst: 4, requests_per_s: 4 }")
    }

    @Test func `a batch of requests is worked off in order, and each has its answer`() throws {
      try play("requests", RelayProcess.withoutLimits)
    }

    @Test func `a batch is charged as a whole`() throws {
      try play("batch_limits", "limits: { sends_per_s: 2, burst: 4 }")
    }

    @Test func `a token determines the user that publishes, and its rights`() throws {
      try play(
        "tokens",
        "auth: { mode: jwt, secret: 0123456789abcdef0123456789abcdef, banned: [eve], operators: [cy] }"
      )
    }

    @Test func `requests that are sent ahead are answered in their order`() throws {
      try play("pipelining", RelayProcess.withoutLimits)
    }

    @Test func `content that is cut, slow or announced`() throws {
      try play("bodies", "limits: { handshake_timeout_ms: 1500 }")
    }

    @Test func `a connection serves one request after the other`() throws {
      try play("keep_alive", "limits: { handshake_timeout_ms: 1500 }")
    }

    @Test func `pages of other sites are admitted if their origin is allowed`() throws {
      try play("origins", "auth: { origins: [\"https://chat.example\"] }")
    }

    @Test func `published entries reach subscribers in one order with those sent over WebSocket`()
      throws
    {
      let relay = try RelayProcess("loops: 2")
      let bo = try RawClient(relay, user: "bo")
      _ = try bo.join("general", after: 0)
      for number in 1...5 {
        let body = #"{"id":"\#(number)","text":"over HTTP"}"#
        let answer = try HTTPExchange(
          relay,
          """
          POST /v1/rooms/general/messages?user=ada HTTP/1.1\r
          Host: localhost\r
          Connection: close\r
          Content-Type: application/json\r
          Content-Length: \(body.utf8.count)\r\n\r
          \(body)
          """
        ).answer()
        #expect(answer.hasPrefix("HTTP/1.1 201 Created\r\n"), "\(answer)")
        let entry = try bo.entry()
        #expect(entry.seq == Int64(number))
        #expect(entry.from == "ada")
        #expect(entry.text == "over HTTP")
      }
      // Who publishes over HTTP has never been there.
      try bo.send(.join(.init(room: "dm:ada:bo")))
      let presence = try bo.first { message in
        if case .presence(let presence) = message { presence } else { nil }
      }
      #expect(presence.user == "ada")
      #expect(presence.presence == .offline)
      try relay.stop()
    }

    /// The answer is longer than the kernels' buffers of both sides, so it waits for the reader.
    @Test func `an answer that is read slowly is the answer all the same`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let ada = try RawClient(relay, user: "ada")
      for number in 1...17 {
        _ = try ada.say(String(repeating: "x", count: 8000), in: "general", id: "\(number)")
      }
      let exchange = try HTTPExchange(
        relay,
        "GET /v1/rooms/general/messages?user=bo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        receiveBufferBytes: 4096)
      let answer = try exchange.answer()
      let mark = try #require(answer.firstRange(of: "\r\n\r\n"))
      let page = try ServerMessage(decoding: Array(answer[mark.upperBound...].utf8).span)
      guard case .history(let history) = page else { throw Unexpected("\(answer.prefix(200))") }
      #expect(history.entries.last?.seq == 17)
      #expect(history.more)
      #expect(history.entries.allSatisfy { $0.text?.utf8.count == 8000 })
    }
  }
}
