import Relay
import Testing
import WebSocket
import Wire

@testable import Gateway

@Suite struct `Answers to HTTP requests` {
  /// RFC 9110 §9.3.2: a client that asked for a head alone takes content for the next response.
  @Test(arguments: ["/nowhere", "/metrics"])
  func `HEAD is answered like GET without the content`(path: String) throws {
    let get = try answer("GET", path)
    let head = try answer("HEAD", path)
    #expect(get.hasPrefix(head))
    #expect(head.hasSuffix("\r\n\r\n"))
    #expect(get.count > head.count)
  }

  @Test func `a taken id is a conflict that names the first entry`() {
    var error = WireError(.idConflict, "Taken.", re: .send, room: "builds", id: "build-4711")
    error.seq = 7
    let text = String(decoding: HTTPProblem(error).response.bytes, as: UTF8.self)
    #expect(text.hasPrefix("HTTP/1.1 409 Conflict\r\n"))
    #expect(text.contains("\r\nContent-Type: application/problem+json\r\n"))
    #expect(
      text.hasSuffix(
        #""code":"id_conflict","room":"builds","id":"build-4711","seq":7}"#))
  }

  @Test(arguments: [
    ("after=9&epoch=b7Qm", #""after":9,"epoch":"b7Qm""#),
    ("epoch=1%3A2", #""epoch":"1:2""#),
    (
      "after=9&lineage=b7Qm:5,Zl-_:0",
      #""after":9,"lineage":[{"epoch":"b7Qm","after":5},{"epoch":"Zl-_","after":0}]"#
    ),
    ("lineage=a:b:3", #""lineage":[{"epoch":"a:b","after":3}]"#),
    // The decoder of the message names the field.
    ("lineage=", #""lineage":"""#), ("lineage=b7Qm", #""lineage":"b7Qm""#),
    ("lineage=b7Qm:5,", #""lineage":"b7Qm:5,""#), ("lineage=a:-1", #""lineage":"a:-1""#),
    ("lineage=a:9223372036854775808", #""lineage":"a:9223372036854775808""#),
  ])
  func `history is requested with an epoch or a lineage`(query: String, members: String) throws {
    let text = Array(
      "GET /v1/rooms/general/messages?\(query) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    let router = RequestRouter(origins: [], requiresLoopbackHost: true)
    let route = router.route(request) { .known(Identity(user: "ada")) }
    guard case .call(let call) = route, case .relay(.history(let json)) = call.target else {
      throw NoAnswer()
    }
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"type":"history","room":"general",\#(members)}"#)
  }

  @Test(arguments: [
    ("/chat/v1/sign-in", nil), ("/chat/healthz", nil), ("/healthz", nil), ("/readyz", nil),
    ("/chat", "308"), ("/chat?user=ada", "308"),
    ("/v1/sign-in", "404"), ("/", "404"), ("/ws", "404"), ("/chatter/v1/sign-in", "404"),
    ("/chat/chat/v1/sign-in", "404"), ("//chat/v1/sign-in", "404"), ("/Chat/v1/sign-in", "404"),
  ])
  func `below a path are those of the same requests without it`(path: String, status: String?)
    throws
  {
    let answer = try? answer("GET", path, below: "/chat")
    #expect(answer?.prefix(12).suffix(3) == status.map { $0[...] })
  }

  @Test func `the path without a slash leads to the page`() throws {
    #expect(
      try answer("GET", "/chat?user=ada&to=bo", below: "/chat").contains(
        "\r\nLocation: /chat/?user=ada&to=bo\r\n"))
  }

  @Test func `the operator's socket is below no path`() throws {
    #expect(throws: NoAnswer.self) {
      try answer("GET", "/v1/sign-in", below: "/chat", from: .operator)
    }
  }

  private struct NoAnswer: Error {}

  private func answer(
    _ method: String, _ path: String, below prefix: String = "",
    from peer: ServerConnection.Peer = .client
  ) throws -> String {
    let text = Array("\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    var router = RequestRouter(origins: [], requiresLoopbackHost: true)
    router.pathPrefix = prefix
    guard case .answer(let response) = router.route(request, from: peer, identify: { .unknown })
    else {
      throw NoAnswer()
    }
    return String(decoding: response.bytes, as: UTF8.self)
  }
}
