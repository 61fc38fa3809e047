import Testing
import WebSocket

@testable import Gateway

@Suite struct `What an HTTP request gets` {
  /// RFC 9110 §9.3.2: a client that asked for a head alone takes content for the next response.
  @Test(arguments: ["/healthz", "/nowhere"])
  func `HEAD is answered like GET without the content`(path: String) throws {
    let get = try answer("GET", path)
    let head = try answer("HEAD", path)
    #expect(get.hasPrefix(head))
    #expect(head.hasSuffix("\r\n\r\n"))
    #expect(get.count > head.count)
  }

  private struct NoAnswer: Error {}

  private func answer(_ method: String, _ path: String) throws -> String {
    let text = Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    let router = RequestRouter(origins: [], requiresLoopbackHost: true)
    guard case .answer(let response) = router.route(request, isLocal: true, identify: { .unknown })
    else {
      throw NoAnswer()
    }
    return String(decoding: response.bytes, as: UTF8.self)
  }
}
