import Mixing
import Testing
import WebSocket

@Suite struct `Client handshake, RFC 6455 §4․1` {
  static let nonce = Array("the sample nonce".utf8)
  let handshake = ClientHandshake(
    host: "server.example.com", target: "/chat?user=ada", subprotocols: ["relay.v1", "relay.v2"],
    headers: [(name: "Authorization", value: "Bearer t")], nonce: Self.nonce)

  /// The answer of §1.3 with lines replaced or left out by name.
  func answer(status: String = "HTTP/1.1 101 Switching Protocols", _ changes: [String: [String]])
    -> String
  {
    let lines: [(String, [String])] = [
      ("Upgrade", ["websocket"]), ("Connection", ["Upgrade"]),
      ("Sec-WebSocket-Accept", ["s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]),
      ("Sec-WebSocket-Protocol", ["relay.v1"]), ("Sec-WebSocket-Extensions", []),
    ]
    var text = "\(status)\r\n"
    for (name, values) in lines {
      for value in changes[name] ?? values { text += "\(name): \(value)\r\n" }
    }
    return "\(text)\r\n"
  }

  func read(_ text: String, headerLimitBytes: Int = 0, atEnd: Bool = false)
    throws(HandshakeFailure) -> ClientHandshake.Opening?
  {
    var handshake = handshake
    return try handshake.read(
      Array(text.utf8).span, headerLimitBytes: headerLimitBytes, atEnd: atEnd)
  }

  @Test func `the request is the one of §1․3`() {
    #expect(
      String(decoding: handshake.request, as: UTF8.self) == """
        GET /chat?user=ada HTTP/1.1\r
        Host: server.example.com\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Protocol: relay.v1, relay.v2\r
        Authorization: Bearer t\r
        \r

        """)
  }

  @Test func `our server and our client understand each other`() throws {
    var random = SplitMix64(seed: 5)
    for subprotocols in [[], ["relay.v1"], ["x", "relay.v1"]] {
      var handshake = ClientHandshake(
        host: "localhost:8080", target: "/ws", subprotocols: subprotocols,
        nonce: random.bytes(16))
      let asked = try #require(
        try HTTPRequest.read(handshake.request.span, headerLimitBytes: 8192))
      #expect(asked.length == handshake.request.count)
      let answer = ServerHandshake.answer(asked.request, subprotocols: ["relay.v1"])
      guard case .accept(let response, let subprotocol, nil) = answer else {
        Issue.record("refused")
        continue
      }
      let opened = try #require(
        try handshake.read((response.bytes + [0x81, 0]).span, headerLimitBytes: 8192))
      #expect(opened.subprotocol == subprotocol)
      #expect(opened.subprotocol == subprotocols.last)
      #expect(opened.length == response.bytes.count)
    }
  }

  @Test func `nothing is read until the blank line has arrived`() throws {
    let text = answer([:])
    var handshake = handshake
    for count in 0..<text.utf8.count {
      #expect(try handshake.read(Array(text.utf8.prefix(count)).span, headerLimitBytes: 0) == nil)
    }
    let opened = try #require(try read(text))
    #expect(opened.subprotocol == "relay.v1")
    #expect(opened.length == text.utf8.count)
  }

  @Test(
    arguments: [
      (["Upgrade": []], .upgradeMissing), (["Upgrade": ["h2c"]], .upgradeMissing),
      (["Connection": []], .connectionMissing), (["Connection": ["close"]], .connectionMissing),
      (["Sec-WebSocket-Accept": []], .acceptMismatch),
      (["Sec-WebSocket-Accept": ["s3pplmbitxaq9kygzzhzrbk+xoo="]], .acceptMismatch),
      (
        [
          "Sec-WebSocket-Accept": [
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
          ]
        ], .acceptMismatch
      ),
      (["Sec-WebSocket-Protocol": ["other"]], .subprotocolUnexpected),
      (["Sec-WebSocket-Protocol": ["relay.v1, relay.v2"]], .subprotocolUnexpected),
      (["Sec-WebSocket-Protocol": ["relay.v1", "relay.v2"]], .subprotocolUnexpected),
      (["Sec-WebSocket-Extensions": ["permessage-deflate"]], .extensionUnexpected),
      (["Upgrade": ["web socket\u{1}"]], .malformed(.controlCharacter(1))),
    ] as [([String: [String]], HandshakeFailure)])
  func `an answer that does not follow from the request is refused`(
    changes: [String: [String]], failure: HandshakeFailure
  ) {
    #expect(throws: failure) { try read(answer(changes)) }
  }

  @Test func `an answer without a subprotocol is accepted, and names ignore case`() throws {
    let changes = [
      "Sec-WebSocket-Protocol": [], "Upgrade": ["WebSocket"], "Connection": ["upgrade"],
    ]
    let opened = try #require(try read(answer(changes)))
    #expect(opened.subprotocol == nil)
  }

  @Test(arguments: [
    "HTTP/1.0 101 Switching Protocols", "HTTP/1.1 1O1 x", "HTTP/1.1  101", "HTTP/1.1", "SSH-2.0-x",
    "HTTP/1.1 +10 x", "HTTP/1.1 099 x",
  ])
  func `a first line that is not a status line is refused`(line: String) {
    #expect(throws: HandshakeFailure.malformed(.statusLineMalformed)) {
      try read(answer(status: line, [:]))
    }
  }

  @Test func `a header beyond the limit is refused`() {
    #expect(throws: HandshakeFailure.malformed(.headerTooLong(limitBytes: 60))) {
      try read(answer([:]), headerLimitBytes: 60)
    }
  }

  @Test func `another status is reported with the start of its body`() throws {
    let head = "HTTP/1.1 400 Bad Request\r\nContent-Length: 10\r\n\r\n"
    let refused = HandshakeFailure.refused(status: 400, body: "No, thanks")
    #expect(try read(head) == nil)
    #expect(try read(head + "No, thank") == nil)
    #expect(throws: refused) { try read(head + "No, thanks") }
    #expect(throws: HandshakeFailure.refused(status: 400, body: "No")) {
      try read(head + "No\r\n", atEnd: true)
    }
    // A wrong length, and a body without one.
    let long = "HTTP/1.1 503 \r\nContent-Length: 9000000\r\n\r\n"
    #expect(
      throws: HandshakeFailure.refused(status: 503, body: String(repeating: "x", count: 1024))
    ) {
      try read(long + String(repeating: "x", count: 2000))
    }
    #expect(throws: HandshakeFailure.refused(status: 302, body: "")) {
      try read("HTTP/1.1 302\r\nLocation: /\r\n\r\n")
    }
  }

  @Test func `our server's refusal arrives unchanged`() throws {
    var handshake = handshake
    let asked = try #require(
      try HTTPRequest.read(handshake.request.span, headerLimitBytes: 0))
    let answer = ServerHandshake.answer(asked.request, subprotocols: ["relay.v9"])
    guard case .refuse(let response) = answer else {
      Issue.record("accepted")
      return
    }
    let reason = String(decoding: response.body.dropLast(), as: UTF8.self)
    #expect(throws: HandshakeFailure.refused(status: response.status, body: reason)) {
      try handshake.read(response.bytes.span, headerLimitBytes: 0)
    }
  }
}
