import EventLoop
import Glibc
import Platform
import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Three relays on one PostgreSQL behind haproxy, with the configurations of docs/cluster.md.
  @Suite struct `A load balancer before several relays` {
    private let server: PostgresServer
    private let relays: [RelayProcess]
    private let balancer: FrontProxy

    init() throws {
      server = try PostgresServer(settings: ["fsync=on"])
      let document = try Document("docs/cluster.md")
      let yaml = try #require(
        document.blocks.first { $0.language == "yaml" && $0.staged.contains("postgresql:///relay") }
      )
      let configuration = yaml.lines.joined(separator: "\n")
        .replacing("postgresql:///relay", with: server.url)
      relays = try (0..<3).map { _ in try RelayProcess(configuration) }
      balancer = try FrontProxy(
        .haproxy, document.block(in: "haproxy"), listen: "127.0.0.1:8080",
        relays: relays.enumerated().map { ("127.0.0.1:\(8081 + $0)", $1) })
    }

    private func client(_ user: String) throws -> RawClient {
      try RawClient(port: balancer.port, user: user)
    }

    /// Waits until the balancer answers with a status: each relay that is not taken out answers 200,
    /// and the balancer 503 if all are.
    private func wait(for status: Int) throws {
      let passed = becomesTrue(within: Deadline(seconds: 30)) {
        (try? balancer.status(of: "/healthz")) == status
      }
      if !passed { throw Unexpected("the balancer did not answer \(status): \(balancer.errors)") }
    }

    @Test func `clients of all relays talk with each other, and one that ends hands over`() throws {
      try wait(for: 200)
      let clients = try (0..<6).map { number in
        let client = try client("u\(number)")
        _ = try client.join("general")
        return client
      }
      #expect(try relays.allSatisfy { try $0.metric("relay_sessions") > 0 }, "of each relay")
      _ = try clients[0].say("hello", in: "general", id: "1")
      for client in clients.dropFirst() { #expect(try client.entry().text == "hello") }

      // What operators may see is not shown through the balancer.
      #expect(try balancer.status(of: "/metrics") == 401)

      #expect(try relays[0].stop() == .exit(0))
      var moved = 0
      for client in clients where try client.wasClosed() { moved += 1 }
      #expect(1..<clients.count ~= moved)
      // Connections go to the others at once.
      for number in 0..<6 {
        let client = try client("v\(number)")
        #expect(try client.join("general", after: 0).head >= 1)
      }
    }

    @Test func `relays that cannot commit are taken out, and in again`() throws {
      try wait(for: 200)
      try server.crash()
      try wait(for: 503)
      #expect(throws: (any Error).self) { try client("ada") }
      try server.restart()
      try wait(for: 200)
      #expect(try client("ada").say("again", in: "general", id: "1").seq == 1)
    }
  }
}

extension RawClient {
  /// Whether the relay closes the connection, or has done so; waits for an answer otherwise.
  fileprivate func wasClosed() throws -> Bool {
    try? send(.ping(t: nil))
    while true {
      switch try next() {
      case .closed(let code, _):
        #expect(code == 1012)
        return true
      case .end: return true
      case .message(let json):
        if case .pong = try? ServerMessage(decoding: json.span) { return false }
      }
    }
  }
}
