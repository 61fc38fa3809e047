import TLS
import TestSupport
import Testing

@Suite struct `TLS session` {
  let certificates: Certificates
  let server: TLSContext
  let client: TLSContext

  init() throws { (certificates, server, client) = try Pair.contexts() }

  private func open() -> Pair {
    let pair = Pair(server, client)
    pair.carry()
    return pair
  }

  @Test func `both sides agree on TLS 1.3 and HTTP/1.1`() {
    let pair = open()
    #expect(pair.client.state == .open)
    #expect(pair.server.state == .open)
    #expect(pair.client.version == "TLSv1.3")
    #expect(pair.server.applicationProtocol == "http/1.1")
    #expect(pair.client.applicationProtocol == "http/1.1")
  }

  @Test func `a client of TLS 1.2 is served`() {
    client.disableTLS13()
    let pair = open()
    #expect(pair.client.state == .open)
    #expect(pair.server.version == "TLSv1.2")
  }

  @Test(arguments: [false, true])
  func `sent data arrives, also byte by byte`(tls12: Bool) {
    if tls12 { client.disableTLS13() }
    let pair = Pair(server, client)
    pair.carry(by: 1)
    #expect(pair.server.state == .open)
    #expect(pair.client.sendAll(Array("hello".utf8), output: &pair.toServer) == 5)
    #expect(pair.server.sendAll(Array("and you".utf8), output: &pair.toClient) == 7)
    let carried = pair.carry(by: 1)
    #expect(carried.atServer == Array("hello".utf8))
    #expect(carried.atClient == Array("and you".utf8))
  }

  @Test(arguments: [7, 1000, 16_384, 49_152])
  func `a megabyte arrives in both directions, whatever the pieces`(size: Int) {
    let pair = open()
    let up = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let down = Array(up.reversed())
    #expect(pair.client.sendAll(up, output: &pair.toServer) == up.count)
    #expect(pair.server.sendAll(down, output: &pair.toClient) == down.count)
    let carried = pair.carry(by: size)
    #expect(carried.atServer == up)
    #expect(carried.atClient == down)
  }

  @Test func `one send is one record, of the size that is promised`() {
    let pair = open()
    let much = [UInt8](repeating: 1, count: 100_000)
    #expect(pair.server.send(much.span, output: &pair.toClient) == TLSSession.recordBytes)
    #expect(pair.toClient.count > TLSSession.recordBytes)
    #expect(pair.toClient.count <= TLSSession.recordBytes + TLSSession.recordOverheadBytes)
  }

  @Test func `nothing is sent before the handshake is over`() {
    let pair = Pair(server, client)
    #expect(pair.server.sendAll([1, 2, 3], output: &pair.toClient) == 0)
    #expect(pair.toClient.isEmpty)
  }

  @Test func `an end is reported after the data before it, and the other side may continue`() {
    let pair = open()
    _ = pair.client.sendAll([1, 2, 3], output: &pair.toServer)
    pair.client.close(output: &pair.toServer)
    #expect(pair.carry().atServer == [1, 2, 3])
    #expect(pair.server.state == .ended)
    #expect(pair.server.sendAll([4], output: &pair.toClient) == 1)
    pair.server.close(output: &pair.toClient)
    let length = pair.toClient.count
    pair.server.close(output: &pair.toClient)
    #expect(pair.toClient.count == length)
    #expect(pair.carry().atClient == [4])
    #expect(pair.client.state == .ended)
    #expect(pair.client.sendAll([5], output: &pair.toServer) == 0)
  }

  @Test func `an incomplete record is awaited`() {
    let pair = open()
    _ = pair.client.sendAll(Array("halves".utf8), output: &pair.toServer)
    let record = pair.toServer
    pair.toServer = []
    #expect(pair.server.receive(record[..<10], answer: &pair.toClient).isEmpty)
    #expect(pair.server.state == .open)
    #expect(pair.server.receive(record[10...], answer: &pair.toClient) == Array("halves".utf8))
  }

