import TestSupport
import Testing
import Wire

extension `End to end` {
  /// `relay rooms`, `relay ban` and `relay unban`, beside a running relay.
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
      _ = try relay.stop()
      #expect(try run(relay, "ban", "ada").errors.contains("It has to run."))
    }
  }
}
