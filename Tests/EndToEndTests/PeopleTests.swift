import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `People without a directory` {
    /// Shows what a row tells.
    private func shown(_ row: ServerMessage.PersonRow) -> String {
      "\(row.user) \(row.name) \(row.presence) \(row.room ?? "-")"
        + (row.lastSeen == nil ? "" : " seen") + (row.isBot ? " bot" : "")
    }

    /// Waits until a client is told these people.
    private func expect(
      _ people: [String], of client: RawClient, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      var told: [String] = []
      _ = becomesTrue(within: Deadline(seconds: 30)) {
        told = (try? client.people().map(shown)) ?? []
        return told == people
      }
      #expect(told == people, sourceLocation: sourceLocation)
    }

    @Test func `two users see each other, also when they have gone and the relay was restarted`()
      throws
    {
      let relay = try RelayProcess("bots: [{ user: echo, behaviour: echo }]")
      let ada = try RawClient(relay, user: "ada")
      var bo: RawClient? = try RawClient(relay, user: "bo")
      try expect(
        ["ada ada online -", "bo bo online dm:ada:bo", "echo echo online dm:ada:echo bot"], of: ada)
      try expect(
        ["ada ada online dm:ada:bo", "bo bo online -", "echo echo online dm:bo:echo bot"],
        of: try #require(bo))
      bo = nil
      try expect(
        ["ada ada online -", "bo bo offline dm:ada:bo seen", "echo echo online dm:ada:echo bot"],
        of: ada)
      #expect(try relay.stop() == .exit(0))

      try relay.start()
      let cy = try RawClient(relay, user: "cy")
      try expect(
        [
          "ada ada offline dm:ada:cy seen", "bo bo offline dm:bo:cy seen", "cy cy online -",
          "echo echo online dm:cy:echo bot",
        ], of: cy)
      // Over HTTP as well.
      let answer = try HTTPExchange(
        relay, "GET /v1/people?user=di&query=AD HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      ).answer()
      #expect(answer.contains(#""people":[{"user":"ada","name":"ada","presence":"offline","#))
      #expect(!answer.contains(#""user":"di""#))
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `a relay can be told not to list its users`() throws {
      let relay = try RelayProcess("people: { seen: false }")
      let ada = try RawClient(relay, user: "ada")
      let bo = try RawClient(relay, user: "bo")
      _ = try bo.join("general")
      #expect(try ada.people().isEmpty)
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `the name in a token is shown, and who has the key of a directory keeps its name`()
      throws
    {
      let folder = try TemporaryFolder()
      let secret = "0123456789abcdef0123456789abcdef"
      try folder.write("[{ user: cy, name: Cy of the list }]\n", to: "people.yaml")
      let relay = try RelayProcess(
        """
        auth: { mode: jwt, secret: \(secret) }
        directory: { file: \(folder["people.yaml"]) }
        """, in: folder)
      func client(_ claims: String) throws -> RawClient {
        try folder.write(secret, to: "secret")
        let peer = try ChildProcess(
          [
            "/usr/bin/python3", Programs.peer("tokens.py"), "make", folder["secret"], "HS256",
            claims,
          ], input: "")
        guard try peer.wait() == .exit(0) else { throw Unexpected(peer.errors) }
        return try RawClient(
          relay, user: nil, headers: [("Authorization", "Bearer \(peer.output.dropLast())")])
      }
      let ada = try client(#"{"sub":"ada","name":"Ada Lovelace"}"#)
      let bo = try client(#"{"sub":"bo","name":" "}"#)
      let cy = try client(#"{"sub":"cy","name":"Cy of the token"}"#)
      try expect(
        [
          "cy Cy of the list online dm:bo:cy", "ada Ada Lovelace online dm:ada:bo",
          "bo bo online -",
        ], of: bo)
      try expect(
        [
          "cy Cy of the list online -", "ada Ada Lovelace online dm:ada:cy",
          "bo bo online dm:bo:cy",
        ], of: cy)
      // A token of a user whose name has changed.
      let again = try client(#"{"sub":"ada","name":"Ada King"}"#)
      try expect(
        [
          "cy Cy of the list online dm:ada:cy", "ada Ada King online -", "bo bo online dm:ada:bo",
        ], of: again)
      _ = ada
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `users of all relays on one PostgreSQL see each other, also those who come later`()
      throws
    {
      let server = try PostgresServer(settings: ["fsync=off"])
      func relay() throws -> RelayProcess {
        try RelayProcess(
          """
          log: { engine: postgresql, url: "\(server.url)", durability: os }
          """)
      }
      let relays = [try relay(), try relay()]
      let ada = try RawClient(relays[0], user: "ada")
      let bo = try RawClient(relays[1], user: "bo")
      try expect(["ada ada online -", "bo bo online dm:ada:bo"], of: ada)
      try expect(["ada ada online dm:ada:bo", "bo bo online -"], of: bo)
      do {
        let cy = try RawClient(relays[1], user: "cy")
        try expect(
          ["ada ada online dm:ada:cy", "bo bo online dm:bo:cy", "cy cy online -"], of: cy)
      }
      try expect(
        ["ada ada online -", "bo bo online dm:ada:bo", "cy cy offline dm:ada:cy seen"], of: ada)
      // A relay that starts later reads them from the database.
      let late = try relay()
      let di = try RawClient(late, user: "di")
      try expect(
        [
          "ada ada online dm:ada:di", "bo bo online dm:bo:di", "cy cy offline dm:cy:di seen",
          "di di online -",
        ], of: di)
      for relay in relays + [late] { #expect(try relay.stop() == .exit(0)) }
    }
  }
}

extension RawClient {
  /// Asks for the first page of people.
  fileprivate func people() throws -> [ServerMessage.PersonRow] {
    try send(.people(.init()))
    return try first { message in
      if case .people(let page) = message { page.people } else { nil }
    }
  }
}
