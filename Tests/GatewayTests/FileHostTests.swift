import Testing
import WebSocket

@testable import Gateway

@Suite struct `The host of files` {
  private func request(_ fields: String, host: String = "relay") throws -> HTTPRequest {
    let head = "GET /v1/files/f?by=ada&until=1&sig=x HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n"
    return try #require(try HTTPRequest.read(Array(head.utf8).span, headerLimitBytes: 0)?.request)
  }

  /// RFC 6265 §4.2 and Fetch Metadata; a page's own script adds `Authorization`, which never makes a document of the answer.
  @Test(arguments: [
    ("", false), ("Cookie: a=b\r\n", true), ("Sec-Fetch-Mode: no-cors\r\n", true),
    ("Authorization: Bearer x\r\nSec-Fetch-Mode: cors\r\n", false),
    ("Authorization: Bearer x\r\nCookie: a=b\r\n", false),
  ])
  func `browsers are told from programs by what they send`(fields: String, isBrowsers: Bool) throws
  {
    #expect(FileHost.isBrowsers(try request(fields)) == isBrowsers)
  }

  @Test(arguments: [
    ("https://files.example.org", "files.example.org", true),
    ("https://files.example.org", "FILES.example.org:8443", true),
    ("https://files.example.org:8443", "files.example.org", true),
    ("http://[::1]:8080", "[::1]", true), ("http://localhost:8080", "127.0.0.1:8080", false),
    ("https://files.example.org", "example.org", false),
    ("https://files.example.org", "files.example.org.evil.example", false),
  ])
  func `requests are to it by its name, at any port`(origin: String, host: String, isHost: Bool)
    throws
  {
    #expect(try FileHost(origin: origin).isHost(of: request("", host: host)) == isHost)
  }

  @Test func `addresses of files are its own, without the path of the relay`() {
    var router = RequestRouter(origins: [], requiresLoopbackHost: true)
    router.pathPrefix = "/chat"
    let link = FileLink(to: "f", for: "ada", until: 1) { _ in [0] }
    #expect(router.address(ofFile: "f", link) == "/chat/v1/files/f?\(link.query)")
    router.fileHost = FileHost(origin: "https://files.example.org")
    #expect(
      router.address(ofFile: "f", link, isThumbnail: true)
        == "https://files.example.org/v1/files/f/thumbnail?\(link.query)")
  }

  @Test func `the operator's socket is no host`() throws {
    var router = RequestRouter(origins: [], requiresLoopbackHost: true)
    router.fileHost = FileHost(origin: "http://localhost:1")
    let text = Array("GET /v1/sign-in HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    guard case .call = router.route(request, from: .operator, identify: { .unknown }) else {
      Issue.record("nothing is there")
      return
    }
    guard case .answer(let refusal) = router.route(request, identify: { .unknown }) else {
      Issue.record("it is answered")
      return
    }
    #expect(refusal.status == 404)
  }
}
