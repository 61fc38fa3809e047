import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `wschat, in lines: addresses, names, echoes and errors` {
    /// A relay that knows three people and a bot.
    private static func relay() throws -> RelayProcess {
      let folder = try TemporaryFolder()
      try folder.write(
        """
        - { user: ada.l, name: Ada }
        - { user: bo, name: Bo Ek }
        - { user: bo2, name: Bo Ek }
        """, to: "people.yaml")
      return try RelayProcess(
        """
        directory: { kind: local, file: \(folder["people.yaml"]) }
        bots: [{ user: echo, name: Echo, behaviour: echo, reply_delay_s: [0, 0.05] }]
        auth: { banned: [cy] }
        \(RelayProcess.withoutLimits)
        """, in: folder)
    }

    private func wschat(_ arguments: [String], input: String = "hello\n") throws -> ChildProcess {
      let chat = try ChildProcess(
        [Programs.wschat] + arguments, environment: ["TZ=UTC0"], input: input)
      _ = try chat.wait()
      return chat
    }

    private func texts(in room: String, of user: String, at relay: RelayProcess) throws -> [String]
    {
      try RawClient(relay, user: user).history(room).entries.compactMap(\.text)
    }

    @Test(arguments: [1, 2, 300]) func `every line that was sent is printed before the end`(
      count: Int
    ) throws {
      let relay = try Self.relay()
      let lines = (1...count).map { "line \($0)" }
      let chat = try wschat(
        [relay.url, "--user", "ada"], input: lines.joined(separator: "\n") + "\n")
      #expect(try chat.wait() == .exit(0))
      #expect(
        chat.output.split(separator: "\n").map { $0.dropFirst("HH:MM  ada  ".count) }
          == lines.map { $0[...] })
      #expect(chat.errors.isEmpty)
    }

    @Test func `an address is also understood without a scheme, and as that of the page`() throws {
      let relay = try Self.relay()
      for (number, address) in [
        "127.0.0.1:\(relay.port)", "localhost:\(relay.port)", "http://127.0.0.1:\(relay.port)",
        "http://127.0.0.1:\(relay.port)/?user=bo#token=x",
      ].enumerated() {
        let chat = try wschat([address, "--user", "ada"], input: "\(number)\n")
        #expect(try chat.wait() == .exit(0), "\(address): \(chat.errors)")
      }
      #expect(try texts(in: "general", of: "bo", at: relay) == ["0", "1", "2", "3"])
      // TLS is not left out by mistake.
      let encrypted = try wschat(
        ["https://127.0.0.1:\(relay.port)", "--user", "ada", "--timeout", "1"])
      #expect(try encrypted.wait() == .exit(5))
      #expect(encrypted.errors.contains("for a relay without TLS use ws://HOST:PORT"))
    }

    @Test(arguments: [
      (["--room", "#General"], "general"), (["--room", "General"], "general"),
      (["--room", "@bo"], "dm:ada:bo"), (["--to", "@bo"], "dm:ada:bo"),
      (["--to", "Ada"], "dm:ada:ada.l"), (["--to", "ECHO"], "dm:ada:echo"),
    ]) func `rooms and people are understood as they are shown`(
      arguments: [String], room: String
    ) throws {
      let relay = try Self.relay()
      let chat = try wschat([relay.url, "--user", "ada"] + arguments)
      #expect(try chat.wait() == .exit(0), "\(chat.errors)")
      #expect(chat.errors.isEmpty)
      #expect(try texts(in: room, of: "ada", at: relay).first == "hello")
    }

    @Test func `a display name that is unknown or that several people have is not guessed`() throws
    {
      let relay = try Self.relay()
      let ambiguous = try wschat([relay.url, "--user", "ada", "--to", "bo ek"])
      #expect(try ambiguous.wait() == .exit(2))
      #expect(
        ambiguous.errors == """
          wschat: "bo ek" may be bo (Bo Ek), bo2 (Bo Ek): use one of these user names

          """)
      let unknown = try wschat([relay.url, "--user", "ada", "--to", "Zed \u{1B}[2J"])
      #expect(try unknown.wait() == .exit(2))
      #expect(unknown.errors.contains("is known to the relay; use a user name"))
      #expect(!unknown.errors.contains("\u{1B}"))
    }

    @Test func `an unknown user is named, and the line is kept`() throws {
      let relay = try Self.relay()
      let arguments = [relay.url, "--user", "bo", "--to"]
      let warning = "wschat: no user called nosuch is known to the relay; "
      let unknown = try wschat(arguments + ["nosuch"])
      #expect(try unknown.wait() == .exit(0))
      #expect(unknown.errors.hasPrefix(warning))
      #expect(unknown.output.hasSuffix("  bo  hello\n"))
      let similar = try wschat(arguments + ["ada"])
      #expect(similar.errors.contains("(did you mean ada.l, Ada?)"))
      for known in ["ada.l", "echo"] {
        let chat = try wschat(arguments + [known])
        #expect(try chat.wait() == .exit(0))
        #expect(chat.errors.isEmpty, "\(known)")
      }
      // It is not repeated once the user has been there.
      let nosuch = try RawClient(relay, user: "nosuch")
      _ = try nosuch.join("dm:bo:nosuch")
      try nosuch.send(#"{"type":"read","room":"dm:bo:nosuch","seq":1,"ref":"r"}"#)
      _ = try nosuch.first { if case .ok = $0 { true } else { nil } }
      #expect(try wschat(arguments + ["nosuch"]).errors.isEmpty)
    }

    @Test func `replies name what they refer to, and seq prints the number`() throws {
      let relay = try Self.relay()
      let bo = try RawClient(relay, user: "bo")
      try bo.say("first", in: "general", id: "1")
      for (id, fields) in [
        ("2", #""text":"second","reply_to":1"#), ("3", #""kind":"edit","target":1,"text":"new""#),
        ("4", #""kind":"react","target":1,"emoji":"👍","on":true"#),
      ] {
        try bo.send(#"{"type":"send","room":"general","id":"\#(id)",\#(fields)}"#)
        _ = try bo.ack()
      }
      let arguments = [relay.url, "--user", "ada", "--history", "4"]
      let expected = [
        "bo  first", "bo  (reply to 1) second", "bo  (edit of 1) new", "bo  (👍 for 1)",
      ]
      let plain = try wschat(arguments, input: "").output.split(separator: "\n")
      #expect(plain.map { String($0.dropFirst("HH:MM  ".count)) } == expected)
      let numbered = try wschat(arguments + ["--seq"], input: "").output.split(separator: "\n")
      #expect(
        numbered == zip(plain, 1...).map { "\($1)  \($0)"[...] }, "\(numbered)")
    }

    @Test func `quiet prints nothing, or why it failed`() throws {
      let relay = try Self.relay()
      let chat = try wschat([relay.url, "--user", "ada", "--quiet"], input: "one\ntwo\n")
      #expect(try chat.wait() == .exit(0))
      #expect(chat.output.isEmpty && chat.errors.isEmpty)
      #expect(try texts(in: "general", of: "bo", at: relay) == ["one", "two"])
      try relay.stop()
      let alone = try wschat([relay.url, "--user", "ada", "--quiet", "--timeout", "1"])
      #expect(try alone.wait() == .exit(5))
      #expect(alone.output.isEmpty)
      #expect(alone.errors.hasPrefix("wschat: no connection after 1 s: cannot connect: "))
      #expect(alone.errors.split(separator: "\n").count == 1)
    }

    @Test(arguments: [
      (["--user", "cy"], "cy is banned from this relay."),
      (["--user", "echo"], "echo is a bot of this relay"),
      (["--token", "abc"], "This relay does not use tokens"),
    ]) func `a refusal is printed once`(arguments: [String], reason: String) throws {
      let relay = try Self.relay()
      let chat = try wschat([relay.url] + arguments)
      #expect(try chat.wait() == .exit(4))
      #expect(chat.errors.hasPrefix("wschat: access denied: \(reason)"))
      #expect(chat.errors.split(separator: "\n").count == 1)
    }

    @Test func `a connection too many is explained once, however long it is tried again`() throws {
      let relay = try RelayProcess("limits: { connections_per_user: 1 }")
      let first = try RawClient(relay, user: "ada")
      _ = try first.join("general")
      let chat = try wschat([relay.url, "--user", "ada", "--timeout", "2"])
      #expect(try chat.wait() == .exit(5))
      let complaints = chat.errors.split(separator: "\n")
      #expect(complaints.count == 2, "\(complaints)")
      #expect(complaints.first?.hasSuffix("; retrying") == true)
      #expect(complaints.last == "wschat: no connection after 2 s")
    }
  }
}
