import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Keys and composing.
  @Suite struct `Writing with wschat on a screen` {
    private func texts(_ relay: RelayProcess, _ room: String) throws -> [String] {
      try RawClient(relay, user: "bo").everything(in: room).compactMap(\.text)
    }

    private func open(_ relay: RelayProcess, configuration: String = "") throws -> TerminalSession {
      let home = try TemporaryFolder()
      try home.write(configuration, to: "config/wschat/config.yaml")
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      try terminal.waitForConversation("General")
      return terminal
    }

    @Test func `what was sent is sent again, while a draft waits that can be cleared`() throws {
      let relay = try RelayProcess()
      let terminal = try open(relay)
      try terminal.say("the first")
      try terminal.say("the second")
      try terminal.type("a draft")
      try terminal.press("C-p", "C-p")
      try terminal.wait(for: "the first text") { $0.composer.contains("the first") }
      try terminal.press("Enter")
      try terminal.wait(for: "the draft") { $0.composer.contains("a draft") }
      try terminal.press("M-z")
      try terminal.wait(for: "an empty composer") { !$0.composer.contains("a draft") }
      try terminal.press("M-z")
      try terminal.wait(for: "the draft again") { $0.composer.contains("a draft") }
      try terminal.wait(for: "its ack") {
        $0.messages(with: "the first").filter { $0.contains("✓") }.count == 2
      }
      #expect(try texts(relay, "general") == ["the first", "the second", "the first"])
    }

    @Test func `names of emoji become emoji, in a text and as a reaction that is typed`() throws {
      let relay = try RelayProcess()
      let terminal = try open(relay)
      try terminal.type("done :tada: at 12:30:45")
      try terminal.press("Enter")
      try terminal.wait(for: "its ack") {
        $0.messages(with: "done 🎉 at 12:30:45").contains { $0.contains("✓") }
      }
      try terminal.press("S-Up")
      try terminal.type("+rocket")
      try terminal.wait(for: "🚀 rocket")
      try terminal.press("Enter")
      try terminal.wait(for: "🚀 1")
      #expect(try texts(relay, "general") == ["done 🎉 at 12:30:45"])
    }
  }
}
