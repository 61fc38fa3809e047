import Relay
import Testing
import WebSocket

@testable import Gateway

@Suite struct `Files of the web page` {
  private static let files = WebFiles(
    [
      .init(name: "index.html", bytes: Array("<script src=/web/{version}/app.js>".utf8)),
      .init(name: "app.js", bytes: Array(String(repeating: "app();", count: 100).utf8)),
      .init(name: "service-worker.js", bytes: Array("const files = \"{files}\"".utf8)),
      .init(name: "relay-client/index.js", bytes: Array("{version}".utf8)),
    ], gzip: { $0.count > 100 ? Array("gzip of \($0.count)".utf8) : nil })

  private var asset: String { "/web/\(Self.files.version)/app.js" }

  private func request(_ path: String, _ fields: String = "", method: String = "GET") throws
    -> HTTPRequest
  {
    let text = Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n".utf8)
    return try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0)).0
  }

  private func response(_ path: String, _ fields: String = "") throws -> HTTPResponse {
    try #require(Self.files.response(to: request(path, fields)))
  }

  private func text(_ response: HTTPResponse) -> String {
    String(decoding: response.bytes, as: UTF8.self)
  }

  @Test func `the page is revalidated, and names the version of the others`() throws {
    let page = try text(response("/?user=ada"))
    #expect(page.contains("\r\nCache-Control: no-cache\r\n"))
    #expect(page.hasSuffix("\r\n\r\n<script src=/web/\(Self.files.version)/app.js>"))
  }

  @Test func `a file is kept forever at an address with the hash of all`() throws {
    let file = try text(response(asset))
    #expect(file.contains("\r\nCache-Control: public, max-age=31536000, immutable\r\n"))
    #expect(file.contains("\r\nContent-Type: text/javascript; charset=utf-8\r\n"))
    let other = WebFiles(
      [.init(name: "app.js", bytes: Array("other();".utf8))], gzip: { _ in nil })
    #expect(other.version != Self.files.version)
    #expect(try other.response(to: request(asset)) == nil)
  }

  @Test func `only files with an address of their own are templates`() throws {
    #expect(
      try text(response("/service-worker.js"))
        .hasSuffix("\r\n\r\nconst files = [\"index.html\",\"app.js\",\"relay-client/index.js\"]\n"))
    #expect(
      try text(response("/web/\(Self.files.version)/relay-client/index.js"))
        .hasSuffix("\r\n\r\n{version}\n"))
  }

  @Test func `scripts and styles are served without comments`() {
    let text = """
      // A module.

      /**
       * @param {string} a
       */
      const url = "https://x"; // after a literal
      const text = "a // b"; // kept: the first one may be text
      /** @type {any} */
      let x = /** @type {any} */ (y) + /** @type {string} */ z;
        /* one line */
      a { b: c } /* kept */
        /** @returns {void} */ call();
      """
    #expect(
      String(decoding: WebFiles.withoutComments(Array(text.utf8)), as: UTF8.self) == """
        const url = "https://x";
        const text = "a // b"; // kept: the first one may be text
        let x = (y) + z;
        a { b: c } /* kept */
        call();

        """)
  }

  @Test(arguments: [
    ("gzip", true), ("deflate, gzip;q=0.5", true), ("GZip", true), ("*", true), ("br", false),
    ("gzip;q=0", false), ("gzip; q=0.000", false), ("gzip; q=0.001", true), ("xgzip", false),
  ])
  func `a file is compressed for a client that accepts it`(accepted: String, isCompressed: Bool)
    throws
  {
    let file = try text(response(asset, "Accept-Encoding: \(accepted)\r\n"))
    #expect(file.contains("\r\nContent-Encoding: gzip\r\n") == isCompressed)
    #expect(file.hasSuffix(isCompressed ? "gzip of 601" : "app();\n"))
    #expect(file.contains("\r\nVary: Accept-Encoding\r\n"))
  }

  @Test func `a client that has the current file gets 304`() throws {
    let page = try response("/")
    let tag = try #require(page.headers.first { $0.name == "ETag" }).value
    for known in [tag, "\"x\", \(tag)", String(tag.dropFirst(2)), "*"] {
      let answer = try response("/", "If-None-Match: \(known)\r\n")
      #expect(answer.status == 304, "\(known)")
      #expect(answer.headers.contains { $0.name == "ETag" && $0.value == tag })
      #expect(answer.body.isEmpty)
    }
    #expect(try response("/", "If-None-Match: \"x\"\r\n").status == 200)
  }

  @Test func `a page allows no script but the relay's, and no frame`() throws {
    for path in ["/", "/web/\(Self.files.version)/index.html"] {
      let fields = try response(path).headers
      let policy = try #require(fields.first { $0.name == "Content-Security-Policy" }).value
      let parts = policy.split(separator: ";").map { $0.drop { $0 == " " } }
      for part in [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
        "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'",
      ] {
        #expect(parts.contains { $0 == part }, "\(part)")
      }
      #expect(!policy.contains("unsafe") && !policy.contains("data:") && !policy.contains("http"))
      #expect(fields.contains { $0.name == "X-Content-Type-Options" && $0.value == "nosniff" })
      #expect(fields.contains { $0.name == "Referrer-Policy" && $0.value == "no-referrer" })
    }
  }

  @Test func `a file is read only`() throws {
    var router = RequestRouter(origins: [], requiresLoopbackHost: true)
    router.files = Self.files
    let route = router.route(try request("/", method: "POST"), from: .client) { .unknown }
    guard case .answer(let refusal) = route else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.status == 405)
  }

  // MARK: - Over a connection

  private func loop() -> ArrayLoop { ArrayLoop(files: Self.files) }

  @Test func `a connection serves several files, and HEAD is answered without content`() {
    let loop = loop()
    let stream = loop.connect()
    let head = loop.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8, on: stream)
    #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(head.hasSuffix("\r\n\r\n"))
    #expect(!head.contains("Connection: close"))
    let file = loop.send("GET \(asset) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8, on: stream)
    #expect(file.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(loop.world.streams[stream]?.isFinished == false)
  }

  @Test func `an address that requests too many files is refused for a while`() {
    let loop = loop()
    let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8
    for _ in 0..<WebFiles.requestsPerSecond {
      let stream = loop.connect()
      #expect(loop.send(get, on: stream).hasPrefix("HTTP/1.1 200 "))
    }
    let refused = loop.send(get, on: loop.connect())
    #expect(refused.hasPrefix("HTTP/1.1 429 "))
    #expect(refused.contains("\r\nRetry-After: "))
    loop.pass(milliseconds: 1000)
    #expect(loop.send(get, on: loop.connect()).hasPrefix("HTTP/1.1 200 "))
  }
}
