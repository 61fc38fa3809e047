import TestSupport
import Testing
import Wire

extension `End to end` {
  /// `relay import --from`: the export of another chat in a store, and that store in a relay.
  @Suite struct `Another chat's export` {
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
      try folder.write(
        """
        import json, zipfile
        with zipfile.ZipFile('\(folder["slack.zip"])', 'w', zipfile.ZIP_DEFLATED) as z:
          def write(name, content): z.writestr(name, json.dumps(content))
          write('users.json', [{'id': 'U1', 'name': 'ada'}, {'id': 'U2', 'name': 'Zoë'}])
          write('channels.json', [{'id': 'C1', 'name': 'plans', 'creator': 'U1', 'members': ['U1', 'U2']}])
          write('groups.json', [{'id': 'G1', 'name': 'board', 'creator': 'U1', 'members': ['U1']}])
          write('dms.json', [{'id': 'D1', 'members': ['U1', 'U2']}])
          write('plans/2020-01-01.json', [
            {'user': 'U1', 'text': 'root', 'ts': '1577880001.000000', 'thread_ts': '1577880001.000000',
             'reactions': [{'name': 'tada', 'users': ['U2']}]},
            {'user': 'U2', 'text': 'answer to <@U1>', 'ts': '1577880002.000000', 'thread_ts': '1577880001.000000'}])
          write('plans/2020-01-02.json', [{'user': 'U2', 'text': 'next day', 'ts': '1577966402.000000'}])
          write('board/2020-01-01.json', [{'user': 'U1', 'text': 'secret', 'ts': '1577880003.000000'}])
          write('D1/2020-01-01.json', [{'user': 'U2', 'text': 'between us', 'ts': '1577880003.000000'}])

        """, to: "make.py")
      try TestSupport.run("/usr/bin/python3", folder["make.py"])
    }

    private func convert(_ arguments: String...) throws -> ChildProcess {
      let process = try ChildProcess(
        [Programs.relay, "import", "--from", "slack", folder["slack.zip"]] + arguments, input: "")
      try process.wait()
      return process
    }

    /// Returns what a user may read; nothing of what is refused.
    private func history(
      _ relay: RelayProcess, _ room: String, _ user: String
    ) throws -> [Entry] {
      let answer = try HTTPExchange(
        relay,
        "GET /v1/rooms/\(room)/messages?user=\(user)&after=0&fold=true HTTP/1.1\r\n"
          + "Host: localhost\r\nConnection: close\r\n\r\n"
      ).answer()
      let start = try #require(answer.firstRange(of: "\r\n\r\n")).upperBound
      let json = Array(answer[start...].utf8)
      guard case .history(let page)? = try? ServerMessage(decoding: json.span) else { return [] }
      return page.entries
    }

