import Relay
import Testing
import WebSocket
import Wire

@testable import Gateway

/// Tokens whose verification takes longer than a lookup in memory.
@Suite struct `A token that is verified later` {
  private let relay = ArrayLoop(
    authenticator: Authenticator(verify: { _, _, _ in nil }, botUsers: [], banned: ["eve"]))

  /// Answers all that was asked.
  private func verify(_ result: Result<Identity, WireError>) {
    for (_, asker) in relay.world.unverified { relay.world.mail.append(.verified(result, asker)) }
    relay.world.unverified = []
    relay.run()
  }

  private static let ada = Result<Identity, WireError>.success(Identity(user: "ada"))
  private static let refused = Result<Identity, WireError>.failure(
    WireError(.unauthorized, "no", re: .auth))

  private func frame(_ json: String) -> [UInt8] {
    [0x81, 0x80 | UInt8(json.utf8.count), 0, 0, 0, 0] + Array(json.utf8)
  }

  private static let upgrade = """
    GET /ws?token=x HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r
    Sec-WebSocket-Protocol: relay.v1\r\n\r\n
    """

  private func open(_ head: String = upgrade) -> Int {
    let stream = relay.connect()
    #expect(relay.send(head.utf8, on: stream).hasPrefix("HTTP/1.1 101"))
    return stream
  }

  @Test func `lets messages wait in their order`() {
    let stream = open()
    #expect(relay.world.unverified.map(\.token) == ["x"])
    let sent = frame(#"{"type":"ping","t":1}"#) + frame(#"{"type":"ping","t":2}"#)
    #expect(relay.send(sent, on: stream) == "")
    verify(Self.ada)
    let output = relay.takeOutput(of: stream)
    let places = ["welcome", #""t":1"#, #""t":2"#].map { output.firstRange(of: $0)?.lowerBound }
    #expect(places.allSatisfy { $0 != nil })
    #expect(places.compactMap(\.self) == places.compactMap(\.self).sorted())
  }

  @Test func `ends a connection that it does not admit`() {
    let stream = open()
    verify(Self.refused)
    #expect(relay.takeOutput(of: stream).contains("unauthorized"))
    let banned = open()
    verify(.success(Identity(user: "eve")))
    #expect(relay.takeOutput(of: banned).contains("forbidden"))
    let later = open()
    verify(.failure(WireError(.unavailable, "later", re: .auth)))
    #expect(relay.takeOutput(of: later).contains("unavailable"))
  }

  @Test func `may come in the first message, and its answer has the ref`() {
    let stream = open(Self.upgrade.replacing("?token=x", with: ""))
    #expect(relay.send(frame(#"{"type":"auth","token":"y","ref":"7"}"#), on: stream) == "")
    #expect(relay.world.unverified.map(\.token) == ["y"])
    verify(Self.ada)
    let output = relay.takeOutput(of: stream)
    #expect(output.contains("welcome"))
    #expect(output.contains(#""ref":"7""#))
  }

  @Test func `that comes too late finds no connection`() {
    let stream = open()
    relay.loop.remove(stream: stream)
    verify(Self.ada)
    let other = open(Self.upgrade.replacing("?token=x", with: ""))
    #expect(relay.takeOutput(of: other) == "")
  }

  @Test func `may take longer than a client may`() {
    let (first, message) = (open(), open(Self.upgrade.replacing("?token=x", with: "")))
    relay.pass(milliseconds: 3000)
    relay.send(frame(#"{"type":"auth","token":"y"}"#), on: message)
    relay.pass(milliseconds: 10_000)
    verify(Self.ada)
    #expect(relay.takeOutput(of: first).contains("welcome"))
    #expect(relay.takeOutput(of: message).contains("welcome"))
    let forgotten = open()
    relay.pass(milliseconds: 31_000)
    #expect(relay.takeOutput(of: forgotten).contains("authentication timed out"))
  }

  /// A session ends after days without use, and a token is presented once.
  @Test func `shows its device to be in use, as long as it is connected`() {
    _ = open()
    var identity = Identity(user: "ada")
    identity.device = "phone"
    verify(.success(identity))
    for _ in 0..<3 {
      relay.world.used = []
      relay.pass(milliseconds: 3_600_000)
      #expect(relay.world.used == [["phone"]])
    }
  }

  // MARK: Over HTTP

  private static let head = """
    POST /v1/requests?token=x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r
    Content-Length: 17\r\n\r\n
    """
  private static let content = #"[{"type":"ping"}]"#

  @Test(arguments: ["with the head", "meanwhile", "afterwards"])
  func `lets a request wait, whenever its content arrives`(arrival: String) {
    let stream = relay.connect()
    if arrival == "with the head" {
      #expect(relay.send((Self.head + Self.content).utf8, on: stream) == "")
    } else {
      #expect(relay.send(Self.head.utf8, on: stream) == "")
    }
    if arrival == "meanwhile" { #expect(relay.send(Self.content.utf8, on: stream) == "") }
    verify(Self.ada)
    var output = relay.takeOutput(of: stream)
    if arrival == "afterwards" { output = relay.send(Self.content.utf8, on: stream) }
    #expect(output.hasPrefix("HTTP/1.1 200"), "\(output)")
    #expect(output.contains("pong"))
  }

  @Test func `is asked for once for each request`() {
    let stream = relay.connect()
    let request = Self.head + Self.content
    relay.send((request + request).utf8, on: stream)
    #expect(relay.world.unverified.count == 1)
    verify(Self.ada)
    #expect(relay.world.unverified.count == 1, "pipelined, the second one waits for the first")
    verify(Self.refused)
    #expect(relay.takeOutput(of: stream).contains("401"))
  }

  @Test func `is not asked for where the answer is public`() {
    let stream = relay.connect()
    let head = "GET /healthz?token=x HTTP/1.1\r\nHost: localhost\r\n\r\n"
    #expect(relay.send(head.utf8, on: stream).hasPrefix("HTTP/1.1 200"))
    #expect(relay.world.unverified.isEmpty)
  }
}
