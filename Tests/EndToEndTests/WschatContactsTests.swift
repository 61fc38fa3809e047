import TestSupport
import Testing

extension `End to end` {
  /// Requests, blocks and reports, on the screen and in lines.
  @Suite struct `People who are not wanted in wschat` {
    /// A relay where names are those of persons, so that strangers are strangers.
    private let relay: RelayProcess

    init() throws {
      relay = try RelayProcess(
        "auth: { mode: jwt, secret: 0123456789abcdef0123456789abcdef }")
    }

    private func wschat(_ user: String, _ arguments: String...) throws -> TerminalSession {
      let command =
        "'\(Programs.relay)' token --user \(user) --config '\(relay.folder["relay.yaml"])'"
      return try TerminalSession(
        [Programs.wschat, relay.url, "--token-command", command] + arguments, columns: 100, rows: 30
      )
    }

    private func command(_ text: String, on terminal: TerminalSession, says sentence: String) throws
    {
      try terminal.type(text)
      try terminal.wait(for: "the text in the composer") { $0.composer.contains(text) }
      try terminal.press("Enter")
      try terminal.wait(for: sentence)
    }

    @Test func `a stranger is accepted, blocked, let in again and reported`() throws {
      let bo = try wschat("bo", "--to", "ada", "--plain", "--follow")
      func say(_ line: String) throws {
        try bo.type("\(line)\r")
        try bo.wait(for: "bo  \(line)")
      }
      try say("hello from a stranger")
      let ada = try wschat("ada", "--room", "general")
      try ada.wait(for: "the request in the list") { $0.list.contains { $0.contains("Requests") } }
      try ada.go(to: "bo")
      try ada.wait(for: "bo is new to you: /accept, answer, or /block")
      try command("/accept", on: ada, says: "bo's request is accepted.")
      try ada.wait(forNo: "Requests")
      try command("/block", on: ada, says: "bo is blocked.")
      for line in ["answer me", "please"] { try say(line) }
      try ada.wait(for: "2 messages of a blocked person are hidden")
      try command("/unblock", on: ada, says: "bo is no longer blocked.")
      try say("at last")
      try ada.wait(for: "the message") { !$0.messages(with: "at last").isEmpty }
      try command("/report too loud", on: ada, says: "was reported to the operators of the relay.")
      try command("/report 99 spam", on: ada, says: "The report was refused: Entry 99")

      let lines = try wschat("ada", "--to", "bo", "--plain", "--follow", "--history", "9")
      try lines.wait(for: "(2 messages of a blocked person are hidden)")
      try lines.type("/block\r")
      try lines.wait(for: "bo is blocked.")
      for line in ["again", "and again"] { try say(line) }
      try lines.wait(for: "(A message of a blocked person is hidden)")
      try lines.type("/report 99 spam\r")
      try lines.wait(for: "line 2 was refused: Entry 99")
    }
  }
}
