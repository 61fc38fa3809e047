import Relay
import Testing
import WebSocket

@testable import Gateway

@Suite struct `The page that a request comes from` {
  private static let allowed: Set<String> = [
    "https://Chat.example.org:443", "http://other.example:81",
  ]

  private func status(
    _ path: String, host: String, _ fields: [String], loopback: Bool = false
  ) throws -> Int {
    let lines = (["Host: \(host)"] + fields).map { "\($0)\r\n" }.joined()
    let text = Array("GET \(path) HTTP/1.1\r\n\(lines)\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    let router = RequestRouter(origins: Self.allowed, requiresLoopbackHost: loopback)
    switch router.route(request, from: .operator, identify: { .known(.init(user: "ada")) }) {
    case .answer(let response), .refuse(let response, _): return response.status
    case .call: return 200
    case .webSocket, .echo: return 101
    }
  }

  private static let upgrade = [
    "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]

  static let paths = [
    "/v1/rooms", "/v1/rooms/r/messages", "/v1/rooms/r/messages/1/trace", "/v1/people",
    "/v1/avatars/bo", "/v1/stream?room=r", "/metrics", "/ws",
  ]

  private func status(_ path: String, _ fields: [String]) throws -> Int {
    try status(path, host: "relay.example", path == "/ws" ? fields + Self.upgrade : fields)
  }

  @Test(arguments: paths)
  func `is another site's, which a browser says without naming it`(path: String) throws {
    for site in ["cross-site", "same-site", "", "unheard-of"] {
      #expect(try status(path, ["Sec-Fetch-Site: \(site)"]) == 403, "\(site)")
    }
    // Two values are not the browser's.
    #expect(try status(path, ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none"]) == 403)
    for origin in ["https://elsewhere.example", "null", "relay.example", ""] {
      #expect(try status(path, ["Origin: \(origin)"]) == 403, "\(origin)")
    }
  }

  @Test(arguments: paths)
  func `is the relay's own, or there is none`(path: String) throws {
    let served = path == "/ws" ? 101 : 200
    #expect(try status(path, []) == served)
    #expect(try status(path, ["Sec-Fetch-Site: same-origin"]) == served)
    #expect(try status(path, ["Origin: https://relay.example"]) == served)
    #expect(
      try status(path, ["Origin: https://chat.example.org", "Sec-Fetch-Site: cross-site"])
        == served)
  }

  @Test func `does not follow a link to what changes something`() throws {
    #expect(try status("/v1/rooms", ["Sec-Fetch-Site: none"]) == 200)
    #expect(try status("/v1/stream?room=r", ["Sec-Fetch-Site: none"]) == 403)
  }

  @Test(arguments: [
    ("relay.example:443", "https://relay.example", 200),
    ("relay.example", "https://relay.example:443", 200),
    ("relay.example:80", "http://relay.example", 200),
    ("relay.example", "http://relay.example:80", 200),
    ("RELAY.example:443", "https://Relay.example", 200),
    ("[2001:db8::1]:443", "https://[2001:db8::1]", 200),
    ("relay.example:443", "http://relay.example", 403),
    ("relay.example:80", "https://relay.example", 403),
    ("relay.example:8443", "https://relay.example", 403),
    ("relay.example", "https://relay.example:8443", 403),
    ("elsewhere.example", "https://chat.example.org", 200),
    ("elsewhere.example", "http://other.example:81", 200),
    ("elsewhere.example", "http://other.example", 403),
    ("elsewhere.example", "http://chat.example.org", 403),
  ])
  func `is compared without default ports`(host: String, origin: String, status: Int) throws {
    #expect(try self.status("/v1/rooms", host: host, ["Origin: \(origin)"]) == status)
  }

  @Test func `is the browser's word where a proxy drops the port of the host`() throws {
    let own = ["Origin: https://relay.example:8443", "Sec-Fetch-Site: same-origin"]
    #expect(try status("/v1/rooms", host: "relay.example", own) == 200)
    #expect(try status("/v1/rooms", host: "another.example", own) == 403)
  }

  @Test(arguments: [
    ("[::1]", true), ("[::1]:8080", true), ("127.0.0.1:8080", true), ("127.9.9.9", true),
    ("LOCALHOST", true), ("localhost:1", true),
    ("[::1].evil.example", false), ("[::1]evil:80", false), ("[::1]:80.evil.example", false),
    ("127.0.0.1.evil.example", false), ("localhost.evil.example:80", false),
    ("127.0.0.1:80evil", false), ("[::2]", false), ("128.0.0.1", false),
  ])
  func `names this machine only as a whole`(host: String, isLoopback: Bool) throws {
    #expect(
      try status("/v1/rooms", host: host, [], loopback: true) == (isLoopback ? 200 : 403))
    #expect(
      try status("/v1/rooms", host: host, ["Sec-Fetch-Site: same-origin"], loopback: true)
        == (isLoopback ? 200 : 403))
  }
}
