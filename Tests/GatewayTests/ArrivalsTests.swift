import Relay
import Testing
import WebSocket

@testable import Gateway

@Suite struct `Connections that are not established` {
  private static let other = HostKey(network: 2, isIPv6: false)
  private static let page = WebFiles([
    WebFile(
      path: "/", contentType: "text/html", tag: "a1", isImmutable: false, plain: [65], gzip: nil)
  ])

  private static func head(_ path: String, _ fields: [String] = []) -> String {
    "GET \(path) HTTP/1.1\r\nHost: localhost\r\n"
      + fields.map { "\($0)\r\n" }.joined() + "\r\n"
  }

  private static func upgrade(_ path: String) -> String {
    head(
      path,
      [
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ])
  }

  private func status(
    _ request: String, on relay: ArrayLoop, from host: HostKey = HostKey(network: 1, isIPv6: false),
    as peer: ServerConnection.Peer = .client
  ) -> Int? {
    let stream = relay.connect(from: host, as: peer)
    var answer = relay.send(request.utf8, on: stream)
    if answer.isEmpty {
      // A refusal waits for a sweep.
      relay.world.now.monotonic += Int64(ConnectionLoop.sweepMilliseconds)
      relay.loop.sweep()
      relay.run()
      relay.world.now.monotonic -= Int64(ConnectionLoop.sweepMilliseconds)
      answer = relay.takeOutput(of: stream)
      #expect(answer.hasPrefix("HTTP/1.1 429 "))
    }
    relay.loop.remove(stream: stream)
    return Int(answer.dropFirst(9).prefix(3))
  }

  // MARK: - The budget of an address