    @Test func `is read from a relay in order, with replies, reactions and rights`() throws {
      try folder.write("Zoë zoe\n", to: "people")
      let imported = try convert("--people", folder["people"], "--data", folder["data"])
      #expect(try imported.wait() == .exit(0), "\(imported.errors)")
      let verify = try RelayProcess.command("verify", "--data", folder["data"])
      #expect(try verify.wait() == .exit(0), "\(verify.output)\(verify.errors)")

      let relay = try RelayProcess(in: folder)
      let texts = try history(relay, "plans", "zoe").filter { $0.kind == .text }
      #expect(texts.compactMap(\.text) == ["root", "answer to @ada", "next day"])
      #expect(texts.map(\.from) == ["ada", "zoe", "zoe"])
      #expect(texts.map(\.at) == [1_577_880_001_000, 1_577_880_002_000, 1_577_966_402_000])
      #expect(texts[1].replyTo == texts[0].seq)
      #expect(texts[0].reactions.map(\.emoji) == ["🎉"])
      #expect(texts[0].reactions.map(\.users) == [["zoe"]])

      #expect(try history(relay, "board", "ada").last?.text == "secret")
      // As of a room that does not exist.
      #expect(try history(relay, "board", "zoe").isEmpty)
      #expect(try history(relay, "board", "eve").isEmpty)
      #expect(try history(relay, "dm:ada:zoe", "zoe").map(\.text) == ["between us"])
      #expect(try history(relay, "dm:ada:zoe", "eve").isEmpty)

      // The owner goes on where the other chat has ended.
      let ada = try RawClient(relay, user: "ada")
      try ada.send(
        .send(.init(room: "board", id: "new", member: MemberChange(user: "zoe", role: .member))))
      _ = try ada.first { if case .ack(let ack) = $0 { ack } else { nil } }
      #expect(try history(relay, "board", "zoe").contains { $0.text == "secret" })
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `adds nothing when it is repeated, and a dry run adds nothing at all`() throws {
      let dry = try convert("--dry-run", "--data", folder["data"])
      #expect(try dry.wait() == .exit(0), "\(dry.errors)")
      #expect(dry.output.contains("Nothing was imported: this was a dry run."))
      #expect(!folder.names.contains("data"))

      let first = try convert("--data", folder["data"])
      #expect(first.errors.hasSuffix("3 rooms, 8 entries\n"), "\(first.errors)")
      // Both say the same.
      let shown = dry.output.split(separator: "\n").dropLast()
      #expect(first.output.split(separator: "\n") == Array(shown))

      let second = try convert("--data", folder["data"])
      #expect(try second.wait() == .exit(0))
      #expect(second.errors == "0 rooms, 0 entries\n")
      #expect(second.output.contains("plans: the store already has a room plans"))
      let verify = try RelayProcess.command("verify", "--data", folder["data"])
      #expect(verify.output == "3 rooms, 8 entries\n")
    }

    @Test func `is imported beside the rooms of a relay`() throws {
      let relay = try RelayProcess(in: folder)
      try RawClient(relay, user: "zoe").say("here before", in: "plans", id: "1")
      #expect(try relay.stop() == .exit(0))
      let imported = try convert("--rooms", "plans=old-plans", "board", "--data", folder["data"])
      #expect(try imported.wait() == .exit(0), "\(imported.errors)")
      try relay.start()
      #expect(try history(relay, "plans", "zoe").map(\.text) == ["here before"])
      #expect(try history(relay, "old-plans", "zoe").last?.text == "next day")
      #expect(try history(relay, "dm:ada:zo", "zo").isEmpty)
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `is refused while a relay has the store, and then the store is as it was`() throws {
      let relay = try RelayProcess(in: folder)
      let refused = try convert("--data", folder["data"])
      #expect(try refused.wait() == .exit(1))
      #expect(refused.output == "")
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `is imported into PostgreSQL`() throws {
      let server = try PostgresServer()
      defer { server.stop() }
      try folder.write(
        "log: { engine: postgresql, url: \"\(server.url)\", durability: os }\n", to: "log.yaml")
      let early = try convert("--dry-run", "--config", folder["log.yaml"])
      #expect(try early.wait() == .exit(1))
      #expect(early.errors.contains("relay migrate creates one"), "\(early.errors)")
      let migrated = try RelayProcess.command("migrate", "--config", folder["log.yaml"])
      #expect(try migrated.wait() == .exit(0), "\(migrated.errors)")
      for count in ["3 rooms, 8 entries\n", "0 rooms, 0 entries\n"] {
        let imported = try convert("--config", folder["log.yaml"])
        #expect(try imported.wait() == .exit(0), "\(imported.errors)")
        #expect(imported.errors.hasSuffix(count), "\(imported.errors)")
      }
      let verify = try RelayProcess.command("verify", "--config", folder["log.yaml"])
      #expect(verify.output == "3 rooms, 8 entries\n", "\(verify.errors)")
    }

    @Test(arguments: [
      (["--from", "discord", "x"], "--from discord is none of slack, mattermost, irc."),
      (["--from", "slack"], "--from needs the file of the export."),
      (["--dry-run"], "The other options need --from"),
      (["--from", "slack", "x", "--date", "2005-01-31"], "are for --from irc"),
    ])
    func `wrong usage is refused`(arguments: [String], reason: String) throws {
      let process = try ChildProcess([Programs.relay, "import"] + arguments, input: "")
      #expect(try process.wait() == .exit(2))
      #expect(process.errors.contains(reason), "\(process.errors)")
    }

    @Test func `what cannot be read is named, and the folder is not created`() throws {
      let none = try RelayProcess.command(
        "import", "--from", "slack", folder["none.zip"], "--data", folder["data"])
      #expect(try none.wait() == .exit(1))
      #expect(
        none.errors
          == "\(folder["none.zip"]) cannot be opened: No such file or directory. Nothing was imported.\n"
      )
      #expect(!folder.names.contains("data"))
    }

    @Test(arguments: [("UTC", 1_104_582_840_000), ("Europe/Berlin", 1_104_579_240_000)])
    func `of IRC has the times of its zone`(zone: String, at: Int64) throws {
      try folder.write(
        "--- Log opened Sat Jan 01 00:00:00 2005\n12:34 <ada> hi\n", to: "logs/#dev.log")
      let imported = try RelayProcess.command(
        "import", "--from", "irc", folder["logs"], "--time-zone", zone, "--data", folder["data"])
      #expect(try imported.wait() == .exit(0), "\(imported.errors)")
      let export = try RelayProcess.command("export", "--data", folder["data"])
      #expect(export.output.contains("\"at\":\(at),"))
      let unknown = try RelayProcess.command(
        "import", "--from", "irc", folder["logs"], "--time-zone", "Mars", "--data", folder["data"])
      #expect(try unknown.wait() == .exit(1))
      #expect(unknown.errors.hasPrefix("There is no time zone Mars"))
    }
  }
}
