import Server
import Testing

/// A socket is full, since its client has not read the earlier output.
@Suite struct `Output that a socket does not accept immediately` {
  @Test(arguments: [
    ("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
    ("no request at all\r\n\r\n", "400"),
    ("GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\r\n", "426"),
  ])
  func `of a refusal is sent when the client has read, and then the connection ends`(
    request: String, status: String
  ) throws {
    try withServer { server in
      let client = try HTTPClient(server)
      let junk = try stuffed(client, server)
      try client.send(request)
      try passTurn(server)
      try client.skip(junk)
      let answer = try client.receive()
      try #require(answer.hasPrefix("HTTP/1.1 \(status) "))
      let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
      let length = parts[0].split(separator: "\r\n").first { $0.hasPrefix("Content-Length: ") }
      #expect(length == "Content-Length: \(parts.last?.utf8.count ?? -1)")
    }
  }

  @Test func `of 100 Continue is sent before the answer`() throws {
    try withServer { server in
      let client = try HTTPClient(server)
      let junk = try stuffed(client, server)
      let content = #"{"id":"1","text":"hi"}"#
      try client.send(
        "POST /v1/rooms/general/messages?user=ada HTTP/1.1\r\nHost: localhost\r\n"
          + "Content-Type: application/json\r\nContent-Length: \(content.utf8.count)\r\n"
          + "Expect: 100-continue\r\nConnection: close\r\n\r\n")
      try passTurn(server)
      try client.skip(junk)
      #expect(try client.receive { $0.hasSuffix("\r\n\r\n") }.hasPrefix("HTTP/1.1 100 "))
      try client.send(content)
      #expect(try client.receive().contains("\r\n\r\nHTTP/1.1 201 "))
    }
  }

  private func stuffed(_ client: HTTPClient, _ server: Server) throws -> Int {
    // The relay has accepted it by then.
    try passTurn(server)
    return try stuff(server, towards: client)
  }

  /// Returns when the loop has read everything that was sent before.
  private func passTurn(_ server: Server) throws {
    let client = try HTTPClient(server)
    try client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    _ = try client.receive()
  }
}
