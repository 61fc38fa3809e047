import Testing
import WebSocket

@Suite struct `HTTP headers, RFC 9110 §5` {
  func headers(_ lines: String...) throws -> HTTPHeaders {
    let text = "GET / HTTP/1.1\r\nHost: a\r\n" + lines.map { "\($0)\r\n" }.joined() + "\r\n"
    let read = try HTTPRequest.read(Array(text.utf8).span, headerLimitBytes: 0)
    return try #require(read).request.headers
  }

  @Test func `names are compared ignoring case, and values keep theirs`() throws {
    let headers = try headers("X-Thing: One", "x-thing:two")
    #expect(headers["X-THING"] == ["One", "two"])
    #expect(headers["other"] == [])
    #expect(headers.fields.map(\.name) == ["Host", "X-Thing", "x-thing"])
  }

  @Test func `white space around a value is not part of it`() throws {
    let headers = try headers("A: \t b c \t", "D:", "E:  ")
    #expect(headers["a"] == ["b c"])
    #expect(headers["d"] == [""])
    #expect(headers["e"] == [""])
  }

  @Test func `a field that is read as single must have one line`() throws {
    let headers = try headers("A: 1", "B: 1", "B: 1")
    #expect(headers.only("a") == "1")
    #expect(headers.only("b") == nil)
    #expect(headers.only("c") == nil)
  }

  @Test func `a list may span several lines, and its empty elements do not count`() throws {
    let headers = try headers("A: one, Two,,", "A:\tthree\t,", "B: ,")
    #expect(headers.list("a") == ["one", "Two", "three"])
    #expect(headers.list("b") == [])
    #expect(headers.contains("TWO", in: "a"))
    #expect(!headers.contains("tw", in: "a"))
  }

  @Test func `valid names and values`() {
    #expect(HTTPHeaders.isName("Sec-WebSocket-Key"))
    for name in ["", "a b", "a:", "é", "a\r", "(a)"] { #expect(!HTTPHeaders.isName(name)) }
    #expect(HTTPHeaders.isValue("Bearer a.b.c\té"))
    for value in ["a\r\nB: c", "\n", "\0", "\u{7F}"] { #expect(!HTTPHeaders.isValue(value)) }
  }
}
