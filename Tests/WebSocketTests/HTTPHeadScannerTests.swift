import Testing
import WebSocket

@Suite struct `The end of a head, in bytes that arrive in parts` {
  private static let line = "a:\r\n"

  /// Passes a head byte by byte. All earlier lines are replaced by zeros, which no head may contain, so
  /// a scanner that looked at them again would throw.
  private func scanByteByByte(
    _ text: String, _ limits: HTTPHeadScanner.Limits
  ) throws(HTTPViolation) -> Int? {
    var scanner = HTTPHeadScanner()
    let head = Array(text.utf8)
    var bytes: [UInt8] = []
    var lineStart = 0
    for byte in head {
      bytes.append(byte)
      if let length = try scanner.scan(bytes.span, limits: limits) { return length }
      // A CR is looked at again with its LF.
      let scanned = scanner.scannedBytes
      if byte == UInt8(ascii: "\n") { lineStart = scanned }
      for index in 0..<lineStart { bytes[index] = 0 }
    }
    return nil
  }

  @Test func `each line is looked at once, however long the head is`() throws {
    let head = "GET / HTTP/1.1\r\n" + String(repeating: Self.line, count: 1900) + "\r\n"
    #expect(try scanByteByByte(head, .init(bytes: 0)) == head.utf8.count)
  }

  @Test func `a line of the maximum length is scanned once, byte by byte`() throws {
    var scanner = HTTPHeadScanner()
    var bytes = Array("GET /".utf8)
    #expect(try scanner.scan(bytes.span, limits: .init(bytes: 8192)) == nil)
    while bytes.count < 8191 {
      // The earlier part of the unfinished line is not looked at either.
      bytes = [UInt8](repeating: 0, count: bytes.count) + [UInt8(ascii: "x")]
      #expect(try scanner.scan(bytes.span, limits: .init(bytes: 8192)) == nil)
      #expect(scanner.scannedBytes == bytes.count)
    }
    bytes.append(UInt8(ascii: "x"))
    #expect(throws: HTTPViolation.requestLineTooLong(limitBytes: 8192)) {
      try scanner.scan(bytes.span, limits: .init(bytes: 8192))
    }
  }

  @Test(arguments: [0, 1, 3, 100])
  func `a head has at most as many lines as its limit, which is told at the first one beyond`(
    limit: Int
  ) throws {
    let lines = String(repeating: Self.line, count: limit)
    let head = "GET / HTTP/1.1\r\n\(lines)"
    let limits = HTTPHeadScanner.Limits(bytes: 0, lines: limit)
    #expect(try scanByteByByte("\(head)\r\n", limits) == head.utf8.count + 2)
    let beyond = "\(head)\(Self.line)"
    if limit == 0 {
      #expect(try scanByteByByte("\(beyond)\r\n", limits) == beyond.utf8.count + 2)
    } else {
      #expect(throws: HTTPViolation.tooManyLines(limit: limit)) {
        try scanByteByByte(beyond, limits)
      }
    }
  }

  @Test func `a refusal whose body drips in is read once, too`() throws {
    var handshake = ClientHandshake(
      host: "h", target: "/", nonce: [UInt8](repeating: 7, count: 16))
    var bytes = Array("HTTP/1.1 403 Forbidden\r\nContent-Length: 300\r\n\r\n".utf8)
    let length = bytes.count
    #expect(try handshake.read(bytes.span, headerLimitBytes: 8192) == nil)
    for index in 0..<length { bytes[index] = 0 }
    for _ in 0..<299 {
      bytes.append(UInt8(ascii: "b"))
      #expect(try handshake.read(bytes.span, headerLimitBytes: 8192) == nil)
    }
    bytes.append(UInt8(ascii: "b"))
    #expect(
      throws: HandshakeFailure.refused(
        status: 403, body: String(repeating: "b", count: 300))
    ) {
      try handshake.read(bytes.span, headerLimitBytes: 8192)
    }
  }
}
