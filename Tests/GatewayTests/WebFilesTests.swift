import Relay
import Testing
import WebSocket

@testable import Gateway

@Suite struct `Files of the web page` {
  private static let files = WebFiles([
    file("/", "text/html; charset=utf-8", isImmutable: false),
    file("/web/1/index.html", "text/html; charset=utf-8"),
    file("/web/1/app.js", "text/javascript; charset=utf-8", gzip: Array("gzip".utf8)),
  ])
  private let asset = "/web/1/app.js"

  private static func file(
    _ path: String, _ contentType: String, isImmutable: Bool = true, gzip: [UInt8]? = nil
  ) -> WebFile {
    WebFile(
      path: path, contentType: contentType, tag: "a1", isImmutable: isImmutable,
      plain: Array("content".utf8), gzip: gzip)
  }

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

  @Test func `the page is revalidated`() throws {
    let page = try text(response("/?user=ada"))
    #expect(page.contains("\r\nCache-Control: no-cache\r\n"))
    #expect(page.hasSuffix("\r\n\r\ncontent"))
  }

  @Test func `a file at an address with a hash is kept forever`() throws {
    let file = try text(response(asset))
    #expect(file.contains("\r\nCache-Control: public, max-age=31536000, immutable\r\n"))
    #expect(file.contains("\r\nContent-Type: text/javascript; charset=utf-8\r\n"))
    #expect(try Self.files.response(to: request("/web/2/app.js")) == nil)
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
    #expect(file.hasSuffix(isCompressed ? "\r\n\r\ngzip" : "\r\n\r\ncontent"))
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
    for path in ["/", "/web/1/index.html"] {
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

  @Test func `a page gets pictures and sounds of its host of files, and nothing else`() throws {
    let files = WebFiles(
      [Self.file("/", "text/html; charset=utf-8")], fileOrigin: "https://files.example.org")
    let fields = try #require(files.response(to: request("/"))).headers
    let policy = try #require(fields.first { $0.name == "Content-Security-Policy" }).value
    let naming = policy.split(separator: ";").filter { $0.contains("files.example.org") }
    #expect(
      naming.map { $0.split(separator: " ")[0] } == ["img-src", "media-src", "connect-src"])
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
