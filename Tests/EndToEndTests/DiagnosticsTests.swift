import Glibc
import TestSupport
import Testing
import Wire

extension `End to end` {
  @Suite struct `Diagnostics in the operator's log` {
    private static let text = "words-that-must-not-be-logged"

    /// Returns what a relay logs of a conversation.
    private func log(at level: String) throws -> String {
      let relay = try RelayProcess("log_level: \(level)\nlimits: { sends_per_s: 5, burst: 2 }")
      let ada = try RawClient(relay, user: "ada")
      for id in ["1", "2", "3"] { try ada.say(Self.text, in: "general", id: id) }
      _ = try ada.join("general", after: 0)
      for _ in 1...3 { _ = try ada.entry() }
      try ada.send(.read(room: "elsewhere", seq: 1))
      _ = try ada.error()
      try ada.close()
      _ = try ada.untilClosed()
      _ = try HTTPExchange(
        relay,
        "GET /v1/rooms?user=ada&token=\(Self.text) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
      ).answer()
      #expect(try relay.stop() == .exit(0))
      #expect(!relay.process.errors.contains(Self.text))
      return relay.process.errors
    }

    private static let decisions = [
      "is accepted from 127.0.0.1:", "requests GET /ws", "opens a WebSocket",
      "is authenticated as ada", "has joined general after 0 of 3", "catches up in general after 0",
      "has caught up in general at 3", "is slowed by its user's budget of sends",
      "is refused read in elsewhere: not_joined, ", "is closed by the client: 1000", "ends",
      "requests GET /v1/rooms", "is answered 401",
    ]

    @Test func `debug has each connection and decision, and no message`() throws {
      let log = try log(at: "debug")
      for decision in Self.decisions {
        #expect(log.contains(" debug: loop-"))
        #expect(log.split(separator: "\n").contains { $0.contains(": \(decision)") }, "\(decision)")
      }
      #expect(!log.contains(" trace: "))
    }

    @Test func `trace has each message, without its text`() throws {
      let log = try log(at: "trace")
      for message in ["sends send, ", "is sent the ack of 3 in general", "is sent joined"] {
        #expect(log.split(separator: "\n").contains { $0.contains(message) }, "\(message)")
      }
    }

    @Test func `info has none of it, until the level is changed while the relay runs`() throws {
      #expect(try !log(at: "info").contains("connection "))
      let relay = try RelayProcess("log_level: info")
      _ = try RawClient(relay, user: "ada")
      try relay.folder.write(
        try readFile(relay.folder["relay.yaml"]).replacing(
          "log_level: info", with: "log_level: debug"),
        to: "relay.yaml")
      relay.process.signal(SIGHUP)
      let deadline = Deadline()
      while !relay.process.errors.contains("is authenticated as bo"), !deadline.hasPassed {
        _ = try RawClient(relay, user: "bo").join("general")
        usleep(50_000)
      }
      #expect(relay.process.errors.contains("is authenticated as bo"))
      #expect(!relay.process.errors.contains("is authenticated as ada"))
      #expect(try relay.stop() == .exit(0))
    }
  }
}
