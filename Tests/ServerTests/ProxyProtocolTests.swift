import RelayConfiguration
import TLS
import TestSupport
import Testing

@testable import Server

/// A relay with `proxy_protocol`; the tests play the proxies, which connect from 127.0.0.2.
@Suite struct `Behind a proxy that speaks the PROXY protocol` {
  private typealias Header = `A header of the PROXY protocol`

  private static func line(_ client: String) -> [UInt8] {
    Array("PROXY TCP4 \(client) 192.0.2.1 50000 443\r\n".utf8)
  }

  private static func request(_ field: String) -> String {
    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
      + "Authorization: Bearer \(`The metrics`.token)\r\n\(field)\r\n\r\n"
  }

  private func withRelay(
    _ certificates: Certificates? = nil, configure: (inout Configuration) -> Void = { _ in },
    _ body: (Server) throws -> Void
  ) throws {
    try withServer(
      configure: {
        $0.proxyProtocol = true
        $0.trustedProxies = ["127.0.0.2", "203.0.113.99"]
        $0.metrics.token = `The metrics`.token
        if let certificates {
          $0.tls.certificate = certificates["server.pem"]
          $0.tls.key = certificates["server.key"]
        }
        configure(&$0)
      }, body)
  }

  private func proxy(
    _ server: Server, _ header: [UInt8], _ context: TLSContext? = nil
  ) throws -> HTTPClient {
    try HTTPClient(server, context, from: "127.0.0.2", after: header)
  }

  /// Requests the metrics on a connection that stays open.
  private func status(_ client: HTTPClient, _ field: String = "Accept: */*") throws -> String {
    try client.send(Self.request(field))
    return String(try client.receive { $0.contains("\r\n\r\n") }.prefix(12).suffix(3))
  }

  private func violations(
    of rule: String = "proxy_protocol", _ server: Server
  ) throws -> Int {
    let client = try proxy(server, Self.line("198.51.100.1"))
    try client.send(Self.request("Connection: close"))
    let metrics = try client.receive()
    let mark = "relay_violations_total{rule=\"\(rule)\"} "
    let start = try #require(metrics.firstRange(of: mark)?.upperBound, "\(metrics)")
    return Int(metrics[start...].prefix { $0.isNumber }) ?? -1
  }

  // MARK: - Whose connection it is

  @Test(arguments: Header.valid)
  func `every valid header is followed by a request`(header: [UInt8], client: String?) throws {
    try withRelay { server in
      let client = try proxy(server, header)
      #expect(try status(client) == "200")
    }
  }

  @Test func `a client has the limits of its own address`() throws {
    try withRelay(configure: { $0.limits.connectionsPerAddress = 1 }) { server in
      let first = try proxy(server, Self.line("203.0.113.7"))
      #expect(try status(first) == "200")
      let second = try proxy(server, Header.binary(Header.ipv4))
      #expect(try second.receive().contains("The limit of 1 connections per address is reached."))
      let other = try proxy(server, Self.line("203.0.113.8"))
      #expect(try status(other) == "200")
    }
  }

  @Test func `the fields of a request are those of the client, unless it is a trusted proxy`()
    throws
  {
    let field = "X-Forwarded-For: 198.51.100.9"
    try withRelay(configure: { $0.limits.connectionsPerAddress = 1 }) { server in
      let first = try proxy(server, Self.line("203.0.113.7"))
      #expect(try status(first, field) == "200")
      // A proxy before the proxy: it may have many connections, and its clients are counted.
      let second = try proxy(server, Self.line("203.0.113.99"))
      let third = try proxy(server, Self.line("203.0.113.99"))
      #expect(try status(second, field) == "200")
      #expect(try status(third, field) == "503")
    }
  }

