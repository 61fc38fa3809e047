import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// `wschat login`, `logout` and `sessions`, in pipes.
  @Suite struct `wschat with a login` {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func start(
      _ arguments: [String], input: String? = "", environment: [String] = []
    ) throws -> ChildProcess {
      try ChildProcess(
        [Programs.wschat] + arguments,
        environment: [
          "HOME=\(home.path)", "XDG_STATE_HOME=\(home["state"])",
          "XDG_CONFIG_HOME=\(home["config"])", "TZ=UTC0", "USER=nobody",
        ] + environment, input: input)
    }

    /// Runs it to its end; neither its output nor its complaints ever have a token or an escape.
    private func wschat(
      _ arguments: String..., input: String = "", exits code: Int32 = 0
    ) throws -> (output: String, errors: String) {
      let process = try start(arguments, input: input)
      #expect(try process.wait() == .exit(code), "\(arguments): \(process.errors)")
      return checked(process)
    }

    private func checked(_ process: ChildProcess) -> (output: String, errors: String) {
      let (output, errors) = (process.output, process.errors)
      for text in [output, errors] {
        #expect(!text.contains("secret-"))
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
      }
      return (output, errors)
    }

    private func login(
      _ relay: LoginRelay, as user: String = "ada", _ arguments: String...
    ) throws -> String {
      let process = try start(["login"] + arguments + [relay.url])
      try relay.allow(user)
      #expect(try process.wait() == .exit(0), "\(process.errors)")
      return checked(process).output
    }

    // MARK: The way in and out

    @Test func `one signs in once, chats without a URL, and signs out`() throws {
      let relay = try LoginRelay()
      let told = try login(relay)
      #expect(told.contains("    \(relay.url)/sign-in/device?code=WDJB-MJ01\n"))
      #expect(told.contains("shows this code:  WDJB-MJ01\n"))
      #expect(told.hasSuffix("Signed in as ada. The profile is 127.0.0.1.\n"))
      #expect(try relay.seen("devices").hasPrefix("[\"wschat on "))
      let file = "state/wschat/logins/127.0.0.1.json"
      #expect(try home.permissions(of: file) == 0o600)
      #expect(try home.permissions(of: "state/wschat/logins") == 0o700)
      #expect(try home.permissions(of: "state/wschat") == 0o700)

      _ = try wschat("--room", "general", input: "one\n")
      _ = try wschat(relay.url, "--room", "general", input: "two\n")
      _ = try wschat("--profile", "127.0.0.1", "--room", "general", input: "three\n")
      #expect(try relay.seen("sends") == #"[["ada", "one"], ["ada", "two"], ["ada", "three"]]"#)

      #expect(try wschat("logout").output == "Signed out of 127.0.0.1.\n")
      #expect(try relay.seen("deleted") == #"["current"]"#)
      #expect(try fileNames(in: home["state/wschat/logins"]) == [])
      let after = try wschat("sessions", exits: 4)
      #expect(after.errors == "wschat: you are not signed in anywhere: run wschat login URL\n")
    }

    @Test func `the token is in no argument, and only in its file`() throws {
      let relay = try LoginRelay()
      _ = try login(relay)
      let chat = try start(["--room", "general", "--follow"], input: nil)
      chat.write("hello\n")
      try chat.waitForOutput { $0.contains("hello") }
      let arguments = try readFile("/proc/\(chat.id)/cmdline")
      #expect(!arguments.contains("secret-"))
      #expect(try !readFile("/proc/\(chat.id)/environ").contains("secret-"))
      let found = try ChildProcess(["grep", "-rl", "secret-", home.path], input: "")
      try found.wait()
      #expect(found.output == home["state/wschat/logins/127.0.0.1.json"] + "\n")
    }

    @Test func `other credentials, and other relays, do not get it`() throws {
      let (relay, other) = (try LoginRelay(), try RelayProcess())
      _ = try login(relay)
      _ = try wschat(other.url, "--user", "bo", "--room", "general", input: "one\n")
      _ = try wschat(other.url, "--profile", "127.0.0.1", "--room", "general", input: "two\n")
      #expect(
        try RawClient(other, user: "x").history("general").entries.map(\.from) == ["bo", "nobody"])
      let refused = try wschat(relay.url, "--user", "bo", input: "three\n", exits: 4)
      #expect(refused.errors.contains("access denied"))
      let bad = try start([relay.url, "--token", "mine", "--room", "general"], input: "four\n")
      #expect(try bad.wait() == .exit(4))
      #expect(!bad.errors.contains("wschat login"))
      #expect(try relay.seen("sends") == "[]")
    }

    @Test func `a session that has ended is told, with what to do`() throws {
      let relay = try LoginRelay()
      _ = try login(relay)
      try relay.tell("end ada")
      let chat = try wschat("--room", "general", input: "x\n", exits: 4)
      let url = relay.url.replacing("http", with: "ws")
      #expect(chat.errors.contains("This session was ended.; sign in with wschat login \(url)/ws"))
      #expect(try wschat("sessions", exits: 4).errors.contains("this device was signed out"))
      // Signing out of it is no failure.
      _ = try wschat("logout")
      #expect(try fileNames(in: home["state/wschat/logins"]) == [])
    }

    @Test func `signing in again ends the session that is replaced`() throws {
      let relay = try LoginRelay()
      _ = try login(relay)
      _ = try login(relay, as: "bo")
      #expect(try relay.seen("deleted") == #"["current"]"#)
      #expect(try relay.seen("authorizations").contains("secret-2-"))
      _ = try wschat("--room", "general", input: "x\n")
      #expect(try relay.seen("sends") == #"[["bo", "x"]]"#)
    }

    @Test func `it works over TLS, with the authority that it was given`() throws {
      let certificates = try Certificates()
      let relay = try LoginRelay(certificates: certificates)
      let other = try wschat("login", relay.url, exits: 5)
      #expect(other.errors.contains("is not trusted"))
      #expect(try relay.seen("devices") == "[]")
      _ = try login(relay, "--ca", certificates.authority)
      // It is remembered.
      _ = try wschat("--room", "general", input: "one\n")
      #expect(try wschat("sessions").output.contains("(this device)"))
      _ = try wschat("logout")
    }

    @Test func `without a relay a logout removes the login, and says that the session may live on`()
      throws
    {
      let relay = try LoginRelay()
      _ = try login(relay)
      relay.process.signal(SIGKILL)
      try relay.process.wait()
      let out = try wschat("logout", exits: 5)
      #expect(out.errors.contains("was removed from this machine, but its session may live on"))
      #expect(try fileNames(in: home["state/wschat/logins"]) == [])
    }

    // MARK: Sessions

    @Test func `sessions are listed and ended, and hostile names of devices do no harm`() throws {
      let relay = try LoginRelay(#"{"device_suffix": "\u001b[2J\u202e\nfake"}"#)
      for profile in ["one", "two", "three"] { _ = try login(relay, "--profile", profile) }
      let lines = try wschat("sessions").output.split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines.count { $0.hasSuffix("  (this device)") } == 1)
      #expect(lines.allSatisfy { $0.contains("  2023-11-14 22:13  192.0.2.1  wschat on ") })
      #expect(lines.last?.hasPrefix("s2  ") == true)
      #expect(try wschat("sessions", "--end", "s2").output == "Ended the session s2.\n")
      #expect(try wschat("sessions", "--profile", "one", exits: 4).errors.contains("signed out"))
      #expect(
        try wschat("sessions", "--end", "s2", exits: 1).errors
          == "wschat: there is no session s2; wschat sessions lists them\n")
      #expect(try wschat("sessions", "--end-others").output == "Ended 1 other session.\n")
      #expect(try wschat("sessions").output.split(separator: "\n").count == 1)
      for own in ["current", "s6"] {
        #expect(try wschat("sessions", "--end", own, exits: 2).errors.contains("wschat logout"))
      }
      for bad in ["../invites", "a/b", "", "a b", String(repeating: "a", count: 129)] {
        _ = try wschat("sessions", "--end=\(bad)", exits: 2)
      }
    }

    @Test func `an error of the relay is shown without its control sequences`() throws {
      let relay = try LoginRelay(#"{"no_sessions": true}"#)
      _ = try login(relay)
      let list = try wschat("sessions", exits: 1)
      #expect(list.errors == "wschat: the relay refuses: ]0;ownedbroken\n")
    }

    // MARK: Relays that give no session

    @Test(arguments: [
      (#"{"mode": "open"}"#, 1, "needs no login: start wschat ws://127.0.0.1:"),
      (#"{"mode": "jwt"}"#, 1, "takes tokens of another service"),
      (#"{"mode": ""}"#, 1, "has no sign-in"), (#"{"mode": "redirect"}"#, 1, "HTTP status 302"),
      (#"{"limited": true}"#, 1, "Too many sign-ins.[31m"),
      (#"{"user_code": "\u001b[2JABCD"}"#, 1, "its code or its link is no such"),
      (#"{"verification_uri": "javascript:alert(1)"}"#, 1, "its code or its link is no such"),
      (#"{"long": true}"#, 5, "its answer has more than 65536 bytes"),
      (#"{"expires_in": 1, "interval": 5}"#, 4, "The code has expired."),
    ])
    func `are told with the reason, and nothing is stored`(
      faults: String, code: Int32, reason: String
    ) throws {
      let relay = try LoginRelay(faults)
      let told = try wschat("login", relay.url, exits: code)
      #expect(told.errors.contains(reason), "\(told.errors)")
      #expect(told.errors.hasSuffix("You are not signed in.\n"))
      #expect(try fileNames(in: home["state/wschat/logins"]) == [])
    }

    @Test func `one that refuses, or cannot be reached, is told as well`() throws {
      let relay = try LoginRelay()
      let process = try start(["login", relay.url])
      try relay.wait(for: "a poll") { try relay.tell("isAsked") == "true" }
      try relay.tell("deny")
      #expect(try process.wait() == .exit(4))
      #expect(checked(process).errors.contains("refused on the other device"))
      relay.process.signal(SIGKILL)
      try relay.process.wait()
      #expect(try wschat("login", relay.url, exits: 5).errors.contains("Connection refused"))
    }

    @Test func `a link to another place comes with a warning`() throws {
      let relay = try LoginRelay(#"{"verification_uri": "https://chat.evil.example/x"}"#)
      #expect(try login(relay).contains("Warning: this is not a page of 127.0.0.1:"))
    }

    @Test func `it asks as rarely as it is told, and goes on after errors`() throws {
      let relay = try LoginRelay(#"{"slow_downs": 1, "fails": 2, "without": ["qr"]}"#)
      let process = try start(["login", relay.url])
      try relay.wait(for: "two polls") { try relay.polls().count >= 2 }
      try relay.allow("ada")
      #expect(try process.wait() == .exit(0))
      let polls = try relay.polls()
      // The first was answered `slow_down`: 1 + 5 s; the second with 503: twice that.
      #expect(polls.count == 3)
      #expect(polls[1] - polls[0] >= 6000 && polls[2] - polls[1] >= 12_000, "\(polls)")
      #expect(
        checked(process).errors == "wschat: The relay is starting.[2J; the relay is asked again\n")
    }

    @Test(arguments: [SIGINT, SIGTERM]) func `a signal ends it`(number: Int32) throws {
      let relay = try LoginRelay()
      let process = try start(["login", relay.url], input: nil)
      try process.waitForOutput { $0.contains("Waiting.") }
      process.signal(number)
      #expect(try process.wait() == .exit(1))
      #expect(checked(process).errors == "wschat: you are not signed in\n")
    }

    // MARK: Profiles

    @Test func `each relay has a profile, and the last one is used`() throws {
      let (here, there) = (try LoginRelay(), try LoginRelay())
      _ = try login(here, "--profile", "home")
      _ = try login(there, "--profile", "work")
      _ = try wschat("--room", "general", input: "there\n")
      _ = try wschat("--profile", "home", "--room", "general", input: "here\n")
      _ = try wschat(here.url, "--room", "general", input: "again\n")
      #expect(try there.seen("sends") == #"[["ada", "there"]]"#)
      #expect(try here.seen("sends") == #"[["ada", "here"], ["ada", "again"]]"#)
      let unknown = try wschat("--profile", "wrk", exits: 2)
      #expect(unknown.errors.contains("did you mean work? known: work, home"))
      #expect(try wschat("logout", "--profile", "wrk", exits: 4).errors.contains("work, home"))
      // After the last one the one before it is the last.
      _ = try wschat("logout")
      _ = try wschat("--room", "general", input: "third\n")
      #expect(try here.seen("sends").contains("third"))
    }

    @Test func `one that is another account's, or has a token already, is refused`() throws {
      let (here, there) = (try LoginRelay(), try LoginRelay())
      try home.write(
        """
        url: \(here.url.replacing("http", with: "ws"))/ws
        token_command: "echo token"
        profiles:
          work: { url: "wss://work.example/ws" }
          tokens: { theme: light }
          plain: { url: "\(here.url.replacing("http", with: "ws"))/ws", messages: irc }
        """, to: "config/wschat/config.yaml")
      _ = try login(here)
      #expect(
        try wschat("login", there.url, exits: 2).errors
          .contains("the profile 127.0.0.1 is a login at ws://127.0.0.1:\(here.port)/ws"))
      #expect(
        try wschat("login", "--profile", "work", there.url, exits: 2).errors
          .contains("is for wss://work.example/ws: choose another with --profile NAME"))
      #expect(
        try wschat("login", "--profile", "tokens", here.url, exits: 2).errors
          .contains("has a token_command"))
      // One that the configuration has keeps its settings, and takes the login.
      _ = try login(here, as: "bo", "--profile", "plain")
      _ = try wschat("--profile", "plain", "--room", "general", input: "x\n")
      #expect(try here.seen("sends") == #"[["bo", "x"]]"#)
      for (arguments, reason) in [
        (["login", "http://chat.example.org"], "use https://"),
        (["login", "--profile", "a/b", here.url], "is not a valid name"),
        (["login", "--profile", "", here.url], "is not a valid name"),
        (["login", "--insecure", "--ca", "x", here.url], "cannot be combined"),
      ] {
        let process = try start(arguments)
        #expect(try process.wait() == .exit(2), "\(arguments)")
        #expect(process.errors.contains(reason), "\(process.errors)")
      }
    }

    // MARK: The file

    @Test func `a file that others could read is closed, and a link is not followed`() throws {
      let relay = try LoginRelay()
      _ = try login(relay)
      let file = home["state/wschat/logins/127.0.0.1.json"]
      try run("chmod", "644", file)
      #expect(
        try wschat("sessions").errors.contains("other users of this machine could read \(file)"))
      #expect(try permissions(of: file) == 0o600)
      #expect(try wschat("sessions").errors == "")
      try run("mv", file, home["elsewhere"])
      try run("ln", "-s", home["elsewhere"], file)
      #expect(try wschat("sessions", exits: 1).errors.contains("cannot be used: open \(file)"))
      // A login replaces the link, and writes nothing where it leads.
      let before = try readFile(home["elsewhere"])
      _ = try login(relay)
      #expect(try readFile(home["elsewhere"]) == before)
      #expect(try permissions(of: file) == 0o600)
      try home.write("{\"url\":\"ws://127.0.0.1/ws\"}", to: "state/wschat/logins/127.0.0.1.json")
      #expect(try wschat("sessions", exits: 1).errors.contains("cannot be used"))
    }

    @Test func `a damaged file is told with its path and what to do, and a login replaces it`()
      throws
    {
      let relay = try LoginRelay()
      _ = try login(relay)
      _ = try login(relay, "--profile", "other")
      let name = "state/wschat/logins/127.0.0.1.json"
      for content in ["", "{\"url\":", String(repeating: "x", count: 20_000)] {
        try home.write(content, to: name)
        for arguments in [["--room", "general"], ["--profile", "other", "--room", "general"]] {
          let process = try start(arguments, input: "x\n")
          #expect(try process.wait() == .exit(0))
          let lines = process.errors.split(separator: "\n")
          #expect(lines.count { $0.contains(home[name]) } == 1, "\(process.errors)")
          #expect(process.errors.contains("the login of 127.0.0.1 cannot be used: "))
          #expect(process.errors.contains("wschat login URL --profile 127.0.0.1"))
        }
      }
      try home.write("", to: name)
      let process = try start(["login", relay.url])
      try relay.allow("bo")
      #expect(try process.wait() == .exit(0))
      #expect(
        checked(process).errors.split(separator: "\n").count { $0.contains("is damaged") } == 1)
      #expect(try wschat("sessions", "--profile", "127.0.0.1").errors == "")
    }

    @Test func `a session that cannot be ended after it was replaced is told`() throws {
      let relay = try LoginRelay(#"{"delete":500}"#)
      _ = try login(relay)
      let process = try start(["login", relay.url])
      try relay.allow("bo")
      #expect(try process.wait() == .exit(0))
      #expect(checked(process).errors.contains("the session of the login before may go on: "))
    }

    @Test(arguments: [1, 7, 1000]) func `a proxy may send answers in chunks`(size: Int) throws {
      let relay = try LoginRelay("{\"chunk\":\(size)}")
      _ = try login(relay)
      _ = try wschat("--room", "general", input: "x\n")
      #expect(try wschat("sessions").output.contains("this device"))
      #expect(try wschat("logout").output == "Signed out of 127.0.0.1.\n")
    }

    @Test func `without a folder for it, nothing is asked`() throws {
      let relay = try LoginRelay()
      try home.write("", to: "state/wschat/logins")
      let told = try wschat("login", relay.url, exits: 1)
      #expect(told.errors.contains("you cannot sign in: open"))
      #expect(try relay.seen("devices") == "[]")
    }
  }
}
