import Glibc
import TestSupport
import Testing
import WebSocket
import Wire

extension `End to end` {
  /// `relay erase` and `relay export --user`, beside a running relay.
  @Suite struct `Erasing a person` {
    private func run(_ relay: RelayProcess, _ arguments: String...) throws -> ChildProcess {
      let command = try ChildProcess(
        [Programs.relay] + arguments + ["--config", relay.folder["relay.yaml"]], input: "")
      try command.wait()
      return command
    }

    private func files(of relay: RelayProcess, with word: String) throws -> [String] {
      try fileNames(in: relay.dataFolder).filter { !["operator.sock", "files"].contains($0) }.filter
      { name in
        try readBytes("\(relay.dataFolder)/\(name)").firstRange(of: Array(word.utf8)) != nil
      }
    }

    @Test func `connected clients see the entries deleted, and the person is thrown out`() throws {
      let relay = try RelayProcess()
      let (ada, bo) = (try RawClient(relay, user: "ada"), try RawClient(relay, user: "bo"))
      for client in [ada, bo] { _ = try client.join("tea") }
      _ = try bo.say("the <secret> of bo", in: "tea", id: "1")
      _ = try ada.say("hello", in: "tea", id: "2")
      try bo.send(
        .send(.init(room: "tea", id: "3", react: 2, emoji: "👍", isOn: true)))
      _ = try bo.ack()
      try bo.send(.send(.init(room: "dm:ada:bo", id: "4", text: "a direct <secret>")))
      _ = try bo.ack()
      let lurker = try RawClient(relay, user: "cy")
      let exported = try run(relay, "export", "--user", "bo")
      #expect(exported.errors.hasSuffix(" lines\n"))
      #expect(exported.output.contains("the <secret> of bo"))
      #expect(exported.output.contains(#""emoji":"👍""#))
      #expect(exported.output.contains(#"{"type":"marks","room":"dm:ada:bo","user":"bo""#))
      #expect(!exported.output.contains("hello"))

      try ada.send(.erase(user: "bo", room: nil, seq: nil))
      #expect(try ada.error().code == .forbidden)
      let erased = try run(relay, "erase", "--user", "bo")
      #expect(try erased.wait() == .exit(0), "\(erased.errors)")
      #expect(erased.errors == "")
      let lines = erased.output.split(separator: "\n")
      #expect(lines.first == "dm:ada:bo\t1 membership, 1 text")
      // What takes the reaction back is one as well, until it is erased.
      #expect(lines.dropFirst().first == "tea\t1 membership, 2 reactions, 1 text")
      #expect(lines.last?.hasPrefix("searched\t") == true)
      #expect(lines.last?.hasSuffix(" pieces: 0 found") == true)
      let refusal: WireError = try bo.first {
        if case .error(let error) = $0 { error } else { nil }
      }
      #expect(refusal.code == .forbidden)
      let deletion: Entry = try ada.first {
        if case .message(let entry) = $0, entry.kind == .delete { entry } else { nil }
      }
      #expect(deletion.from == "sys")
      #expect(deletion.target == 1)
      for word in ["<secret>", "👍"] { #expect(try files(of: relay, with: word) == []) }

      let again = try RawClient(relay, user: "bo")
      let kept: WireError = try again.first {
        if case .error(let error) = $0 { error } else { nil }
      }
      #expect(kept.code == .forbidden)
      let audit = try run(relay, "export", "--room", "sys:audit").output
      #expect(audit.contains(#""data":{"by":"sys","verb":"erase","user":"bo"}"#))
      let rest = try run(relay, "export", "--user", "bo").output
      for type in ["marks", "seen"] { #expect(!rest.contains("\"type\":\"\(type)\"")) }
      #expect(try run(relay, "verify").errors == "")
      // One who has said nothing was seen all the same.
      _ = try lurker.join("tea")
      #expect(try run(relay, "export", "--user", "cy").output.contains(#""type":"seen""#))
      #expect(try run(relay, "erase", "--user", "cy").output.hasPrefix("tea\t1 membership\n"))
      #expect(
        try run(relay, "export", "--user", "cy").output == "{\"type\":\"ban\",\"user\":\"cy\"}\n")
      let unknown = try run(relay, "erase", "--user", "bob")
      #expect(try unknown.wait() == .exit(1))
      #expect(unknown.errors.hasPrefix("There is nothing of bob."))
      #expect(try relay.stop() == .exit(0))
      #expect(try run(relay, "erase", "--user", "ada").output.hasPrefix("dm:ada:bo\t"))
    }

    @Test func `with PostgreSQL one of the relays does it, and none is refused`() throws {
      let server = try PostgresServer()
      let relays = try (0..<2).map { _ in
        try RelayProcess(#"log: { engine: postgresql, url: "\#(server.url)", durability: os }"#)
      }
      let bo = try RawClient(relays[1], user: "bo")
      _ = try bo.join("tea")
      _ = try bo.say("the <secret> of bo", in: "tea", id: "1")
      let erased = try run(relays[0], "erase", "--user", "bo")
      #expect(try erased.wait() == .exit(0), "\(erased.errors)")
      #expect(erased.output == "tea\t1 membership, 1 text\n")
      let refusal: WireError = try bo.first {
        if case .error(let error) = $0 { error } else { nil }
      }
      #expect(refusal.code == .forbidden)
      let exported = try run(relays[0], "export", "--user", "bo").output
      #expect(exported.contains(#""seq":1,"id":"1","from":"bo""#))
      #expect(!exported.contains("<secret>"))
      #expect(!exported.contains(#""type":"seen""#))
      for relay in relays { #expect(try relay.stop() == .exit(0)) }
      let stopped = try run(relays[0], "erase", "--user", "bo")
      #expect(try stopped.wait() == .exit(1))
      #expect(stopped.errors.hasPrefix("No relay of this log runs"))
    }

    @Test func `after both are killed in the middle, another erasure removes the rest`() throws {
      let relay = try RelayProcess()
      #expect(try relay.stop() == .exit(0))
      let count = 6000
      let lines = (1...count).map { seq in
        #"{"type":"message","room":"tea","seq":\#(seq),"id":"\#(seq)","from":"bo","at":1,"#
          + #""kind":"text","text":"<secret \#(seq)>","epoch":"e"}"# + "\n"
      }
      let importing = try ChildProcess(
        [Programs.relay, "import", "--data", relay.dataFolder], input: lines.joined())
      #expect(try importing.wait() == .exit(0), "\(importing.errors)")
      try relay.start()
      let ada = try RawClient(relay, user: "ada")
      _ = try ada.join("tea")
      let erasing = try ChildProcess(
        [Programs.relay, "erase", "--user", "bo", "--data", relay.dataFolder], input: "")
      let first: Int64 = try ada.first {
        if case .message(let entry) = $0 { entry.target } else { nil }
      }
      #expect(first == Int64(count), "the last entry goes first")
      try relay.kill()
      erasing.signal(SIGKILL)
      try erasing.wait()
      #expect(try files(of: relay, with: "<secret 1>") != [])
      try relay.start()
      let again = try run(relay, "erase", "--user", "bo")
      #expect(try again.wait() == .exit(0), "\(again.errors)")
      #expect(try files(of: relay, with: "<secret ") == [])
      #expect(try run(relay, "erase", "--user", "bo").output.hasPrefix("searched\t"))
      #expect(try relay.stop() == .exit(0))
      #expect(try run(relay, "verify").wait() == .exit(0))
      #expect(
        try run(relay, "rooms", "--room", "tea").output.contains("\t1 member\t12000 entries\t"))
      #expect(try files(of: relay, with: "<secret ") == [])
    }
  }
}
