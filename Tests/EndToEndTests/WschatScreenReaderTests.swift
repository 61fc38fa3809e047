import TestSupport
import Testing
import Wire

extension `End to end` {
  /// `wschat --plain` on a terminal, for screen readers: they read what is appended, and stumble
  /// over frames, colors and lines that change.
  @Suite struct `wschat for a screen reader` {
    @Test func `says every event once, in a line of its own, without frames or styles`() throws {
      let relay = try RelayProcess(RelayProcess.withoutLimits)
      let terminal = try TerminalSession.wschat(
        relay, ["--room", "general", "--plain", "--follow"], columns: 100, rows: 40)
      let bo = try RawClient(relay, user: "bo")
      // Once it has joined, it says each of these.
      try terminal.type("hello from ada\r")
      let ada = try RawClient(relay, user: "ada")
      _ = try becomesTrue { try ada.join("general").head == 1 }
      // One after the other: the relay empties an edit of what is deleted before it is delivered.
      try bo.say("hello from bo", in: "general", id: "1")
      try terminal.wait(for: "hello from bo")
      try bo.send(.send(.init(room: "general", id: "2", edit: 2, text: "corrected")))
      try terminal.wait(for: "(edit of 2) corrected")
      try bo.send(.send(.init(room: "general", id: "3", react: 1, emoji: "🎉", isOn: true)))
      try terminal.wait(for: "(🎉 for 1)")
      try bo.send(.send(.init(room: "general", id: "4", delete: 2)))
      let screen = try terminal.wait(for: "(deletes 2)")
      for event in ["hello from bo", "(edit of 2)", "(🎉 for 1)", "(deletes 2)"] {
        #expect(screen.count(of: event) == 1, "\(event) in\n\(screen)")
        #expect(screen.line(with: event)?.contains("bo  ") == true)
      }
      // Each below the one before it: nothing was drawn over.
      let rows = ["hello from bo", "(edit of 2)", "(🎉 for 1)", "(deletes 2)"].map {
        screen.row(of: $0) ?? -1
      }
      #expect(rows == rows.sorted())
      #expect(Set(rows).count == rows.count)
      #expect(!screen.isAlternate)
      #expect(!screen.text.unicodeScalars.contains { (0x2500...0x259F).contains($0.value) })
      #expect(try !terminal.styledText().utf8.contains(0x1B))
    }
  }
}
