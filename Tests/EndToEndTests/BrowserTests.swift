import TestSupport
import Testing

extension `End to end` {
  /// Headless Chromium, with a page from another origin than the relay's. A browser sends the
  /// person's cookies and address wherever a page wants: so the relay asks where the page is from
  /// (RFC 6455 §10.2, cross-site WebSocket hijacking).
  @Suite struct `A page in Chromium` {
    @Test func `from an origin that is allowed has the conversation`() throws {
      let page = try Page()
      let relay = try RelayProcess(
        "\(`wschat, in lines`.echo)\nauth: { origins: [\"\(page.origin)\"] }")
      #expect(try page.result(from: relay) == "chatted with permessage-deflate, closed with 1000")
      #expect(try relay.refusedOrigins == 0)
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `from another origin is refused, also if a third one is allowed`() throws {
      for origins in [[], ["http://127.0.0.1:1"]] {
        let page = try Page()
        let relay = try RelayProcess(
          "\(`wschat, in lines`.echo)\nauth: { origins: \(origins) }")
        // All that a page learns of a handshake that failed is 1006.
        #expect(try page.result(from: relay) == "not let in, closed with 1006")
        #expect(try relay.refusedOrigins == 1)
        #expect(try relay.stop() == .exit(0))
      }
    }

    @Test func `a token in the first message admits the page, and a bad one closes with 4401`()
      throws
    {
      let secret = "0123456789abcdef0123456789abcdef"
      for (key, code) in [
        (secret, 1000), (secret.uppercased(), 4401),
      ] {
        let page = try Page()
        let relay = try RelayProcess(
          """
          auth: { mode: jwt, secret: \(secret), origins: ["\(page.origin)"] }
          \(`wschat, in lines`.echo)
          """)
        let token = try ChildProcess(
          [Programs.relay, "token", "--user", "ada"], environment: ["RELAY_AUTH_SECRET=\(key)"],
          input: "")
        #expect(try token.wait() == .exit(0))
        #expect(
          try page.result(from: relay, by: "#\(token.output.dropLast())")
            == "chatted with permessage-deflate, closed with \(code)")
      }
    }
  }

  @Suite struct `The Origin of a request` {
    @Test func `decides which pages are admitted, and a refusal names the reason`() throws {
      let relay = try RelayProcess("auth: { origins: [\"https://chat.example.org\"] }")
      let own = "http://127.0.0.1:\(relay.port)"
      for (origin, status) in [
        (nil, 101), (own, 101), ("https://chat.example.org", 101),
        ("http://chat.example.org", 403), ("https://chat.example.org:444", 403),
        ("https://chat.example.org.evil.example", 403), ("http://127.0.0.1:1", 403),
        ("http://localhost:\(relay.port)", 403), ("null", 403), ("", 403),
        ("\(own)\r\nOrigin: https://evil.example", 403),
      ] as [(String?, Int)] {
        let exchange = try HTTPExchange(
          relay,
          """
          GET /ws?user=ada HTTP/1.1\r
          Host: 127.0.0.1:\(relay.port)\r
          Upgrade: websocket\r
          Connection: Upgrade\r
          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
          Sec-WebSocket-Version: 13\r
          \(origin.map { "Origin: \($0)\r\n" } ?? "")\r\n
          """)
        guard status == 403 else {
          #expect(try exchange.firstLine().hasPrefix("HTTP/1.1 \(status) "), "\(origin ?? "none")")
          continue
        }
        let answer = try exchange.answer()
        #expect(answer.hasPrefix("HTTP/1.1 403 "), "\(origin ?? "none"): \(answer)")
        #expect(answer.contains("to auth.origins to allow it"), "\(answer)")
      }
    }

    @Test func `decides, with a token, which pages may read the metrics`() throws {
      let relay = try RelayProcess()
      let token = "Authorization: Bearer \(RelayProcess.metricsToken)\r\n"
      for (fields, status) in [
        (token, 200), ("", 401), ("\(token)Origin: https://evil.example\r\n", 403),
        ("\(token)Sec-Fetch-Site: cross-site\r\n", 403),
        ("\(token)Sec-Fetch-Site: same-origin\r\n", 200),
      ] {
        let request = "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)\r\n"
        let answer = try HTTPExchange(relay, request).answer()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request)\(answer)")
        #expect(answer.contains("\nrelay_accepted_total ") == (status == 200), "\(answer)")
      }
      let post = try HTTPExchange(relay, "POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      #expect(try post.answer().hasPrefix("HTTP/1.1 405 "))
    }
  }
}

extension RelayProcess {
  fileprivate var refusedOrigins: Int { get throws { try violations(of: "auth.origins") } }
}

/// A page that waits for the relay's URL.
final class Page {
  private let browser: ChildProcess
  let origin: String

  /// - Parameter certificate: a file; its key is trusted, whatever its signature.
  init(trusting certificate: String? = nil) throws {
    browser = try ChildProcess(
      ["/usr/bin/python3", Programs.peer("browser.py")] + (certificate.map { [$0] } ?? []))
    try browser.waitForOutput { $0.hasSuffix("\n") }
    origin = String(browser.output.dropLast())
  }

  /// The output of the page.
  /// - Parameter way: what is added to the URL to authenticate.
  func result(from relay: RelayProcess, by way: String = "?user=ada") throws -> String {
    browser.write("\(relay.url)\(way)\n")
    // Chromium takes its time to start.
    let outcome = try browser.wait(Deadline(seconds: 180))
    guard outcome == .exit(0) else { throw Unexpected("\(outcome): \(browser.errors)") }
    return browser.output.split(separator: "\n").dropFirst().joined(separator: "\n")
  }
}