  @Test(arguments: [
    head("/nothing"), head("/v1/rooms"), head("/v1/rooms?token=x"), head("/metrics"),
    head("/v1/rooms", ["Origin: https://elsewhere.example"]), "GARBAGE\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "POST /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", upgrade("/ws"), upgrade("/ws?token=x"),
    upgrade("/nothing"),
  ])
  func `pay for each request, at the expense of their address only`(request: String) {
    let relay = ArrayLoop { $0.unauthenticatedPerSecond = 3 }
    for _ in 0..<3 { #expect(status(request, on: relay) != 429) }
    #expect(status(request, on: relay) == 429)
    #expect(relay.loop.context.violations[.unauthenticatedPerSecond] == 1)
    #expect(status(request, on: relay, from: Self.other) != 429)
    relay.pass(milliseconds: 400)
    #expect(status(request, on: relay) != 429)
    #expect(status(request, on: relay) == 429)
    // Requests with credentials are the user's.
    #expect(status(Self.upgrade("/ws?user=ada"), on: relay) == 101)
  }

  @Test func `pay nothing if they authenticate in their handshake`() {
    let relay = ArrayLoop { $0.unauthenticatedPerSecond = 1 }
    for user in 0..<5 { #expect(status(Self.upgrade("/ws?user=u\(user)"), on: relay) == 101) }
    #expect(status(Self.head("/nothing"), on: relay) == 404)
  }

  @Test func `get back what they have paid once they have authenticated`() {
    let relay = ArrayLoop(
      authenticator: Authenticator(verify: { token, _, _ in Identity(user: token) }, botUsers: [])
    ) { $0.unauthenticatedPerSecond = 1 }
    for _ in 0..<3 {
      let stream = relay.connect()
      #expect(relay.send(Self.upgrade("/ws").utf8, on: stream).hasPrefix("HTTP/1.1 101"))
      #expect(status(Self.head("/nothing"), on: relay) == 429)
      let auth = Array(#"{"type":"auth","token":"ada"}"#.utf8)
      let frame = [0x81, 0x80 | UInt8(auth.count), 0, 0, 0, 0] + auth
      #expect(relay.send(frame, on: stream).contains("welcome"))
    }
  }

  @Test func `may ask for files and for the relay's health when the budget is spent`() {
    let relay = ArrayLoop(files: Self.page) { $0.unauthenticatedPerSecond = 1 }
    for _ in 0..<3 { _ = status(Self.head("/nothing"), on: relay) }
    #expect(status(Self.head("/healthz"), on: relay) == 200)
    #expect(status(Self.head("/"), on: relay) == 200)
    for _ in 0..<WebFiles.requestsPerSecond { _ = status(Self.head("/healthz"), on: relay) }
    #expect(status(Self.head("/healthz"), on: relay) == 429)
    #expect(status(Self.head("/readyz"), on: relay) == 429)
  }

  @Test func `get answers that no cache stores and no other origin uses, and files their own`() {
    let relay = ArrayLoop(files: Self.page)
    func answer(_ path: String) -> String {
      relay.send(Self.head(path).utf8, on: relay.connect()).lowercased()
    }
    for path in [
      "/nothing", "/v1/rooms", "/v1/nothing", "/metrics", "/healthz",
    ] {
      let answer = answer(path)
      for field in [
        "cache-control: no-store", "x-content-type-options: nosniff",
        "cross-origin-resource-policy: same-origin",
      ] { #expect(answer.count(of: field) == 1, "\(path): \(answer)") }
    }
    let file = answer("/")
    #expect(file.hasPrefix("http/1.1 200"), "\(file)")
    #expect(file.contains("cache-control: no-cache"), "\(file)")
  }

  // MARK: - TLS handshakes

  /// Starts a TLS handshake, whose ClientHello has arrived.
  private func shakeHands(_ relay: ArrayLoop, from host: HostKey) -> Int {
    let stream = relay.connect(from: host)
    relay.world.streams[stream]?.isShakingHands = true
    relay.world.streams[stream]?.input = [22]
    relay.loop.ready(stream, .readable)
    return stream
  }

  @Test func `wait with their TLS handshake until their address may make another one`() {
    let relay = ArrayLoop { $0.unauthenticatedPerSecond = 4 }
    let host = HostKey(network: 1, isIPv6: false)
    let streams = (0..<6).map { _ in shakeHands(relay, from: host) }
    relay.run()
    func waiting() -> [Int] { streams.filter { relay.world.streams[$0]?.input.isEmpty == false } }
    #expect(waiting() == Array(streams[4...]))
    let foreign = shakeHands(relay, from: Self.other)
    relay.run()
    #expect(relay.world.streams[foreign]?.input.isEmpty == true)
    // The oldest comes first.
    relay.pass(milliseconds: 250)
    #expect(waiting() == Array(streams[5...]))
    // One that authenticates leaves its place to the next.
    relay.world.streams[streams[0]]?.isShakingHands = false
    #expect(relay.send(Self.upgrade("/ws?user=ada").utf8, on: streams[0]).hasPrefix("HTTP/1.1 101"))
    relay.loop.sweep()
    relay.run()
    #expect(waiting() == [])
  }

  @Test func `that go away while they wait cost no handshake`() {
    let relay = ArrayLoop { $0.unauthenticatedPerSecond = 1 }
    let host = HostKey(network: 1, isIPv6: false)
    _ = shakeHands(relay, from: host)
    let gone = shakeHands(relay, from: host)
    relay.run()
    relay.loop.ready(gone, .closed)
    relay.pass(milliseconds: 1250)
    #expect(relay.world.streams[gone]?.isClosed == true)
    #expect(relay.world.streams[gone]?.input.isEmpty == false)
  }

  @Test func `are processed after established ones, and few in a turn`() {
    let relay = ArrayLoop()
    let streams = (0..<40).map { number in
      let stream = shakeHands(relay, from: HostKey(network: UInt64(number), isIPv6: false))
      return stream
    }
    func done() -> Int { streams.count { relay.world.streams[$0]?.input.isEmpty == true } }
    #expect(done() == 0)
    for turn in 1...3 {
      #expect(relay.loop.endTurn() == .goesOn)
      #expect(
        done() == turn * ConnectionLoop.arrivalCostLimit / ConnectionLoop.handshakeCost)
    }
    relay.run()
    #expect(done() == streams.count)
  }

  // MARK: - Proxies

  @Test func `of a proxy are counted for its clients`() {
    var relay = ArrayLoop {
      $0.unauthenticatedPerSecond = 2
      $0.connectionsPerAddress = 1
    }
    relay = relay.trusting { text in UInt64(text).map { HostKey(network: $0, isIPv6: false) } }
    func request(_ client: String) -> String {
      Self.head("/nothing", ["X-Forwarded-For: \(client)"])
    }
    for _ in 0..<2 { #expect(status(request("7"), on: relay, as: .proxy) == 404) }
    #expect(status(request("7"), on: relay, as: .proxy) == 429)
    #expect(status(request("8"), on: relay, as: .proxy) == 404)
    // Another peer is not believed.
    #expect(status(request("9"), on: relay) == 404)
    #expect(status(request("10"), on: relay) == 404)
    #expect(status(request("11"), on: relay) == 429)
    // The limit of connections is that of the client, too.
    let first = relay.connect(as: .proxy)
    #expect(
      relay.send(
        Self.head("/v1/rooms?user=ada", ["X-Forwarded-For: 20"]).utf8, on: first
      ).isEmpty)
    #expect(status(request("20"), on: relay, as: .proxy) == 503)
    #expect(status(request("21"), on: relay, as: .proxy) == 404)
    relay.loop.remove(stream: first)
    #expect(status(request("20"), on: relay, as: .proxy) == 404)
    #expect(relay.loop.context.admission.census.total == 0)
  }

  @Test func `pay for the handshakes of the clients that their proxy has named`() {
    let relay = ArrayLoop { $0.unauthenticatedPerSecond = 2 }
    func shakeHands(for host: HostKey, isTrusted: Bool = false) -> Int {
      let stream = relay.connect(as: .proxy)
      relay.world.streams[stream] = ArrayWorld.Stream(
        input: [22], client: ProxyChain.Hop(host: host, isTrusted: isTrusted), isShakingHands: true)
      relay.loop.ready(stream, .readable)
      relay.run()
      return stream
    }
    func waits(_ stream: Int) -> Bool { relay.world.streams[stream]?.input.isEmpty == false }
    let ada = HostKey(network: 7, isIPv6: false)
    #expect((0..<3).map { _ in waits(shakeHands(for: ada)) } == [false, false, true])
    #expect(!waits(shakeHands(for: Self.other)))
    // Those of a proxy before the proxy are not its own.
    #expect(
      (0..<3).map { _ in waits(shakeHands(for: ada, isTrusted: true)) } == [false, false, false])
  }

  // MARK: - The head

  @Test func `are told at the first header line beyond the limit`() {
    let relay = ArrayLoop { $0.headerLines = 3 }
    let lines = String(repeating: "a:\r\n", count: 3)
    let stream = relay.connect()
    let answer = relay.send("GET / HTTP/1.1\r\nHost: x\r\n\(lines)".utf8, on: stream)
    #expect(answer.hasPrefix("HTTP/1.1 431 "))
    #expect(relay.loop.context.violations[.headerLines] == 1)
  }

  @Test func `drip a head that is read once`() {
    let relay = ArrayLoop { $0.headerBytes = 8192 }
    let stream = relay.connect()
    let head = Self.head("/healthz", [String](repeating: "a:", count: 1900))
    var answer = ""
    for byte in head.utf8 { answer += relay.send([byte], on: stream) }
    #expect(answer.hasPrefix("HTTP/1.1 200"))
    #expect(relay.loop.headBytesScanned <= 2 * head.utf8.count)
  }
}

extension String {
  /// How often a text occurs.
  fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