  @Test(arguments: [Header.binary(command: 0x20, family: 0, []), Array("PROXY UNKNOWN\r\n".utf8)])
  func `a connection without a client is the proxy's own, and its fields are believed`(
    header: [UInt8]
  ) throws {
    try withRelay(configure: { $0.limits.connectionsPerAddress = 1 }) { server in
      let first = try proxy(server, header)
      let second = try proxy(server, header)
      let third = try proxy(server, header)
      #expect(try status(first, "X-Forwarded-For: 198.51.100.9") == "200")
      #expect(try status(second, "X-Forwarded-For: 198.51.100.8") == "200")
      #expect(try status(third, "X-Forwarded-For: 198.51.100.9") == "503")
    }
  }

  // MARK: - Pieces

  @Test(arguments: [Header.valid[0].header, Header.checksummed])
  func `a header is read in two pieces, wherever it is cut`(header: [UInt8]) throws {
    try withRelay { server in
      for cut in 1..<header.count {
        let client = try proxy(server, Array(header[..<cut]))
        // The relay has read the first piece by the time that it answers another connection.
        _ = try status(proxy(server, Self.line("198.51.100.1")))
        try client.send(raw: Array(header[cut...]))
        #expect(try status(client) == "200", "cut after \(cut) bytes")
      }
    }
  }

  @Test func `the handshake of TLS may be in one piece with the header`() throws {
    let certificates = try Certificates()
    let context = try TLSContext(trusting: .authorities(file: certificates["ca.pem"]))
    try withRelay(certificates) { server in
      for (header, _) in Header.valid {
        let client = try proxy(server, header, context)
        #expect(try status(client) == "200")
      }
    }
  }

  @Test func `a connection that ends within its header is closed`() throws {
    try withRelay { server in
      let client = try proxy(server, Array(Header.checksummed[..<20]))
      try client.send("", end: true)
      #expect(try client.receive() == "")
    }
  }

  // MARK: - What is refused

  @Test func `other addresses than those of trusted proxies are refused, and counted`() throws {
    try withRelay { server in
      for source in ["127.0.0.1", "127.0.0.3"] {
        let client = try HTTPClient(server, from: source, after: Self.line("203.0.113.7"))
        #expect(try client.receive().hasPrefix("HTTP/1.1 403 "))
      }
      #expect(try violations(server) == 2)
    }
  }

  @Test(arguments: [
    Array("GET / HTTP/1.1\r\n\r\n".utf8), Header.binary(command: 0x22, Header.ipv4),
    Array("PROXY TCP4 1 2 3 4\r\n".utf8),
    // Extensions of 64 KiB: by their length, before they arrive.
    Header.binary([], length: 65_535),
  ])
  func `a connection without a valid header is told so, and counted`(beginning: [UInt8]) throws {
    try withRelay { server in
      let answer = try proxy(server, beginning).receive()
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
      #expect(answer.contains("begin with a header of the PROXY protocol"))
      #expect(try violations(server) == 1)
    }
  }

  @Test func `with TLS a connection without a valid header is closed`() throws {
    try withRelay(Certificates()) { server in
      let client = try proxy(server, Array("GET / HTTP/1.1\r\n\r\n".utf8))
      #expect(try !client.receive().contains("HTTP"))
    }
  }

  @Test(arguments: Header.valid)
  func `a header after the header is no request`(header: [UInt8], client: String?) throws {
    try withRelay { server in
      let client = try proxy(server, header + header + Array("\r\n\r\n".utf8))
      #expect(try client.receive().hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test(arguments: Header.valid)
  func `without proxy_protocol a header is no request`(header: [UInt8], client: String?) throws {
    try withRelay(configure: { $0.proxyProtocol = false }) { server in
      let client = try proxy(server, header + Array("\r\n\r\n".utf8))
      #expect(try client.receive().hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test func `a thousand headers that do not go on end with the time for a handshake`() throws {
    try withRelay(configure: { $0.limits.handshakeTimeoutMilliseconds = 1500 }) {
      server in
      let slow = try (0..<1000).map { number in
        try proxy(server, Array(Header.checksummed[..<(number % Header.checksummed.count)]))
      }
      // The others are served meanwhile.
      #expect(try status(proxy(server, Self.line("203.0.113.7"))) == "200")
      for client in slow { #expect(try client.receive() == "") }
      #expect(try violations(of: "limits.handshake_timeout_ms", server) == 1000)
    }
  }
}