  @Test func `an altered record ends the session, after the data before it`() {
    let pair = open()
    _ = pair.client.sendAll([1], output: &pair.toServer)
    let first = pair.toServer.count
    _ = pair.client.sendAll([2], output: &pair.toServer)
    pair.toServer[first + 7] ^= 1
    #expect(pair.carry().atServer == [1])
    guard case .failed(.broken) = pair.server.state else {
      Issue.record("\(pair.server.state)")
      return
    }
    // An alert tells it why.
    guard case .failed(.broken(let reason)) = pair.client.state else {
      Issue.record("\(pair.client.state)")
      return
    }
    #expect(reason.contains("bad record mac"))
  }

  @Test func `a second session is resumed by the ticket of the first`() {
    let first = open()
    #expect(!first.isResumed)
    let second = Pair(server, client, resuming: first.ticket)
    second.carry()
    #expect(second.isResumed)
    client.disableTLS13()
    let third = open()
    #expect(!third.isResumed)
    let fourth = Pair(server, client, resuming: third.ticket)
    fourth.carry()
    #expect(fourth.isResumed)
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nHost: h\r\n\r\n", TLSFailure.plainHTTP),
    ("POST /v1 HTTP/1.1\r\nHost: h\r\n\r\n", .plainHTTP),
    ("\u{0}\u{1}nothing of that kind", .notTLS),
  ])
  func `input that is not TLS is recognized`(text: String, failure: TLSFailure) {
    var session = TLSSession.of(server)
    var answer: [UInt8] = []
    #expect(session.receive(Array(text.utf8)[...], answer: &answer).isEmpty)
    #expect(session.state == .failed(failure))
  }

  @Test func `a client that is refused knows that it is not at fault`() {
    var client = TLSSession.of(client, host: "localhost", resuming: nil)
    var flight: [UInt8] = []
    client.begin(output: &flight)
    #expect(client.receive(TLSSession.refusal[...], answer: &flight).isEmpty)
    #expect(client.state == .failed(.broken("tlsv1 alert internal error")))
  }

  @Test func `random bytes end a session and crash nothing`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      var session = TLSSession.of(server)
      var answer: [UInt8] = []
      // Similar to records, or else they would be refused immediately.
      var bytes: [UInt8] = [22, 3, 1, 0, 200]
      bytes += (0..<Int.random(in: 0...300, using: &random)).map { _ in .random(in: 0...255) }
      _ = session.receive(bytes[...], answer: &answer)
      #expect(session.state != .open)
    }
  }

  // MARK: Trust

  private func failure(
    _ name: String, trusting trust: TLSTrust? = nil, host: String = "localhost"
  ) throws -> TLSFailure? {
    // The pair is read as by a server, except for the dates.
    let server = try TLSContext(
      certificate: certificates["\(name).pem"], key: certificates["\(name).key"],
      acceptingAnyDate: true)
    let client = try TLSContext(
      trusting: trust ?? .authorities(file: certificates["ca.pem"]))
    let pair = Pair(server, client, host: host)
    pair.carry()
    if case .failed(let failure) = pair.client.state { return failure }
    #expect(pair.client.state == .open)
    return nil
  }

  @Test func `a certificate must be for the host, by name or address`() throws {
    #expect(try failure("server", host: "localhost") == nil)
    #expect(try failure("server", host: "127.0.0.1") == nil)
    #expect(try failure("server", host: "127.0.0.2") == .untrusted("IP address mismatch"))
    #expect(try failure("elsewhere") == .untrusted("hostname mismatch"))
    #expect(try failure("elsewhere", host: "elsewhere.example") == nil)
  }

  @Test func `it must be signed by a known authority, and be valid`() throws {
    guard case .untrusted? = try failure("server", trusting: .system) else {
      Issue.record("trusted by the system")
      return
    }
    #expect(try failure("expired") == .untrusted("certificate has expired"))
  }

  @Test func `a client that verifies nothing accepts all of these`() throws {
    #expect(try failure("elsewhere", trusting: .anyone) == nil)
    #expect(try failure("expired", trusting: .anyone) == nil)
  }
}
