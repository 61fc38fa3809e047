import Testing
import WebSocket

@Suite struct `HTTP response, RFC 9112` {
  @Test func `a page has its length and ends the connection`() {
    var response = HTTPResponse(status: 200, text: "öl\n")
    response.add("Cache-Control", "no-store")
    let expected = """
      HTTP/1.1 200 OK\r
      Content-Type: text/plain; charset=utf-8\r
      Cache-Control: no-store\r
      Content-Length: 4\r
      Connection: close\r
      \r
      öl

      """
    #expect(String(decoding: response.bytes, as: UTF8.self) == expected)
  }

  @Test func `an answer to HEAD is the head of the page`() {
    let page = HTTPResponse(status: 200, text: "ok\n")
    var head = page
    head.answersHEAD = true
    #expect(head.bytes == page.bytes.dropLast(3))
  }

  @Test func `a switch of protocols has no content and stays open`() {
    var response = HTTPResponse(status: 101)
    response.add("Upgrade", "websocket")
    #expect(
      String(decoding: response.bytes, as: UTF8.self)
        == "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
  }

  @Test(arguments: [204, 304])
  func `a status without content sends none`(status: Int) {
    let text = String(decoding: HTTPResponse(status: status).bytes, as: UTF8.self)
    #expect(!text.contains("Content-Length"))
    #expect(text.hasSuffix("Connection: close\r\n\r\n"))
  }
}
