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

    @Test func `with the vim keymap letters are commands, also in sequences, until i`() throws {
      let relay = try RelayProcess()
      let terminal = try open(relay, configuration: "keymap: vim\nkeys: { mute: [ctrl+g m] }\n")
      for text in ["one", "two", "three"] { try terminal.say(text) }
      try terminal.wait(for: "its ack") { $0.messages(with: "three").contains { $0.contains("✓") } }
      try terminal.press("Escape")
      // A letter at once after it would be one with Alt.
      try terminal.wait(for: "the newest") {
        $0.messages(with: "three").contains { $0.hasPrefix("▌") }
      }
      try terminal.type("g")
      let status = try terminal.wait(for: "g…")
      #expect(status.lines.last?.contains("g oldest loaded message") == true)
      try terminal.type("g")
      try terminal.wait(for: "the oldest") {
        $0.messages(with: "one").contains { $0.hasPrefix("▌") }
      }
      try terminal.type("jyy")
      try terminal.wait(for: "Copied.")
      #expect(terminal.clipboard == "two")
      // Typed as one text, as a fast typist's keys arrive.
      try terminal.type("qzGdd")
      try terminal.wait(for: "Delete this message")
      try terminal.press("Enter")
      try terminal.wait(for: "deleted")
      try terminal.press("C-g")
      try terminal.wait(for: "m mute")
      try terminal.type("m")
      try terminal.wait(for: "muted")
      // A prefix alone ends by itself.
      try terminal.type("g")
      try terminal.wait(for: "g…")
      try terminal.wait(forNo: "g…")
      try terminal.type("imore")
      try terminal.wait(for: "the text") { $0.composer.contains("› more") }
    }

    @Test func `several messages are copied at once, with time and name`() throws {
      let relay = try RelayProcess()
      let terminal = try open(relay)
      for text in ["one", "two", "three"] { try terminal.say(text) }
      try terminal.wait(for: "its ack") { $0.messages(with: "three").contains { $0.contains("✓") } }
      try terminal.press("S-Up", "S-Up")
      try terminal.wait(for: "copy 2 messages")
      try terminal.type("c")
      try terminal.wait(for: "Copied 2 messages.")
      let lines = try #require(terminal.clipboard).split(separator: "\n")
      #expect(lines.count == 2)
      #expect(lines.first?.hasSuffix("  ada: two") == true)
      #expect(lines.last?.hasSuffix("  ada: three") == true)
    }

    @Test func `Alt and a digit open the conversation of that place`() throws {
      let relay = try RelayProcess()
      let terminal = try open(relay)
      try terminal.say("the last one")
      try terminal.type("/join tea")
      try terminal.press("Enter")
      try terminal.waitForConversation("tea")
      try terminal.say("newer")
      // The relay's answer moves the conversation to the first place.
      try terminal.wait(for: "tea above General") { screen in
        let list = screen.lines.map { $0.prefix { $0 != "│" } }
        guard let tea = list.firstIndex(where: { $0.contains("tea") }),
          let general = list.firstIndex(where: { $0.contains("General") })
        else { return false }
        return tea < general
      }
      try terminal.press("M-2")
      try terminal.waitForConversation("General")
      try terminal.press("M-1")
      try terminal.waitForConversation("tea")
      try terminal.press("M-9")
      try terminal.wait(for: "The list has only")
    }

    @Test func `a key that is the beginning of another is reported at the start`() throws {
      let relay = try RelayProcess()
      let home = try TemporaryFolder()
      try home.write("keys:\n  first: [k k]\n", to: "config/wschat/config.yaml")
      let terminal = try TerminalSession.wschat(relay, ["--room", "general"], in: home)
      #expect(try terminal.waitForExit() == .exit(2))
      // The screen breaks the line anywhere.
      let text = try terminal.screen().lines.joined()
      #expect(text.contains("keys.first: kk begins with k, which is already a key of up"))
    }
  }
}
