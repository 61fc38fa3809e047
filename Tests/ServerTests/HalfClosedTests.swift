import RelayConfiguration
import Server
import TLS
import TestSupport
import Testing

/// A client that sends its requests and then says that it sends nothing more: `nc -N`, or TLS's
/// `close_notify`, which may come in the same read as the request.
@Suite struct `A client that has ended its output` {
  @Test(arguments: [false, true])
  func `gets its answer`(encrypted: Bool) throws {
    let log = HeldLog()
    try withClient(encrypted, log) { client, server in
      try client.send(Self.post(1), end: true)
      try passTurn(server)
      log.release()
      let answer = try client.receive()
      #expect(answer.hasPrefix("HTTP/1.1 201 "))
      #expect(answer.contains(#""id":"number 1","seq":1,"#))
    }
  }

  /// The second is answered immediately, and then there is one that has not been looked at.
  @Test(arguments: [false, true])
  func `gets the answers to all pipelined requests`(encrypted: Bool) throws {
    let log = HeldLog()
    try withClient(encrypted, log) { client, server in
      let nobody = "GET /v1/avatars/nobody?user=ada HTTP/1.1\r\nHost: localhost\r\n\r\n"
      try client.send(Self.post(1))
      try passTurn(server)
      try client.send(nobody + nobody + Self.post(2) + nobody, end: true)
      try passTurn(server)
      log.release()
      let answers = try client.receive().split(separator: "HTTP/1.1 ").map { $0.prefix(3) }
      #expect(answers == ["201", "404", "404", "201", "404"])
    }
  }

  @Test(arguments: [false, true])
  func `is not waited for if its request is incomplete`(encrypted: Bool) throws {
    try withClient(encrypted, nil) { client, _ in
      try client.send(String(Self.post(1).dropLast(3)), end: true)
      #expect(try client.receive().isEmpty)
    }
  }

  private func withClient(
    _ isEncrypted: Bool, _ log: HeldLog?, _ body: (HTTPClient, Server) throws -> Void
  ) throws {
    let certificates = try Certificates()
    let context =
      isEncrypted
      ? try TLSContext(trusting: .authorities(file: certificates["ca.pem"])) : nil
    try withServer(
      log: log,
      configure: {
        guard isEncrypted else { return }
        $0.tls.certificate = certificates["server.pem"]
        $0.tls.key = certificates["server.key"]
      }
    ) { server in
      // Even if the test fails: a submitted request is answered, or the relay would not end.
      defer { log?.release() }
      try body(try HTTPClient(server, context), server)
    }
  }

  /// Returns when the loop has read everything that was sent before. If clients must use TLS, one
  /// without it gets an error.
  private func passTurn(_ server: Server) throws {
    let client = try HTTPClient(server)
    try client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    _ = try client.receive()
  }

  private static func post(_ number: Int) -> String {
    let content = #"{"id":"number \#(number)","text":"hi"}"#
    return "POST /v1/rooms/general/messages?user=ada HTTP/1.1\r\nHost: localhost\r\n"
      + "Content-Type: application/json\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)"
  }
}
