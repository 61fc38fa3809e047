import Testing
import WebSocket

@Suite struct `Server handshake, RFC 6455 §4․2` {
  /// The example of §1.3, with lines replaced or left out (`nil`) by name.
  func answer(
    method: String = "GET", _ changes: [String: [String]] = [:],
    subprotocols: [String] = ["relay.v1"]
  ) throws -> ServerHandshake.Answer {
    var lines: [(String, [String])] = [
      ("Host", ["server.example.com"]), ("Upgrade", ["websocket"]), ("Connection", ["Upgrade"]),
      ("Sec-WebSocket-Key", ["dGhlIHNhbXBsZSBub25jZQ=="]), ("Origin", ["http://example.com"]),
      ("Sec-WebSocket-Protocol", []), ("Sec-WebSocket-Version", ["13"]),
    ]
    lines = lines.map { ($0.0, changes[$0.0] ?? $0.1) }
    var text = "\(method) /chat HTTP/1.1\r\n"
    for (name, values) in lines { for value in values { text += "\(name): \(value)\r\n" } }
    let read = try #require(try request("\(text)\r\n"))
    return ServerHandshake.answer(read.request, subprotocols: subprotocols)
  }

  func response(_ answer: ServerHandshake.Answer) -> String {
    switch answer {
    case .accept(let response, _, _), .refuse(let response):
      String(decoding: response.bytes, as: UTF8.self)
    }
  }

  func expect(
    _ answer: ServerHandshake.Answer, refusedWith expected: Int, headers: [String] = [],
    at location: SourceLocation = #_sourceLocation
  ) {
    guard case .refuse(let refusal) = answer else {
      Issue.record("accepted", sourceLocation: location)
      return
    }
    let text = response(answer)
    #expect(refusal.status == expected, sourceLocation: location)
    #expect(text.hasPrefix("HTTP/1.1 \(expected) "), sourceLocation: location)
    #expect(text.contains("\r\nContent-Type: text/plain"), sourceLocation: location)
    #expect(refusal.body.last == UInt8(ascii: "\n"), sourceLocation: location)
    for header in headers { #expect(text.contains("\r\n\(header)\r\n"), sourceLocation: location) }
  }

  @Test func `the example of §1․3`() throws {
    #expect(
      try response(answer()) == """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
        \r

        """)
  }

  @Test(arguments: [
    ["Upgrade": ["WebSocket"], "Connection": ["keep-alive, UPGRADE"]],
    ["Upgrade": ["h2c, websocket"], "Connection": ["keep-alive", "upgrade"]],
  ])
  func `Upgrade and Connection are lists, and ignore case`(changes: [String: [String]]) throws {
    guard case .accept = try answer(changes) else {
      Issue.record("refused")
      return
    }
  }

  @Test(arguments: ["POST", "HEAD", "get", "OPTIONS"])
  func `another method is answered with 405`(method: String) throws {
    expect(try answer(method: method), refusedWith: 405, headers: ["Allow: GET"])
  }

  @Test(arguments: [
    ["Upgrade": []], ["Upgrade": ["h2c"]], ["Connection": []], ["Connection": ["close"]],
    ["Upgrade": ["websocket2"]], ["Connection": ["not-upgrade"]],
  ])
  func `a request without an upgrade to WebSocket is answered with 426`(changes: [String: [String]])
    throws
  {
    expect(
      try answer(changes), refusedWith: 426,
      headers: ["Upgrade: websocket", "Connection: Upgrade"])
  }

  @Test(arguments: [[], ["8"], ["12"], ["14"], ["13, 8"], ["13", "13"], ["013"]])
  func `another version is answered with 426 and ours`(versions: [String]) throws {
    expect(
      try answer(["Sec-WebSocket-Version": versions]), refusedWith: 426,
      headers: ["Sec-WebSocket-Version: 13"])
  }

  @Test(arguments: [
    [], [""], ["dGhlIHNhbXBsZSBub25jZQ"], ["dGhlIHNhbXBsZSBub25j"],
    ["dGhlIHNhbXBsZSBub25jZTEyMw=="], ["dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ=="],
    ["not base64 of anything.."],
  ])
  func `the key is 16 bytes in base64, once`(keys: [String]) throws {
    expect(try answer(["Sec-WebSocket-Key": keys]), refusedWith: 400)
  }

  @Test(
    arguments: [
      ([], nil), (["relay.v1"], "relay.v1"), (["other, relay.v1"], "relay.v1"),
      (["a, b"], "b"), (["relay.v1, b"], "b"), (["a", "b", "relay.v1"], "b"), ([""], nil),
    ] as [([String], String?)])
  func `the first of our subprotocols that is offered is chosen, none if none is offered`(
    offers: [String], chosen: String?
  ) throws {
    let answer = try answer(
      ["Sec-WebSocket-Protocol": offers], subprotocols: ["b", "relay.v1"])
    guard case .accept(_, let subprotocol, _) = answer else {
      Issue.record("refused")
      return
    }
    #expect(subprotocol == chosen)
    #expect(
      response(answer).contains("Sec-WebSocket-Protocol") == (chosen != nil))
    if let chosen {
      #expect(response(answer).contains("\r\nSec-WebSocket-Protocol: \(chosen)\r\n"))
    }
  }

  @Test(arguments: [
    ["relay.v2"], ["RELAY.V1"], ["a", "b"], ["relay.v1;q=1"], ["a b"], ["relay.v1, a b"],
  ])
  func `offers that are all unknown, or not tokens, are answered with 400`(offers: [String])
    throws
  {
    expect(try answer(["Sec-WebSocket-Protocol": offers]), refusedWith: 400)
  }
}
