import Testing
import WebSocket
import Wire

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

  @Test func `a taken id is a conflict that names the first entry`() {
    var error = WireError(.idConflict, "Taken.", re: "send", room: "builds", id: "build-4711")
    error.seq = 7
    let text = String(decoding: HTTPProblem(error).response.bytes, as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 409 Conflict\r\n"))
    #expect(text.contains("\r\nContent-Type: application/problem+json\r\n"))
    #expect(
      text.hasSuffix(
        #""code":"id_conflict","room":"builds","id":"build-4711","seq":7}"#))
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
