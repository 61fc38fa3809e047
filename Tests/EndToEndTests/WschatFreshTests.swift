import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// What the list shows follows the relay's state: after each kind of event it is what a client shows
  /// that has just started, without anything from before.
  @Suite struct `The list of wschat, compared with that of a fresh one` {
    /// The rows of the list, without the mark of what is selected.
    private func rows(_ terminal: TerminalSession) throws -> [String] {
      try terminal.screen().list.dropFirst().dropLast().map {
        var row = $0.replacing("▎", with: " ")[...]
        while row.last == " " { row.removeLast() }
        return String(row)
      }.filter { !$0.isEmpty }
    }

    /// The title of the open conversation, without the health of the connection.
    private func title(_ terminal: TerminalSession) throws -> String {
      String(try terminal.screen().lines[0].prefix { $0 != "●" && $0 != "◐" })
    }

    @Test func `after each kind of event`() throws {
      let relay = try RelayProcess()
      let old = try TerminalSession.wschat(relay, ["--to", "bo"], columns: 120, rows: 30)
      try old.waitForConversation("bo")
      let bo = try RawClient(relay, user: "bo")
      let cy = try RawClient(relay, user: "cy")
      var id = 0
      func send(_ client: RawClient, _ make: (String) -> ClientMessage.Send) throws {
        id += 1
        try client.send(.send(make("e\(id)")))
        _ = try client.first { if case .ack(let ack) = $0 { ack } else { nil } }
      }
      let dm = "dm:ada:bo"
      let events: [(String, () throws -> Void)] = [
        (
          "the first message of a direct room",
          { try send(bo) { .init(room: dm, id: $0, text: "hi") } }
        ),
        (
          "a message of another direct room",
          { try send(cy) { .init(room: "dm:ada:cy", id: $0, text: "hello") } }
        ),
        (
          "an own message",
          {
            try old.type("mine")
            try old.press("Enter")
          }
        ),
        ("an edit of the last one", { try send(bo) { .init(room: dm, id: $0, text: "old news") } }),
        (
          "an edit of an old one",
          { try send(bo) { .init(room: dm, id: $0, edit: 1, text: "hi!") } }
        ),
        ("the deletion of an old one", { try send(bo) { .init(room: dm, id: $0, delete: 1) } }),
        (
          "a reaction",
          {
            try send(cy) { .init(room: "dm:ada:cy", id: $0, react: 1, emoji: "👍", isOn: true) }
          }
        ),
        (
          "the deletion of the last one",
          { try send(cy) { .init(room: "dm:ada:cy", id: $0, delete: 1) } }
        ),
        ("a read mark", { try bo.send(.read(room: dm, seq: 3)) }),
        ("an absence", { try bo.send(.presence(isAway: true)) }),
        (
          "the deletion of an own one",
          {
            try old.press("S-Up")
            for _ in 0..<4
            where try old.screen().lines.contains(where: {
              $0.contains("▌") && !$0.contains("mine")
            }) {
              try old.press("Up")
            }
            try old.press("d", "y")
          }
        ),
      ]
      for (what, event) in events {
        try event()
        let fresh = try TerminalSession.wschat(relay, ["--to", "bo"], columns: 120, rows: 30)
        try fresh.waitForConversation("bo")
        var (shown, expected) = ([""], [""])
        let isSame = try becomesTrue(within: Deadline(seconds: 15)) {
          shown = try rows(old) + [title(old)]
          expected = try rows(fresh) + [title(fresh)]
          return shown == expected
        }
        #expect(
          isSame,
          "\(what):\n\(shown.joined(separator: "\n"))\n\nfresh:\n\(expected.joined(separator: "\n"))"
        )
        try fresh.end()
      }
    }
  }
}
