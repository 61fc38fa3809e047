import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `Tokens` {
    static let python = "/usr/bin/python3"
    static let secret = "0123456789abcdef0123456789abcdef"
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
      try folder.write(Self.secret, to: "secret")
    }

    private static let bySecret = "auth: { mode: jwt, secret: \(secret) }"

    private func relay(_ more: String = "") throws -> RelayProcess {
      try RelayProcess("\(Self.bySecret)\n\(more)")
    }

    /// A token by PyJWT; times in claims count from now.
    private func token(_ claims: String, key: String = "secret", _ algorithm: String = "HS256")
      throws -> String
    {
      let peer = try ChildProcess(
        [Self.python, Programs.peer("tokens.py"), "make", folder[key], algorithm, claims], input: ""
      )
      guard try peer.wait() == .exit(0) else { throw Unexpected(peer.errors) }
      return String(peer.output.dropLast())
    }

    private func client(_ relay: RelayProcess, _ claims: String) throws -> RawClient {
      let token = try token(claims)
      return try RawClient(relay, user: nil, headers: [("Authorization", "Bearer \(token)")])
    }

    private func welcome(_ client: RawClient) throws -> ServerMessage.Welcome {
      try client.first { if case .welcome(let welcome) = $0 { welcome } else { nil } }
    }

    private func ping(_ client: RawClient) throws {
      try client.send(.ping(t: nil))
      _ = try client.first { if case .pong = $0 { true } else { nil } }
    }

    // MARK: Ways in

    /// Good tokens and bad ones, by PyJWT and by hand; see tokens.py.
    @Test(arguments: ["HS256", "RS256", "ES256"])
    func `a good token lets in by header, message and query, and no other does`(algorithm: String)
      throws
    {
      let configuration: String
      if algorithm == "HS256" {
        configuration = "secret: \(Self.secret)"
        try folder.write(Self.secret, to: "private")
        try folder.write(Self.secret.uppercased(), to: "public")
      } else {
        let options =
          algorithm == "RS256"
          ? ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
          : ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
        let made = try ChildProcess(
          ["openssl", "genpkey", "-out", folder["private"], "-algorithm"] + options, input: "")
        #expect(try made.wait() == .exit(0), "\(made.errors)")
        try run(
          "openssl", "pkey", "-in", folder["private"], "-pubout", "-out", folder["public"])
        configuration = "public_key: \(folder["public"])"
      }
      let relay = try RelayProcess(
        """
        auth: { mode: jwt, \(configuration) }
        bots: [{ user: echo, behaviour: echo }]
        log_level: trace
        """)
      let peer = try ChildProcess(
        [
          Self.python, Programs.peer("tokens.py"), "ways", relay.url, folder["private"],
          folder["public"], algorithm,
        ], input: "")
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      #expect(try relay.stop() == .exit(0))
      // Queries that held a token left no trace, and neither did anything else of one.
      #expect(!relay.process.errors.contains("token="))
      #expect(!relay.process.errors.contains("eyJ"))
    }

    @Test func `a client that does not authenticate in time is closed, and another one is not`()
      throws
    {
      let relay = try relay("limits: { handshake_timeout_ms: 700 }")
      let token = try token(#"{"sub":"ada"}"#)
      let ada = try RawClient(relay, user: nil)
      try ada.send(.auth(token: token))
      #expect(try welcome(ada).user == "ada")
      // A name is not believed here.
      #expect(try RawClient(relay, user: "ada").untilClosed().code == 4408)
      try ping(ada)
      let hasty = try RawClient(relay, user: nil)
      try hasty.send(.rooms(.init()))
      let refused = try hasty.untilClosed()
      #expect(refused.code == 4401)
      guard case .error(let error)? = refused.messages.first else {
        Issue.record("\(refused.messages)")
        return
      }
      #expect(error.code == .unauthorized)
      #expect(refused.messages.count == 1)
    }

    @Test func `bots need no token, and answer users that have one`() throws {
      let relay = try relay(`wschat, in lines`.echo)
      let ada = try client(relay, #"{"sub":"ada"}"#)
      try ada.say("hello", in: "dm:ada:echo", id: "1")
      _ = try ada.join("dm:ada:echo", after: 1)
      let answer = try ada.entry()
      #expect(answer.from == "echo")
      #expect(answer.text == "hello")
    }

    // MARK: The end, and renewal

    @Test func `a session ends 30 s after its token, unless that was renewed`() throws {
      let relay = try relay()
      let (idle, renewed) = (
        try client(relay, #"{"sub":"ada","exp":-22}"#),
        try client(relay, #"{"sub":"ada","exp":-22}"#)
      )
      let told = try welcome(idle)
      #expect(told.expiresInMilliseconds == 0)
      // The token was made before the connection.
      let end = told.time - 22_000 - 5_000 + 30_000
      _ = try welcome(renewed)
      let longer = try token(#"{"sub":"ada","exp":60}"#)
      try renewed.send(.auth(token: longer))
      let left = try renewed.first { if case .renewed(let left) = $0 { left } else { nil } }
      #expect((30_000...60_000).contains(left))
      let ended = try idle.untilClosed()
      guard case .error(let error)? = ended.messages.last else {
        Issue.record("\(ended.messages)")
        return
      }
      #expect(error.code == .tokenExpired)
      #expect(ended.code == 4401)
      var now = timespec()
      unsafe clock_gettime(CLOCK_REALTIME, &now)
      let wall = Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
      #expect(wall >= end)
      try ping(renewed)
    }

    @Test func `a bad token, or another user's, changes nothing on an open connection`() throws {
      let relay = try relay()
      let ada = try client(relay, #"{"sub":"ada"}"#)
      let bad: [(token: String, code: ErrorCode)] = [
        (try token(#"{"sub":"bo"}"#), .unauthorized), ("garbage", .unauthorized),
        (try token(#"{"sub":"ada","exp":-60}"#), .tokenExpired), ("", .unauthorized),
      ]
      for (token, code) in bad {
        try ada.send(.auth(token: token))
        let error = try ada.error()
        #expect(error.code == code)
        #expect(error.re == .auth)
      }
      #expect(try ada.say("still here", in: "general", id: "1").seq == 1)
    }

    // MARK: Rights

    @Test func `a token allows its rooms only, and subscriptions beyond a new token's rooms end`()
      throws
    {
      let relay = try relay("rooms: { listed: [{ room: general }, { room: hidden }] }")
      let bo = try client(relay, #"{"sub":"bo"}"#)
      try bo.say("one", in: "hidden", id: "1")
      let ada = try client(
        relay, #"{"sub":"ada","rooms":{"join":["gen*","team:?"],"send":["general"]}}"#)
      #expect(try ada.join("general").head == 0)
      #expect(try ada.join("team:a").head == 0)
      #expect(try ada.say("hello", in: "general", id: "1").seq == 1)
      for message: ClientMessage in [
        .join(.init(room: "hidden")), .join(.init(room: "team:ab")),
        .join(.init(room: "dm:ada:bo")),
        .history(.init(room: "hidden")), .send(.init(room: "team:a", id: "2", text: "x")),
      ] {
        try ada.send(message)
        let error = try ada.error()
        #expect(error.code == .forbidden, "\(message)")
        #expect(error.re == message.type, "\(message)")
      }
      try ada.send(.rooms(.init()))
      let rooms = try ada.first { message -> [String]? in
        if case .rooms(let rooms, _) = message { rooms.map(\.room) } else { nil }
      }
      #expect(rooms.sorted() == ["general", "team:a"])

      let less = try token(#"{"sub":"ada","rooms":{"join":["team:*"]}}"#)
      try ada.send(.auth(token: less))
      let lost = try ada.error()
      #expect(lost.code == .forbidden)
      #expect(lost.room == "general")
      #expect(try ada.first { if case .left(let room, _) = $0 { room } else { nil } } == "general")
      try bo.say("unheard", in: "general", id: "2")
      try bo.say("heard", in: "team:a", id: "3")
      #expect(try ada.entry().text == "heard")
    }

    // MARK: Bans

    @Test(arguments: [true, false])
    func `a banned user is disconnected at SIGHUP, and refused until the ban is lifted`(
      byToken: Bool
    )
      throws
    {
      let mode = byToken ? "mode: jwt, secret: \(Self.secret)" : "mode: open"
      let relay = try RelayProcess("auth: { \(mode) }")
      let token = byToken ? try token(#"{"sub":"eve"}"#) : ""
      func eve() throws -> RawClient {
        try RawClient(relay, user: nil, target: byToken ? "/ws?token=\(token)" : "/ws?user=eve")
      }
      func ban(_ users: String) throws {
        try relay.folder.write(
          "data: \(relay.dataFolder)\nauth: { \(mode), banned: [\(users)] }\n", to: "relay.yaml")
        relay.process.signal(SIGHUP)
      }
      let ada =
        byToken ? try client(relay, #"{"sub":"ada"}"#) : try RawClient(relay, user: "ada")
      let (one, other) = (try eve(), try eve())
      _ = try one.join("general")
      try ban("mallory, eve")
      for client in [one, other, try eve()] {
        let ended = try client.untilClosed()
        guard case .error(let error)? = ended.messages.last else {
          Issue.record("\(ended.messages)")
          return
        }
        #expect(error.code == .forbidden)
        #expect(ended.code == 4403)
      }
      if byToken {
        let late = try RawClient(relay, user: nil)
        try late.send(.auth(token: token))
        #expect(try late.untilClosed().code == 4403)
      }
      let chat = try ChildProcess(
        [Programs.wschat, relay.url] + (byToken ? ["--token", token] : ["--user", "eve"]), input: ""
      )
      #expect(try chat.wait() == .exit(4))
      #expect(chat.errors.contains("eve is banned from this relay"))
      try ping(ada)
      // A file that is wrong leaves everything as it was.
      try relay.folder.write("auth: { banned: [Eve] }\n", to: "relay.yaml")
      relay.process.signal(SIGHUP)
      try relay.process.waitForErrors { $0.contains(#"auth.banned[0] is "Eve""#) }
      #expect(try eve().untilClosed().code == 4403)
      let otherMode = byToken ? "mode: open" : "mode: jwt, secret: \(Self.secret)"
      try relay.folder.write(
        "data: \(relay.dataFolder)\nauth: { \(otherMode) }\n",
        to: "relay.yaml")
      relay.process.signal(SIGHUP)
      try relay.process.waitForErrors { $0.contains("cannot change at runtime") }
      while true {
        let again = try eve()
        if case .welcome? = try? again.nextMessage() { break }
      }
    }

    // MARK: relay token

    private func configuration(_ text: String) throws -> String {
      try folder.write(text + "\n", to: "relay.yaml")
      return folder["relay.yaml"]
    }

    @Test func `relay token makes a token that the relay accepts, with the requested claims`()
      throws
    {
      let relay = try relay()
      let made = try RelayProcess.command(
        "token", "--user", "ada", "--ttl", "90m", "--join", "general", "a*", "--send", "general",
        "--config", relay.folder["relay.yaml"])
      #expect(try made.wait() == .exit(0))
      #expect(made.errors.isEmpty)
      let ada = try RawClient(
        relay, user: nil, headers: [("Authorization", "Bearer \(made.output.dropLast())")])
      let welcome = try welcome(ada)
      #expect(welcome.user == "ada")
      #expect(abs((welcome.expiresInMilliseconds ?? 0) - 5_400_000) < 60_000)
      _ = try ada.join("abc")
      try ada.send(.join(.init(room: "b")))
      #expect(try ada.error().code == .forbidden)
    }

    @Test func `relay token says why it cannot, with 1, and 2 for wrong usage`() throws {
      let byKey = try configuration("auth: { mode: jwt, public_key: public.pem }")
      for (arguments, code, complaint): ([String], Int32, String) in [
        (["--user", "ada", "--config", byKey], 1, "verifies tokens but cannot sign them"),
        (["--user", "ada"], 1, "auth.secret is not set"),
        ([], 2, "--user"), (["--user", "ada", "--ttl", "1w"], 2, "1w"),
        (["--user", "ada", "--ttl", "-1h"], 2, "--ttl"),
        (["--user", "ada", "--ttl", "0s"], 2, "0s"),
      ] {
        let made = try ChildProcess([Programs.relay, "token"] + arguments, input: "")
        #expect(try made.wait() == .exit(code), "\(arguments)")
        #expect(made.errors.contains(complaint), "\(made.errors)")
        #expect(made.output.isEmpty, "\(made.errors)")
      }
      let inVain = try ChildProcess(
        [Programs.relay, "token", "--user", "Ada"],
        environment: ["RELAY_AUTH_SECRET=\(Self.secret)"], input: "")
      #expect(try inVain.wait() == .exit(1))
      #expect(inVain.errors.contains("sub must be a user name"))
    }

    @Test func `a key that would not do keeps the relay from starting, and is never shown`() throws
    {
      try folder.write("no key", to: "public.pem")
      for (auth, complaint) in [
        ("{ mode: jwt }", "neither of auth.secret and auth.public_key is set"),
        ("{ mode: jwt, secret: hushhush }", "auth.secret has only 8 bytes and can be guessed"),
        ("{ mode: jwt, public_key: \(folder["public.pem"]) }", "is not a public key in PEM"),
        ("{ mode: jwt, public_key: \(folder["missing"]) }", "No such file or directory"),
      ] {
        let file = try configuration(
          "listen: 127.0.0.1:0\ndata: \(folder["data"])\nauth: \(auth)")
        for command in ["serve", "check-config"] {
          let relay = try RelayProcess.command(command, "--config", file)
          #expect(try relay.wait() == .exit(1), "\(command) \(auth)")
          #expect(relay.errors.contains(complaint), "\(relay.errors)")
          #expect(!relay.errors.contains("hushhush"))
        }
      }
    }

    // MARK: wschat

    private func wschat(_ relay: RelayProcess, _ arguments: String..., input: String? = nil) throws
      -> ChildProcess
    {
      try ChildProcess([Programs.wschat, relay.url] + arguments, input: input)
    }

    @Test func `wschat renews its token in place, before it ends`() throws {
      let relay = try relay()
      let command =
        "\(Programs.relay) token --user ada --ttl 2s --config \(relay.folder["relay.yaml"])"
      let chat = try wschat(relay, "--token-command", command, "--follow", "--json")
      chat.write("one\n")
      // Each lasts for two seconds, and the connection for all of them.
      try chat.waitForOutput {
        $0.split(separator: "\n").count { $0.contains(#""type":"renewed""#) } >= 3
      }
      chat.write("two\n")
      try chat.waitForOutput { $0.contains(#""seq":2"#) }
      chat.signal(SIGTERM)
      #expect(try chat.wait() == .exit(0))
      #expect(chat.errors.isEmpty)
      let welcomes = chat.output.split(separator: "\n").count {
        $0.contains(#""type":"welcome""#)
      }
      #expect(welcomes == 1)
    }

    @Test func `wschat asks again for a token that is not taken, and gives up on the second`()
      throws
    {
      let relay = try relay()
      try folder.write(try token(#"{"sub":"ada","exp":-60}"#) + "\n", to: "token")
      try folder.write(try token(#"{"sub":"ada"}"#) + "\n", to: "good")
      let first = "cat \(folder["token"]); cp \(folder["good"]) \(folder["token"])"
      let chat = try wschat(relay, "--token-command", first, input: "hello\n")
      #expect(try chat.wait() == .exit(0), "\(chat.errors)")
      #expect(
        chat.errors.contains("The token has expired. (running --token-command for a new one)"))
      #expect(
        try client(relay, #"{"sub":"bo"}"#).history("general").entries.map(\.text) == ["hello"])

      for (command, complaint) in [
        ("echo a.b.c", "The token is not a JWT"), ("false", "--token-command failed"),
        ("true", "--token-command printed no token"),
        ("echo a b", "characters that are not allowed in a token"),
      ] {
        let chat = try wschat(relay, "--token-command", command, input: "hello\n")
        #expect(try chat.wait() == .exit(4), "\(command)")
        #expect(chat.errors.contains(complaint), "\(chat.errors)")
      }
      let bad = try wschat(relay, "--token", "a.b.c", input: "hello\n")
      #expect(try bad.wait() == .exit(4))
      let reader = try wschat(
        relay, "--token", try token(#"{"sub":"ada","rooms":{"send":[]}}"#), input: "hello\n")
      #expect(try reader.wait() == .exit(1))
      #expect(reader.errors.contains("line 1 was refused: Your token does not allow you to send"))
    }
  }
}
