import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Two relays on one PostgreSQL, which tell each other what a user has spent.
  @Suite struct `The limits of a user over several relays` {
    private let server: PostgresServer

    init() throws { server = try PostgresServer(settings: ["fsync=off"]) }

    private func relays(_ limits: String) throws -> [RelayProcess] {
      try (0..<2).map { _ in
        try RelayProcess(
          """
          log: { engine: postgresql, url: "\(server.url)", durability: os }
          limits: { \(limits) }
          """)
      }
    }

    @Test func `a flood through both relays gets the limit once`() throws {
      let relays = try relays("sends_per_s: 50, burst: 50")
      let clients = try relays.map { try RawClient($0, user: "ada") }
      for client in clients { _ = try client.join("general") }
      let began = ContinuousClock.now
      for (number, client) in clients.enumerated() {
        for id in 0..<300 {
          try client.send(.send(.init(room: "general", id: "\(number)-\(id)", text: "x")))
        }
      }
      for client in clients { for _ in 0..<300 { _ = try client.ack() } }
      // Each relay alone would be done after 5 s. Of the 600, 100 are bursts, and up to 100 more are
      // sent before the relays hear of each other.
      #expect(ContinuousClock.now - began > .seconds(7))
    }

    @Test func `connections to another relay count`() throws {
      let relays = try relays("connections_per_user: 3")
      let clients = try (0..<3).map { _ in
        let client = try RawClient(relays[0], user: "ada")
        _ = try client.join("general")
        return client
      }
      let refused = becomesTrue(within: Deadline(seconds: 30)) {
        (try? RawClient(relays[1], user: "ada").refusal())?.field == "connections_per_user"
      }
      #expect(refused)
      #expect(try RawClient(relays[1], user: "bo").join("general").room == "general")
      for client in clients { #expect(try client.join("other").room == "other") }
    }
  }
}

extension RawClient {
  /// The error with which the relay refuses the connection; `nil` if it lets the user join.
  fileprivate func refusal() throws -> WireError? {
    try? send(.join(.init(room: "general")))
    return try first { message -> WireError?? in
      switch message {
      case .error(let error): error
      case .joined: .some(nil)
      default: nil
      }
    }
  }
}
