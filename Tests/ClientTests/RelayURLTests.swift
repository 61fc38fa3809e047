import Client
import Testing

@Suite struct `URL of a relay, RFC 6455 §3` {
  @Test func `host, port, path and query are taken apart`() throws {
    let url = try RelayURL("ws://relay.example:9000/chat/ws?a=b")
    #expect(url.host == "relay.example")
    #expect(url.port == 9000)
    #expect(url.target == "/chat/ws?a=b")
    #expect(url.authority == "relay.example:9000")
  }

  @Test func `the port is 80 and the path is ws where none is given`() throws {
    let url = try RelayURL("ws://relay.example")
    #expect(url.port == 80)
    #expect(url.target == "/ws")
    #expect(url.authority == "relay.example")
    #expect(try RelayURL("ws://relay.example/").target == "/ws")
    #expect(try RelayURL("ws://relay.example?x=1").target == "/ws?x=1")
    #expect(try RelayURL("ws://relay.example/chat/").target == "/chat/ws")
    #expect(try RelayURL("ws://relay.example/chat/?x=/").target == "/chat/ws?x=/")
    #expect(try RelayURL(typed: "https://relay.example/chat/?to=ada").target == "/chat/ws")
  }

  @Test func `IPv6 addresses are in brackets`() throws {
    #expect(try RelayURL("ws://[::1]:8080/ws").host == "::1")
    #expect(try RelayURL("ws://[::1]:8080/ws").authority == "[::1]:8080")
    #expect(try RelayURL("ws://[::1]/ws").port == 80)
  }

  @Test func `a query item is added to the existing query`() throws {
    #expect(try RelayURL("ws://h/ws").target(adding: "user", "ada") == "/ws?user=ada")
    #expect(try RelayURL("ws://h/ws?a=b").target(adding: "user", "ada") == "/ws?a=b&user=ada")
  }

  @Test func `a query, which may hold a token, is not printed`() throws {
    #expect("\(try RelayURL("ws://h:1/ws?token=secret"))" == "ws://h:1/ws")
  }

  @Test func `wss is TLS on port 443`() throws {
    let url = try RelayURL("wss://h")
    #expect(url.isEncrypted)
    #expect(url.port == 443)
    #expect(url.authority == "h")
    #expect("\(url)" == "wss://h/ws")
    #expect(try RelayURL("wss://h:80").authority == "h:80")
    #expect(try RelayURL("ws://h:443").authority == "h:443")
    #expect(try !RelayURL("ws://h").isEncrypted)
  }

  @Test func `a program without TLS refuses wss in a sentence of its own`() {
    #expect(throws: RelayURL.Invalid.encrypted("wss://h/ws")) {
      try RelayURL(inClear: "wss://h/ws")
    }
  }

  @Test(arguments: ["http://h/ws", "h:80", "", "ws:/h"])
  func `another scheme is refused`(text: String) {
    #expect(throws: RelayURL.Invalid.scheme(text)) { try RelayURL(text) }
  }

  @Test(arguments: [
    "ws://", "ws://:80/ws", "ws://h:port/ws", "ws://h:99999/", "ws://::1/ws", "ws://a@h/",
    "ws://h\r\nX-Evil: 1/ws",
  ])
  func `an invalid host or port is refused`(text: String) {
    #expect(throws: RelayURL.Invalid.authority(text)) { try RelayURL(text) }
  }

  @Test(arguments: ["ws://h/a b", "ws://h/ws#top", "ws://h/ü", "ws://h/\r\nX: y"])
  func `characters that a request cannot contain are refused`(text: String) {
    #expect(throws: RelayURL.Invalid.target(text)) { try RelayURL(text) }
  }

  @Test(arguments: [
    ("ws://h:1/a?b=c", "ws://h:1/a"), ("http://h/", "ws://h/ws"), ("HTTPS://h", "wss://h/ws"),
    ("http://h:8080/?user=ada#token=x", "ws://h:8080/ws"), ("https://h/chat/ws", "wss://h/chat/ws"),
    ("127.0.0.1:8080", "ws://127.0.0.1:8080/ws"), ("LOCALHOST", "ws://LOCALHOST/ws"),
    ("a.localhost:1/x", "ws://a.localhost:1/x"), ("[::1]:8080", "ws://[::1]:8080/ws"),
    ("127.evil.example:1", "wss://127.evil.example:1/ws"),
    ("localhost.example", "wss://localhost.example/ws"),
    ("chat.example.org", "wss://chat.example.org/ws"), ("10.0.0.1:80", "wss://10.0.0.1:80/ws"),
  ])
  func `an address is understood as people type it, without TLS only on this machine`(
    text: String, url: String
  ) throws {
    #expect("\(try RelayURL(typed: text))" == url)
  }

  @Test func `what is no address in any form is refused as it was typed`() {
    #expect(throws: RelayURL.Invalid.scheme("ftp://h")) { try RelayURL(typed: "ftp://h") }
    #expect(throws: RelayURL.Invalid.authority("")) { try RelayURL(typed: "") }
    #expect(throws: RelayURL.Invalid.authority("h:x")) { try RelayURL(typed: "h:x") }
    #expect(throws: RelayURL.Invalid.authority("::1")) { try RelayURL(typed: "::1") }
  }
}
