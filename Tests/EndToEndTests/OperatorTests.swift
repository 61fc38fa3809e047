import TestSupport
import Testing
import Wire

extension `End to end` {
  /// `relay rooms`, `relay ban`, `relay unban` and `relay connections`, beside a running relay.
  @Suite struct `Operators' commands` {
    private func run(_ relay: RelayProcess, _ arguments: String...) throws -> ChildProcess {
      let command = try ChildProcess(
        [Programs.relay] + arguments + ["--config", relay.folder["relay.yaml"]], input: "")
      try command.wait()
      return command
    }

    @Test func `a banned user is thrown out, stays out over a restart, and is let in again`() throws
    {
      let relay = try RelayProcess()
      let mallory = try RawClient(relay, user: "mallory")
      _ = try mallory.join("r")
      #expect(try run(relay, "ban", "mallory", "--until", "2h").errors == "")
      let refusal: WireError = try mallory.first {
        if case .error(let error) = $0 { error } else { nil }
      }
      #expect(refusal.code == .forbidden)
      _ = try relay.stop()
      try relay.start()
      let again = try RawClient(relay, user: "mallory")
      let until: Int64? = try again.first {
        if case .error(let error) = $0 { .some(error.until) } else { nil }
      }
      #expect(until != nil)
      #expect(try run(relay, "ban").output.hasPrefix("mallory\tuntil "))
      #expect(try run(relay, "unban", "mallory").errors == "")
      #expect(try run(relay, "ban").output == "")
      _ = try RawClient(relay, user: "mallory").join("r")
    }

    @Test func `a room is listed, given an owner, and deleted, and the audit has it`() throws {
      let relay = try RelayProcess()
      let ada = try RawClient(relay, user: "ada")
      _ = try ada.say("hello", in: "tea", id: "1")
      #expect(
        try run(relay, "rooms", "--room", "tea").output.hasPrefix(
          "tea\t1 member\t1 entry\t14 bytes\tlast 2"))
      #expect(try run(relay, "rooms", "--room", "tea", "--owner", "bo").errors == "")
      #expect(try run(relay, "rooms", "--delete", "tea").errors == "")
      #expect(
        try run(relay, "rooms", "--delete", "nowhere").errors
          == "There is no room nowhere that can be deleted.\n")
      let acts = try run(relay, "export", "--room", "sys:audit").output
      #expect(acts.contains(#""data":{"by":"sys","verb":"owner","user":"bo","room":"tea"}"#))
      #expect(acts.contains(#""data":{"by":"sys","verb":"delete_room","room":"tea"}"#))
      #expect(try run(relay, "verify").output.contains("2 rooms"))
      #expect(relay.process.errors.contains("An operator acts. by=sys "))
      _ = try relay.stop()
      let data = "\(relay.dataFolder): nothing listens on \(relay.dataFolder)/operator.sock."
      let start = "Start it, or name its data folder by --data or --config"
      #expect(
        try run(relay, "ban", "ada").errors
          == "No relay runs on the data folder \(data) \(start), or list the user in auth.banned.\n"
      )
      #expect(
        try run(relay, "connections").errors
          == "No relay runs on the data folder \(data) \(start), or another relay by --url.\n")
    }

    @Test func `a room is made read-only and writable again, and an entry is deleted`() throws {
      let relay = try RelayProcess()
      let (ada, bo) = (try RawClient(relay, user: "ada"), try RawClient(relay, user: "bo"))
      _ = try bo.join("tea")
      let ack = try ada.say("hello", in: "tea", id: "1")
      #expect(try run(relay, "rooms", "--read-only", "tea").errors == "")
      try ada.send(.send(.init(room: "tea", id: "2", text: "again")))
      let refusal: WireError = try ada.first {
        if case .error(let error) = $0 { error } else { nil }
      }
      #expect(refusal.code == .forbidden)
      #expect(try run(relay, "rooms", "--writable", "tea").errors == "")
      _ = try ada.say("again", in: "tea", id: "3")
      #expect(
        try run(relay, "rooms", "--room", "tea", "--delete-entry", "\(ack.seq)").errors == "")
      #expect(
        try run(relay, "rooms", "--room", "tea", "--delete-entry", "99").errors.contains("99"))
      let deletion: Int64? = try bo.first {
        if case .message(let entry) = $0, entry.kind == .delete { .some(entry.target) } else { nil }
      }
      #expect(deletion == ack.seq)
      let acts = try run(relay, "export", "--room", "sys:audit").output
      for verb in ["settings", "settings", "delete"] {
        #expect(acts.contains(#"{"by":"sys","verb":"\#(verb)","room":"tea"}"#))
      }
      #expect(try run(relay, "rooms", "--delete-entry", "1").errors.contains("need --room"))
    }

    @Test func `connections are listed, and one is ended, by the socket and by the token`() throws {
      let token = String(repeating: "t", count: 32)
      let relay = try RelayProcess("admin: { token: \(token) }")
      let (ada, bo) = (try RawClient(relay, user: "ada"), try RawClient(relay, user: "bo"))
      func name(of user: String) throws -> String {
        let lines = try run(relay, "connections", "--user", user).output.split(separator: "\n")
        #expect(lines.count == 1)
        let parts = try #require(lines.first).split(separator: "\t")
        #expect(parts[1...3] == [Substring(user), "websocket", "127.0.0.1"])
        return String(parts[0])
      }
      let names = (try name(of: "ada"), try name(of: "bo"))
      #expect(try run(relay, "connections", "--end", names.0).errors == "")
      let refusal: WireError = try ada.first {
        if case .error(let error) = $0 { error } else { nil }
      }
      #expect(refusal.code == .unauthorized)
      let remote = ["--url", "http://127.0.0.1:\(relay.port)", "--token"]
      let stranger = try ChildProcess(
        [Programs.relay, "connections", "--end", names.1] + remote
          + [RelayProcess.metricsToken], input: "")
      #expect(try stranger.wait() == .exit(1))
      #expect(stranger.errors.contains("admin.token"))
      let administrator = try ChildProcess(
        [Programs.relay, "connections", "--end", names.1] + remote + [token], input: "")
      #expect(try administrator.wait() == .exit(0))
      let end: WireError = try bo.first { if case .error(let error) = $0 { error } else { nil } }
      #expect(end.code == .unauthorized)
      #expect(try run(relay, "connections").output == "")
      #expect(
        try run(relay, "connections", "--end", names.0).errors.hasPrefix(
          "There is no such connection"))
      #expect(
        try run(relay, "connections", "--end", "-x.1.1").errors.hasPrefix(
          "There is no such connection"))
      let acts = try run(relay, "export", "--room", "sys:audit").output
      #expect(acts.contains(#"{"by":"sys","verb":"end_connection","user":"ada"}"#))
      #expect(acts.contains(#"{"by":"sys","verb":"end_connection","user":"bo"}"#))
    }
  }
}
