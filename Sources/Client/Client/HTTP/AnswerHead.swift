/// The head of an answer over HTTP (RFC 9112 §4).
package struct AnswerHead: Equatable, Sendable {
  package static let limitBytes = 16 << 10

  package var status: Int
  /// By names in lower case, without white space around the values.
  package var fields: [String: String]

  /// A field in lower case and without spaces, for comparisons.
  package func folded(_ name: String) -> String? {
    fields[name].map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
  }

  /// A field that is a number of at most 18 digits, of bytes or other things.
  package func number(_ name: String) -> Int64? {
    guard let text = fields[name], 1...18 ~= text.utf8.count,
      text.utf8.allSatisfy({ 0x30...0x39 ~= $0 })
    else { return nil }
    return Int64(text)
  }

  /// Takes the head off the front of `bytes`; `nil` until all of it has arrived.
  package static func take(
    from bytes: inout [UInt8]
  ) throws(RelayRequest.Failure) -> AnswerHead? {
    let end: [UInt8] = Array("\r\n\r\n".utf8)
    guard let bodyStart = bytes.prefix(limitBytes).firstRange(of: end)?.upperBound else {
      if bytes.count >= limitBytes { throw .notHTTP }
      return nil
    }
    let text = String(decoding: bytes[..<(bodyStart - end.count)], as: UTF8.self)
    bytes.removeFirst(bodyStart)
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let first = lines.first?.split(separator: " "), first.count >= 2,
      first[0].hasPrefix("HTTP/1."), let status = Int(first[1]), 100...599 ~= status
    else { throw .notHTTP }
    var head = AnswerHead(status: status, fields: [:])
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { throw .notHTTP }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      let end = value.lastIndex { $0 != " " && $0 != "\t" }
      head.fields[line[..<colon].lowercased()] = end.map { String(value[...$0]) } ?? ""
    }
    return head
  }
}
