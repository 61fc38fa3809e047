import Testing

@testable import Client

@Suite struct `The answer to a request of wschat` {
  private func answer(
    _ body: String, _ headers: String = "Transfer-Encoding: chunked\r\n", limitBytes: Int = 16
  ) -> String {
    let bytes = Array("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\(headers)\r\n\(body)".utf8)
    do {
      let answer = try RelayRequest.answer(in: bytes, limitBytes: limitBytes)
      return String(decoding: answer.body, as: UTF8.self)
    } catch {
      return "\(error)"
    }
  }

  private static let notHTTP = "its answer cannot be understood"
  private static let tooLong = "its answer has more than 16 bytes"

  @Test(arguments: [
    ("0\r\n\r\n", ""), ("3\r\nabc\r\n0\r\n\r\n", "abc"),
    ("A;x=\"y\"\r\n0123456789\r\n6 \r\nabcdef\r\n00;z\r\nX: y\r\n\r\n", "0123456789abcdef"),
    ("2\r\n\r\n\r\n0\r\n\r\n", "\r\n"),
  ])
  func `may come in chunks`(body: String, text: String) {
    #expect(answer(body) == text)
    // Cut off anywhere, or continued, it is not complete.
    for count in 0..<body.utf8.count {
      #expect(answer(String(decoding: body.utf8.prefix(count), as: UTF8.self)) == Self.notHTTP)
    }
    #expect(answer(body + "x") == Self.notHTTP)
  }

  @Test(arguments: [
    "x\r\na\r\n0\r\n\r\n", "-1\r\na\r\n0\r\n\r\n", "+1\r\na\r\n0\r\n\r\n", "\r\na\r\n0\r\n\r\n",
    "1\na\n0\n\n", "1\r\nab\r\n0\r\n\r\n", "0x1\r\na\r\n0\r\n\r\n",
  ])
  func `is refused if its chunks are malformed`(body: String) {
    #expect(answer(body) == Self.notHTTP)
  }

  @Test func `has at most as many bytes as are wanted, however they are divided`() {
    #expect(answer("11\r\n") == Self.tooLong)
    #expect(answer("8\r\n01234567\r\n9\r\n") == Self.tooLong)
    #expect(answer("ffffffffffffffffffff\r\n") == Self.tooLong)
    #expect(answer("10\r\n0123456789abcdef\r\n0\r\n\r\n") == "0123456789abcdef")
  }

  @Test func `is refused if it is not clear where it ends`() {
    for headers in [
      "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n", "",
    ] {
      #expect(answer("3\r\nabc\r\n0\r\n\r\n", headers) == Self.notHTTP)
    }
  }
}
