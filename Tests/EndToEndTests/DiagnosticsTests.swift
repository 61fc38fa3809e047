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
      "debug A connection is accepted. address=127.0.0.1:", "debug A request has arrived. ",
      "method=GET path=/ws", "debug A WebSocket opens. ",
      "info A user signed in. address=127.0.0.1 ", "debug A session has joined a room. after=0 ",
      "head=3 ", "debug A cursor lags. after=0 ", "debug A cursor has caught up. ", "seq=3",
      "debug A connection is slowed by its user's budget. budget=sends ",
      "debug A request is refused. code=not_joined ", "room=elsewhere type=read",
      "info A session has ended. address=127.0.0.1 code=1000 ", "debug A connection has ended. ",
      "path=/v1/rooms", "debug A request is answered. ", "status=401",
    ]

    @Test func `debug has each connection and decision, and no message`() throws {
      let log = try log(at: "debug")
      for decision in Self.decisions {
        #expect(log.split(separator: "\n").contains { $0.contains(decision) }, "\(decision)")
      }
      #expect(!log.contains(" trace "))
    }

    @Test func `trace has each message, without its text`() throws {
      let log = try log(at: "trace")
      for message in ["trace A message is received. ", "trace An ack is sent. ", "type=joined"] {
        #expect(log.split(separator: "\n").contains { $0.contains(message) }, "\(message)")
      }
    }

    @Test func `info has none of it, until the level is changed while the relay runs`() throws {
      let log = try log(at: "info")
      #expect(!log.contains(" debug ") && !log.contains(" trace "))
      let relay = try RelayProcess("log_level: info")
      _ = try RawClient(relay, user: "ada")
      try relay.folder.write(
        try readFile(relay.folder["relay.yaml"]).replacing(
          "log_level: info", with: "log_level: debug"),
        to: "relay.yaml")
      relay.process.signal(SIGHUP)
      let joined = " debug A session has joined a room. "
      let deadline = Deadline()
      while !relay.process.errors.contains(joined), !deadline.hasPassed {
        _ = try RawClient(relay, user: "bo").join("general")
        usleep(50_000)
      }
      #expect(relay.process.errors.contains(joined))
      #expect(try relay.stop() == .exit(0))
    }
  }
}
