import Mixing
import Testing
import WebSocket

func request(
  _ text: String, headerLimitBytes: Int = 0
) throws(HTTPViolation) -> (request: HTTPRequest, length: Int)? {
  try HTTPRequest.read(Array(text.utf8).span, headerLimitBytes: headerLimitBytes)
}

@Suite struct `HTTP request, RFC 9112` {
  let page = "GET /a/b?c=d HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\n\r\n"

  @Test func `its parts, and where it ends`() throws {
    let (read, length) = try #require(try request(page + "\u{1}rest"))
    #expect(read.method == "GET")
    #expect(read.target == "/a/b?c=d")
    #expect(read.path == "/a/b")
    #expect(read.host == "example.com:8080")
    #expect(read.headers["accept"] == ["*/*"])
    #expect(length == page.utf8.count)
  }

  @Test func `nothing is read until the blank line has arrived`() throws {
    for count in 0..<page.utf8.count {
      #expect(
        try request(String(decoding: page.utf8.prefix(count), as: UTF8.self)) == nil, "\(count)")
    }
  }

  static let broken: [(String, HTTPViolation)] = [
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET /\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostInvalid),
    ("GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", .hostInvalid),
    ("GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n", .hostInvalid),
    ("GET http://a/ HTTP/1.1\r\n\r\n", .hostInvalid),
    ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET /é HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET /#f HTTP/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET / http/1.1\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("GET / HTTP/11\r\nHost: a\r\n\r\n", .requestLineMalformed),
    ("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .headerMalformed),
    ("\r\n\r\n", .requestLineMalformed),
    ("GET / HTTP/1.0\r\nHost: a\r\n\r\n", .versionUnsupported),
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", .versionUnsupported),
    ("GET / HTTP/1.1\r\n\r\n", .hostInvalid),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", .hostInvalid),
    ("GET / HTTP/1.1\r\nHost:\r\n\r\n", .hostInvalid),
    ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .hostInvalid),
    ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .hostInvalid),
    ("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .hostInvalid),
    ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", .headerMalformed),
    ("GET / HTTP/1.1\r\nHost: a\r\nB\r\n\r\n", .headerMalformed),
    ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", .headerMalformed),
    ("GET / HTTP/1.1\r\nHost: a\r\nB(c): d\r\n\r\n", .headerMalformed),
    ("GET / HTTP/1.1\r\nHost: a\r\nÉ: d\r\n\r\n", .headerMalformed),
    ("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", .headerFolded),
    ("GET / HTTP/1.1\r\n\tHost: a\r\n\r\n", .headerFolded),
    ("GET / HTTP/1.1\nHost: a\n\n", .controlCharacter(10)),
    ("GET / HTTP/1.1\r\nHost: a\r\nB: c\rD: e\r\n\r\n", .controlCharacter(13)),
    ("GET / HTTP/1.1\r\nHost: a\r\nB: c\r\r\n\r\n", .controlCharacter(13)),
    ("GET / HTTP/1.1\r\nHost: a\0\r\n\r\n", .controlCharacter(0)),
    ("GET / HTTP/1.1\r\nHost: a\r\nB: \u{7F}\r\n\r\n", .controlCharacter(127)),
    // A TLS client on the port without TLS.
    ("\u{16}\u{3}\u{1}", .controlCharacter(0x16)),
    ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", .bodyUnexpected),
    ("HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 01\r\n\r\n", .bodyUnexpected),
    ("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", .bodyUnexpected),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", .contentLengthInvalid),
    ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n", .contentLengthInvalid),
    ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", .contentLengthInvalid),
    ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0, 0\r\n\r\n", .contentLengthInvalid),
    (
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
      .contentLengthInvalid
    ),
  ]

  @Test(arguments: broken)
  func `a request that parsers may read differently is refused`(
    text: String, violation: HTTPViolation
  ) {
    #expect(throws: violation) { try request(text) }
  }

  /// The first result other than `nil` for a request that grows by one byte at a time.
  func bytewise(_ text: String, headerLimitBytes: Int) -> Result<HTTPRequest, HTTPViolation>? {
    let bytes = Array(text.utf8)
    do throws(HTTPViolation) {
      for count in 0...bytes.count {
        let read = try HTTPRequest.read(
          bytes.span.extracting(0..<count), headerLimitBytes: headerLimitBytes)
        if let read { return .success(read.request) }
      }
      return nil
    } catch {
      return .failure(error)
    }
  }

  @Test(arguments: broken, [0, 20, 40])
  func `and the result is the same however the request is cut`(
    broken: (text: String, violation: HTTPViolation), limit: Int
  ) {
    let whole: HTTPViolation? =
      #expect(throws: HTTPViolation.self) { try request(broken.text, headerLimitBytes: limit) }
    guard let whole else { return }
    #expect(bytewise(broken.text, headerLimitBytes: limit) == .failure(whole))
  }

  @Test(arguments: [
    ("http://Example.com/ws?a=b", "/ws?a=b"), ("HTTPS://example.com/", "/"),
    ("http://example.com", "/"), ("http://example.com?a=/b", "/?a=/b"),
  ])
  func `the absolute form is cut down to the origin form`(sent: String, target: String) throws {
    let read = try #require(try request("GET \(sent) HTTP/1.1\r\nHost: example.com\r\n\r\n"))
    #expect(read.request.target == target)
    #expect(read.request.host == "example.com")
  }

  @Test(arguments: [
    ("", "/chat/ws?a=/b"), ("/chat", "/ws?a=/b"), ("/chat/ws", nil), ("/cha", nil), ("/ws", nil),
  ])
  func `below a path a request has the rest of its target`(prefix: String, target: String?) throws {
    let read = try #require(try request("GET /chat/ws?a=/b HTTP/1.1\r\nHost: example.com\r\n\r\n"))
    #expect(read.request.below(prefix)?.target == target)
  }

  @Test func `an empty body, or one of another method than GET, is no violation`() throws {
    #expect(try request("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n") != nil)
    #expect(try request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n") != nil)
    #expect(try request("GET / HTTP/1.2\r\nHost: [::1]:80\r\n\r\n") != nil)
  }

  @Test func `a header as long as the limit passes, one byte more does not`() throws {
    let length = page.utf8.count
    #expect(try request(page, headerLimitBytes: length) != nil)
    #expect(throws: HTTPViolation.headerTooLong(limitBytes: length - 1)) {
      try request(page, headerLimitBytes: length - 1)
    }
    #expect(throws: HTTPViolation.headerTooLong(limitBytes: 30)) {
      try request(page, headerLimitBytes: 30)
    }
    #expect(throws: HTTPViolation.requestLineTooLong(limitBytes: 10)) {
      try request(page, headerLimitBytes: 10)
    }
    // Data after the header does not count.
    #expect(try request(page + page, headerLimitBytes: length) != nil)
  }

  @Test func `violations have a status, and the response has the reason`() throws {
    let expected: [(HTTPViolation, Int)] = [
      (.controlCharacter(0), 400), (.requestLineMalformed, 400), (.statusLineMalformed, 400),
      (.versionUnsupported, 505), (.headerMalformed, 400), (.headerFolded, 400),
      (.hostInvalid, 400), (.contentLengthInvalid, 400), (.bodyUnexpected, 400),
      (.requestLineTooLong(limitBytes: 9), 414), (.headerTooLong(limitBytes: 9), 431),
    ]
    for (violation, status) in expected {
      #expect(violation.status == status)
      #expect(violation.response.status == status)
      #expect(violation.response.body == Array("\(violation)\n".utf8))
    }
    #expect(Set(expected.map(\.0.description)).count == expected.count)
  }

  @Test(arguments: [
    ("/", nil), ("/?", nil), ("/?user", ""), ("/?user=", ""), ("/?user=ada", "ada"),
    ("/?a=b&user=ada&user=bob", "ada"), ("/?user=a%20b%2Bc+d", "a b+c d"),
    ("/?us%65r=%C3%A9", "é"), ("/?user=%C3", "\u{FFFD}"), ("/?user=%4", "%4"),
    ("/?user=%zz%2b", "%zz+"),
    ("/?us+er=1", nil), ("/?user=%", "%"),
    ("/?user=a=b?c", "a=b?c"), ("/?%zz=1&user=x", "x"), ("/user=ada", nil), ("/?xuser=1", nil),
    ("/?user=%00", "\0"),
  ])
  func `a query item is decoded as a form, a plus as a space`(target: String, value: String?)
    throws
  {
    let read = try #require(try request("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n"))
    #expect(read.request.query("user") == value)
  }

  @Test func `random bytes never trap`() {
    var random = SplitMix64(seed: 4)
    var accepted = 0
    for _ in 0..<3000 {
      var bytes = Array(page.utf8)
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      do throws(HTTPViolation) {
        let read = try HTTPRequest.read(bytes.span, headerLimitBytes: 80)
        if let read {
          accepted += 1
          _ = read.request.query("c")
          _ = ServerHandshake.answer(read.request, subprotocols: ["x"])
        }
      } catch {
        #expect([400, 414, 431, 505].contains(error.status))
      }
    }
    #expect(accepted > 1000)
  }
}
