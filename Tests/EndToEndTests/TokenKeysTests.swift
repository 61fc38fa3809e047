import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Keys that come and go while the relay runs. Tokens and JWK Sets are made by PyJWT.
  @Suite struct `Keys of tokens` {
    private static let python = "/usr/bin/python3"
    private static let secret = "0123456789abcdef0123456789abcdef"
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
      for (name, options) in [
        ("rsa", ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
        ("ec", ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
        ("new", ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
      ] {
        let made = try ChildProcess(
          ["openssl", "genpkey", "-out", folder[name], "-algorithm"] + options, input: "")
        guard try made.wait() == .exit(0) else { throw Unexpected(made.errors) }
        try run("openssl", "pkey", "-in", folder[name], "-pubout", "-out", folder["\(name).pem"])
      }
      try folder.write(Self.secret, to: "secret")
    }

    // MARK: Tools

    private func peer(_ arguments: String...) throws -> String {
      let peer = try ChildProcess([Self.python, Programs.peer("keys.py")] + arguments, input: "")
      guard try peer.wait() == .exit(0) else { throw Unexpected(peer.errors) }
      return String(peer.output.dropLast())
    }

    /// - Parameter key: the file of a private key or secret.
    private func token(_ key: String, kid: String = "", _ claims: String = #"{"sub":"ada"}"#) throws
      -> String
    {
      let algorithm = key == "rsa" ? "RS256" : key == "secret" ? "HS256" : "ES256"
      return try peer("token", folder[key], algorithm, kid, claims)
    }

    private func set(_ keys: String...) throws -> String {
      let places = keys.map { key in key.contains("=") ? key : "\(key)=\(folder[key])" }
      let peer = try ChildProcess(
        [Self.python, Programs.peer("keys.py"), "jwks"] + places, input: "")
      guard try peer.wait() == .exit(0) else { throw Unexpected(peer.errors) }
      return String(peer.output.dropLast())
    }

    /// A relay to which a client may come again and again.
    private func relay(_ auth: String) throws -> RelayProcess {
      try RelayProcess(
        """
        auth: { mode: jwt, \(auth) }
        loops: 2
        limits: { unauthenticated_per_s: 0, unauthenticated_per_address: 0, connections_per_user: 0 }
        """)
    }

    private func client(_ relay: RelayProcess, _ token: String) throws -> RawClient {
      try RawClient(relay, user: nil, headers: [("Authorization", "Bearer \(token)")])
    }

    private func admitted(_ relay: RelayProcess, _ token: String) throws -> RawClient {
      let client = try client(relay, token)
      guard case .welcome = try client.nextMessage() else { throw Unexpected("no welcome") }
      return client
    }

    /// The error and close code with which a token is refused.
    private func refusal(_ relay: RelayProcess, _ token: String) throws -> (
      code: ErrorCode?, text: String, close: UInt16?
    ) {
      let ended = try client(relay, token).untilClosed()
      guard case .error(let error)? = ended.messages.last else { return (nil, "", ended.code) }
      return (error.code, error.message, ended.code)
    }

    /// Connects until a token is accepted.
    private func eventuallyAdmitted(_ relay: RelayProcess, _ token: String) throws -> RawClient {
      let deadline = Deadline()
      while true {
        let client = try client(relay, token)
        if case .welcome? = try? client.nextMessage() { return client }
        guard !deadline.hasPassed else { throw Unexpected(relay.process.errors) }
      }
    }

    /// An event stream that has begun.
    private func stream(_ relay: RelayProcess, _ token: String) throws -> ChildProcess {
      let curl = try ChildProcess(
        [
          "/usr/bin/curl", "-sN", "-H", "Authorization: Bearer \(token)",
          "http://127.0.0.1:\(relay.port)/v1/stream?room=general",
        ], input: "")
      try curl.waitForOutput { $0.contains("event: joined") }
      return curl
    }

    private func ping(_ client: RawClient) throws {
      try client.send(.ping(t: nil))
      _ = try client.first { if case .pong = $0 { true } else { nil } }
    }

    private func reload(_ relay: RelayProcess, _ auth: String) throws {
      try relay.folder.write(
        "data: \(relay.dataFolder)\nauth: { mode: jwt, \(auth) }\n", to: "relay.yaml")
      relay.process.signal(SIGHUP)
    }

    /// Whether these connections, and no others, end with 4401 within a second.
    private func expectEnd(of ended: [RawClient], not others: [RawClient]) throws {
      let clock = ContinuousClock()
      let took = try clock.measure {
        for client in ended {
          let (messages, code, _) = try client.untilClosed()
          guard case .error(let error)? = messages.last else { throw Unexpected("\(messages)") }
          #expect(error.code == .unauthorized)
          #expect(code == 4401)
        }
      }
      #expect(took < .seconds(1))
      for client in others { try ping(client) }
    }

    // MARK: SIGHUP

    @Test func `removing a key ends exactly its connections, adding and renaming end none`() throws
    {
      let (rsa, ec) = (
        "{ kid: r, public_key: \(folder["rsa.pem"]) }",
        "{ kid: e, public_key: \(folder["ec.pem"]) }"
      )
      let relay = try self.relay("keys: [\(rsa), \(ec)]")
      let (byRSA, byEC) = (try token("rsa", kid: "r"), try token("ec", kid: "e"))
      let old = try (0..<4).map { _ in try admitted(relay, byRSA) }
      let kept = try (0..<4).map { _ in try admitted(relay, byEC) }
      let (oldStream, keptStream) = (try stream(relay, byRSA), try stream(relay, byEC))
      #expect(try refusal(relay, try token("ec")).text.contains("must name its key (kid)"))

      let new = "{ kid: n, public_key: \(folder["new.pem"]) }"
      try reload(relay, "keys: [\(rsa), \(ec), \(new)]")
      let added = try eventuallyAdmitted(relay, try token("new", kid: "n"))
      try (old + kept).forEach(ping)

      // One key is called otherwise, and the other one is gone.
      try reload(relay, "keys: [{ kid: e2, public_key: \(folder["ec.pem"]) }, \(new)]")
      try expectEnd(of: old, not: kept + [added])
      try oldStream.wait()
      #expect(oldStream.output.contains("event: error"))
      #expect(oldStream.output.contains("no longer accepts"))
      #expect(try refusal(relay, byRSA).code == .unauthorized)
      #expect(try refusal(relay, byEC).text.contains("does not know: its kid is e"))
      let renamed = try admitted(relay, try token("ec", kid: "e2"))
      try renamed.say("still there", in: "general", id: "1")
      try keptStream.waitForOutput { $0.contains("still there") }

      // A key that cannot be used changes nothing.
      try folder.write("no key", to: "broken.pem")
      try reload(relay, "keys: [{ kid: x, public_key: \(folder["broken.pem"]) }]")
      try relay.process.waitForErrors { text in
        text.contains("were not replaced")
          && text.contains("auth.keys[0].public_key (\(folder["broken.pem"])) is not a public key")
      }
      try (kept + [added]).forEach(ping)
      _ = try admitted(relay, try token("ec", kid: "e2"))
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `iss, aud, not_before and the claim of the user change at SIGHUP`() throws {
      let relay = try self.relay("secret: \(Self.secret)")
      func connect(_ claims: String) throws -> RawClient {
        try admitted(relay, try token("secret", claims))
      }
      let key = "secret: \(Self.secret)"
      let plain = try connect(#"{"sub":"ada"}"#)
      let foreign = try connect(#"{"sub":"ada","iss":"https://b.example","aud":"chat","iat":100}"#)
      let early = try connect(#"{"sub":"ada","iss":"https://a.example","aud":["chat"],"iat":100}"#)
      let wiki = try connect(#"{"sub":"bo","iss":"https://a.example","aud":"wiki","iat":300}"#)
      let good = try connect(
        #"{"sub":"ada","iss":"https://a.example","aud":["chat","x"],"iat":200}"#)
      let other = try connect(#"{"sub":"bo","iss":"https://a.example","aud":"chat"}"#)

      try reload(relay, "\(key), issuer: https://a.example")
      try expectEnd(of: [plain, foreign], not: [early, wiki, good, other])
      try reload(relay, "\(key), issuer: https://a.example, audience: chat")
      try expectEnd(of: [wiki], not: [early, good, other])
      try reload(
        relay, "\(key), issuer: https://a.example, audience: chat, not_before: { ada: 200 }")
      try expectEnd(of: [early], not: [good, other])
      let refused = try refusal(
        relay, try token("secret", #"{"sub":"ada","iss":"https://a.example","aud":"chat"}"#))
      #expect(refused.text.contains("this one has no iat"))
      try reload(relay, "\(key), user_claim: email")
      try expectEnd(of: [good, other], not: [])
      let mail = try client(
        relay, try token("secret", #"{"sub":"x","email":"Ada@Example.org"}"#))
      guard case .welcome(let welcome) = try mail.nextMessage() else { throw Unexpected("refused") }
      #expect(welcome.user == "ada-example.org-jqis4sqf")
    }

    // MARK: JWK Sets

    @Test func `a file of keys is read at the start and at SIGHUP`() throws {
      try folder.write(try set("rsa", "ec"), to: "jwks.json")
      let jwks = "jwks: \(folder["jwks.json"])"
      let relay = try self.relay(jwks)
      let old = try admitted(relay, try token("rsa", kid: "rsa"))
      let kept = try admitted(relay, try token("ec", kid: "ec"))
      try folder.write(try set("ec", "new"), to: "jwks.json")
      #expect(try refusal(relay, try token("new", kid: "new")).close == 4401)
      try reload(relay, jwks)
      try expectEnd(of: [old], not: [kept])
      _ = try admitted(relay, try token("new", kid: "new"))
      try folder.write("{", to: "jwks.json")
      relay.process.signal(SIGHUP)
      try relay.process.waitForErrors { $0.contains("is not a JWK Set") }
      _ = try admitted(relay, try token("new", kid: "new"))
      try ping(kept)
    }

    /// A provider on loopback that answers as it is told.
    private struct Provider {
      let process: ChildProcess
      let folder: TemporaryFolder
      let port: UInt16

      init() throws {
        folder = try TemporaryFolder()
        process = try ChildProcess([python, Programs.peer("keys.py"), "serve", folder[""]])
        guard let port = process.readLine().flatMap({ UInt16($0) }) else {
          throw Unexpected("the provider did not start: \(process.errors)")
        }
        self.port = port
      }

      var url: String { "http://127.0.0.1:\(port)/keys" }

      /// Replaced as a whole: a request may come at any time.
      func answer(_ json: String) throws {
        try folder.write(json, to: "next")
        guard unsafe rename(folder["next"], folder["answer"]) == 0 else {
          throw Unexpected("rename: \(errno)")
        }
      }

      func waitForRequest() throws {
        guard process.readLine() != nil else { throw Unexpected("no request") }
      }
    }

    private func request(_ relay: RelayProcess, _ target: String, _ token: String) throws
      -> HTTPExchange
    {
      try HTTPExchange(
        relay,
        "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n"
          + "Connection: close\r\n\r\n")
    }

    @Test func `a provider rotates its keys, and the first token by a new one is accepted`() throws
    {
      let provider = try Provider()
      try provider.answer(#"{"body":\#(try set("rsa", "ec"))}"#)
      let relay = try self.relay("jwks: \"\(provider.url)\"")
      let old = try eventuallyAdmitted(relay, try token("rsa", kid: "rsa"))
      let kept = try admitted(relay, try token("ec", kid: "ec"))
      try provider.waitForRequest()
      try relay.process.waitForErrors { $0.contains("2 keys from \(provider.url)") }

      try provider.answer(#"{"body":\#(try set("ec", "new"))}"#)
      let byNew = try token("new", kid: "new")
      let first = try admitted(relay, byNew)
      try provider.waitForRequest()
      // Its token is no longer accepted, so neither is its connection.
      try expectEnd(of: [old], not: [kept, first])
    }

    @Test func `each way to offer a token waits for the keys, which are fetched once`() throws {
      let provider = try Provider()
      try provider.answer(#"{"body":\#(try set("ec"))}"#)
      let relay = try self.relay("jwks: \"\(provider.url)\"")
      // Before the first token waits: programs may take seconds to start on a busy machine.
      let (byNew, byRSA) = (try token("new", kid: "new"), try token("rsa", kid: "rsa"))
      let rotated = #"{"body":\#(try set("ec", "new"))}"#
      let renewing = try eventuallyAdmitted(relay, try token("ec", kid: "ec"))
      try renewing.say("hello", in: "general", id: "1")
      try provider.waitForRequest()

      try provider.answer(#"{"hold":true}"#)
      let header = try client(relay, byNew)
      try provider.waitForRequest()
      let query = try RawClient(relay, user: nil, target: "/ws?token=\(byNew)")
      let message = try RawClient(relay, user: nil, target: "/ws")
      try message.send(.auth(token: byNew))
      try message.send(.ping(t: nil))
      try renewing.send(.auth(token: byNew))
      let plain = try request(relay, "/v1/rooms", byNew)
      let poll = try request(relay, "/v1/rooms/general/messages?after=0&wait_s=60", byNew)
      let events = try request(relay, "/v1/stream?room=general", byNew)
      let stranger = try client(relay, byRSA)
      try provider.answer(rotated)
      for client in [header, query, message] {
        guard case .welcome = try client.nextMessage() else { throw Unexpected("no welcome") }
      }
      guard case .pong = try message.nextMessage() else { throw Unexpected("no pong") }
      _ = try renewing.first { if case .renewed = $0 { true } else { nil } }
      #expect(try plain.answer().hasPrefix("HTTP/1.1 200"))
      #expect(try poll.answer().contains("hello"))
      #expect(try events.firstLine() == "HTTP/1.1 200 OK")
      // The keys have come, and its own is not among them.
      #expect(try stranger.untilClosed().code == 4401)
      #expect(provider.process.output.split(separator: "\n").filter { $0 == "/keys" }.isEmpty)
    }

    @Test func `a relay that has no keys yet lets its first tokens wait for them`() throws {
      let provider = try Provider()
      try provider.answer(#"{"hold":true}"#)
      let (named, unnamed) = (try token("ec", kid: "ec"), try token("ec"))
      let keys = #"{"body":\#(try set("ec"))}"#
      let relay = try self.relay("jwks: \"\(provider.url)\"")
      try provider.waitForRequest()
      let client = try client(relay, named)
      let asked = try request(relay, "/v1/rooms", unnamed)
      try provider.answer(keys)
      guard case .welcome = try client.nextMessage() else { throw Unexpected("no welcome") }
      #expect(try asked.answer().hasPrefix("HTTP/1.1 200"))
    }

    @Test func `a provider that fails or is slow lets clients by unknown keys try again`() throws {
      let provider = try Provider()
      try provider.answer(#"{"body":\#(try set("ec"))}"#)
      let relay = try self.relay("jwks: \"\(provider.url)\"")
      let (byEC, byNew) = (try token("ec", kid: "ec"), try token("new", kid: "new"))
      let kept = try eventuallyAdmitted(relay, byEC)
      try provider.waitForRequest()
      try provider.answer(#"{"hold":true}"#)
      let waiting = try client(relay, byNew)
      try provider.waitForRequest()
      // The provider does not answer at all.
      let slow = try waiting.untilClosed()
      guard case .error(let error)? = slow.messages.last else { throw Unexpected("\(slow)") }
      #expect(error.code == .unavailable)
      #expect((error.retryAfterMilliseconds ?? 0) > 0)
      #expect(slow.code == 1013)
      _ = try admitted(relay, byEC)
      let next = try client(relay, byNew)
      try provider.answer(#"{"status":503}"#)
      #expect(try next.untilClosed().code == 1013)
      try relay.process.waitForErrors { $0.contains("answered 503") }
      // Not worth a fetch: there was one just now.
      #expect(try refusal(relay, byNew).code == .unavailable)
      let problem = try request(relay, "/v1/rooms", byNew).answer()
      #expect(problem.hasPrefix("HTTP/1.1 503"))
      #expect(problem.contains("Retry-After: 1"))
      try kept.send(.auth(token: byNew))
      let renewal = try kept.first { message -> WireError? in
        if case .error(let error) = message { error } else { nil }
      }
      #expect(renewal.code == .unavailable)
      #expect(renewal.message.hasSuffix("The old token stays valid."))
      try ping(kept)
    }

    /// Each answer adds no key, and removes none.
    @Test func `a provider that is down, lies or leads elsewhere leaves the last keys`() throws {
      let (provider, trap) = (try Provider(), try Provider())
      let good = #"{"body":\#(try set("ec"))}"#
      try trap.answer(#"{"body":\#(try set("rsa", "new"))}"#)
      try provider.answer(good)
      let jwks = "jwks: \"\(provider.url)\""
      let relay = try self.relay(jwks)
      let byEC = try token("ec", kid: "ec")
      let kept = try eventuallyAdmitted(relay, byEC)
      for (answer, complaint) in [
        (#"{"status":503,"body":"later"}"#, "answered 503"),
        (#"{"body":\#(try set("rsa", "new")),"bytes":10000000}"#, "is longer than 1048576 bytes"),
        (
          #"{"status":302,"location":"\#(trap.url)"}"#,
          "leads to http://127.0.0.1:\(trap.port), which is not a public address"
        ),
        (#"{"status":302,"location":"file:///etc/passwd"}"#, "could not be fetched"),
        (#"{"body":"<html>Sign in</html>"}"#, "is not a JWK Set"),
        (#"{"body":{"keys":[]}}"#, "has no key that verifies tokens"),
        (
          #"{"body":{"keys":[{"kty":"oct","kid":"s","k":"\#(String(repeating: "A", count: 43))"}]}}"#,
          "everyone who can read its URL could sign tokens"
        ),
        (#"{"delay":11}"#, "could not be fetched"),
      ] {
        try provider.answer(answer)
        let before = relay.process.errors.utf8.count
        relay.process.signal(SIGHUP)
        try relay.process.waitForErrors {
          String($0.utf8.dropFirst(before))?.contains(complaint) == true
        }
        try ping(kept)
        _ = try admitted(relay, byEC)
      }
      #expect(trap.process.output.isEmpty, "no request")
      #expect(relay.process.errors.contains("The keys that were read before stay."))
      try provider.answer(#"{"body":\#(try set("new"))}"#)
      relay.process.signal(SIGHUP)
      try expectEnd(of: [kept], not: [])
    }

    @Test func `a relay starts without its provider, says so, and lets clients try again`() throws {
      let provider = try Provider()
      try provider.answer(#"{"status":500}"#)
      let relay = try self.relay("secret: \(Self.secret), jwks: \"\(provider.url)\"")
      try relay.process.waitForErrors {
        $0.contains("answered 500. Tokens by its keys are not accepted until it can be read.")
      }
      let byEC = try token("ec", kid: "ec")
      let refused = try refusal(relay, byEC)
      #expect(refused.code == .unavailable)
      #expect(refused.close == 1013)
      let problem = try HTTPExchange(
        relay,
        "GET /v1/rooms HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(byEC)\r\n"
          + "Connection: close\r\n\r\n"
      ).answer()
      #expect(problem.hasPrefix("HTTP/1.1 503"))
      #expect(problem.contains("Retry-After: 1"))
      // The key that is configured does not depend on the provider.
      _ = try admitted(relay, try token("secret"))
      try provider.answer(#"{"body":\#(try set("ec"))}"#)
      relay.process.signal(SIGHUP)
      _ = try eventuallyAdmitted(relay, byEC)
      _ = try admitted(relay, try token("secret"))
    }

    @Test func `ten thousand tokens by unknown keys cause a fetch in 30 s, and hold little memory`()
      throws
    {
      let provider = try Provider()
      try provider.answer(#"{"body":\#(try set("ec"))}"#)
      let relay = try self.relay("jwks: \"\(provider.url)\"")
      let kept = try eventuallyAdmitted(relay, try token("ec", kid: "ec"))
      try provider.waitForRequest()
      let before = try relay.memory.now
      let clock = ContinuousClock()
      let start = clock.now
      let codes = try peer("flood", "\(relay.port)", "10000", "100")
      let seconds = Int((clock.now - start) / .seconds(1))
      // By turns over HTTP, and twice by a WebSocket.
      #expect(codes == #"{"401": 3334, "4401": 6666}"#)
      try ping(kept)
      #expect(try relay.memory.peak - before < 32 << 20)
      try provider.waitForRequest()
      provider.process.signal(SIGKILL)
      try provider.process.wait()
      let more = provider.process.output.split(separator: "\n").count { $0 == "/keys" }
      #expect(more <= seconds / 30, "the first one is read above")
    }

    // MARK: Commands

    @Test func `check-config reports every key that cannot be used`() throws {
      try folder.write("no key", to: "broken.pem")
      try folder.write(#"{"keys":[]}"#, to: "empty.json")
      try run("openssl", "genrsa", "-out", folder["weak"], "1024")
      try run("openssl", "rsa", "-in", folder["weak"], "-pubout", "-out", folder["weak.pem"])
      try folder.write(
        """
        auth:
          mode: jwt
          jwks: \(folder["empty.json"])
          keys:
            - { kid: a, public_key: \(folder["missing.pem"]) }
            - { kid: b, public_key: \(folder["broken.pem"]) }
            - { kid: c, public_key: \(folder["weak.pem"]) }
            - { kid: d, public_key: \(folder["ec"]) }
        """, to: "relay.yaml")
      let checked = try RelayProcess.command("check-config", "--config", folder["relay.yaml"])
      #expect(try checked.wait() == .exit(1))
      for complaint in [
        "auth.keys[0].public_key (\(folder["missing.pem"])) cannot be opened",
        "auth.keys[1].public_key (\(folder["broken.pem"])) is not a public key in PEM",
        "auth.keys[2].public_key (\(folder["weak.pem"])) is an RSA key of 1024 bits",
        "auth.keys[3].public_key (\(folder["ec"])) is a private key",
        "auth.jwks (\(folder["empty.json"])) has no key that verifies tokens",
      ] {
        #expect(checked.errors.contains(complaint), "\(checked.errors)")
      }
      try folder.write(
        "auth: { mode: jwt, keys: [{ kid: a, secret: \(Self.secret) }] }", to: "relay.yaml")
      let good = try RelayProcess.command("check-config", "--config", folder["relay.yaml"])
      #expect(try good.wait() == .exit(0))
      #expect(good.output.contains("secret: \"(hidden)\""))
      #expect(!good.output.contains(Self.secret))
    }

    @Test func `relay token signs with the secret of that name, for the issuer and the audience`()
      throws
    {
      let keys =
        "{ kid: a, secret: \(Self.secret) }, { kid: b, secret: \(Self.secret.uppercased()) }"
      let relay = try self.relay(
        "keys: [\(keys), { kid: p, public_key: \(folder["ec.pem"]) }], "
          + "issuer: us, audience: chat, user_claim: email")
      func make(_ options: String...) throws -> ChildProcess {
        let made = try ChildProcess(
          [Programs.relay, "token", "--user", "ada", "--config", relay.folder["relay.yaml"]]
            + options, input: "")
        try made.wait()
        return made
      }
      for kid in ["a", "b"] {
        let made = try make("--kid", kid)
        #expect(made.errors.isEmpty)
        _ = try admitted(relay, String(made.output.dropLast()))
      }
      #expect(try make().errors.contains("choose one with --kid: a, b"))
      #expect(try make("--kid", "p").errors.contains("Its secrets are: a, b."))
    }
  }
}
