/// The head of an HTTP/1.1 request (RFC 9112), as far as the opening handshake and simple resources
/// need it.
public struct HTTPRequest: Equatable, Sendable {
  /// `GET`, for example; case-sensitive (RFC 9110 §9.1).
  public let method: String
  /// The path and the query, still percent-encoded: printable ASCII that begins with a slash.
  public private(set) var target: String
  /// The header fields.
  public let headers: HTTPHeaders
  /// The value of `Host`: exactly one, and not empty.
  public let host: String

  /// The target without its query, still percent-encoded.
  public var path: Substring { Substring(target.utf8.prefix { $0 != UInt8(ascii: "?") }) }

  /// Returns the request as a site below a path gets it, without that path; `nil` for a path outside.
  /// - Parameter prefix: begins with a slash and does not end with one, or is empty.
  public func below(_ prefix: String) -> HTTPRequest? {
    guard !prefix.isEmpty else { return self }
    guard path.hasPrefix("\(prefix)/") else { return nil }
    var request = self
    request.target.removeFirst(prefix.count)
    return request
  }

  /// The percent-decoded segments of the path: `v1`, `rooms` and `a:b` for `/v1/rooms/a%3Ab`; `nil`
  /// if one of them is not UTF-8.
  public var pathSegments: [String]? {
    var segments: [String] = []
    for segment in path.utf8.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      guard let decoded = Self.percentDecoded(segment) else { return nil }
      segments.append(decoded)
    }
    return segments
  }

  /// The delimitation of the content that follows the head (RFC 9112 §6.3).
  public enum Content: Equatable, Sendable {
    /// The request does not declare any content.
    case none
    /// The length in bytes; `nil` if it exceeds an `Int`.
    case length(Int?)
    /// By the named transfer coding.
    case coded(String)
    /// By both a length and a transfer coding; a proxy may have used the other one.
    case ambiguous
  }

  /// The delimitation of the content that follows the head.
  public var content: Content {
    let codings = headers.list("Transfer-Encoding")
    let length = headers.only("Content-Length")
    if !headers["Transfer-Encoding"].isEmpty {
      return length == nil ? .coded(codings.joined(separator: ", ")) : .ambiguous
    }
    return length.map { .length(Int($0)) } ?? .none
  }

  /// Whether the client will send no further request on this connection (RFC 9112 §9.6).
  public var closes: Bool { headers.contains("close", in: "Connection") }

  /// Reads the request at the beginning of `bytes`; returns `nil` until the blank line has arrived.
  ///
  /// A target in absolute form, which is meant for proxies, is reduced to the origin form; it must
  /// agree with `Host`.
  /// - Parameters:
  ///   - scanner: has looked at the first of these bytes, or at none of them.
  /// - Returns: the request, and the length of its head in bytes: the following bytes belong to the
  ///   content, or to the protocol that the connection switches to.
  /// - Throws: the violation, which has a status and a response.
  public static func read(
    _ bytes: Span<UInt8>, limits: HTTPHeadScanner.Limits, _ scanner: inout HTTPHeadScanner
  ) throws(HTTPViolation) -> (request: HTTPRequest, length: Int)? {
    guard let head = try HTTPHead.read(bytes, limits: limits, &scanner) else { return nil }
    return (try HTTPRequest(head), head.length)
  }

  /// As above, without an earlier part.
  public static func read(_ bytes: Span<UInt8>, headerLimitBytes: Int)
    throws(HTTPViolation) -> (request: HTTPRequest, length: Int)?
  {
    var scanner = HTTPHeadScanner()
    return try read(bytes, limits: .init(bytes: headerLimitBytes), &scanner)
  }

  private init(_ head: HTTPHead) throws(HTTPViolation) {
    // RFC 9112 §3: exactly one space between the three parts.
    let parts = head.firstLine.utf8
      .split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map(Substring.init)
    guard parts.count == 3, HTTPHeaders.isName(String(parts[0])),
      let (target, authority) = Self.originForm(parts[1]), let version = HTTPVersion(parts[2])
    else { throw .requestLineMalformed }
    guard version.isSupported else { throw .versionUnsupported }
    method = String(parts[0])
    self.target = target
    headers = head.headers

    guard let host = headers.only("Host"), Self.isHost(host),
      authority == nil || authority?.lowercased() == host.lowercased()
    else { throw .hostInvalid }
    self.host = host
    try checkBody()
  }

  /// Checks that the length of the body is unambiguous (RFC 9112 §6.3).
  private func checkBody() throws(HTTPViolation) {
    var hasBody = !headers["Transfer-Encoding"].isEmpty
    if !headers["Content-Length"].isEmpty {
      guard let length = headers.only("Content-Length"), !length.isEmpty,
        length.utf8.allSatisfy({ UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9") })
      else { throw .contentLengthInvalid }
      if length.utf8.contains(where: { $0 != UInt8(ascii: "0") }) { hasBody = true }
    }
    if hasBody, method == "GET" || method == "HEAD" { throw .bodyUnexpected }
  }

  /// Returns the origin form of a target (RFC 9112 §3.2.1), and the authority if it was in absolute
  /// form (§3.2.2); `nil` for any other form. A fragment is never sent.
  private static func originForm(_ target: Substring) -> (target: String, authority: Substring?)? {
    guard target.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }) else {
      return nil
    }
    if target.hasPrefix("/") { return (String(target), nil) }
    for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
      let rest = target.dropFirst(scheme.utf8.count)
      let authority = rest.prefix { $0 != "/" && $0 != "?" }
      let origin = rest[authority.endIndex...]
      return (origin.hasPrefix("/") ? String(origin) : "/\(origin)", authority)
    }
    return nil
  }

  /// Whether the text has only characters of `uri-host [":" port]` (RFC 9110 §7.2) and is not
  /// empty. Their positions do not matter, because the host is not used to connect.
  private static func isHost(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "-._~:[]%!$&'()*+;=".utf8.contains($0)
        }
      }
  }

  /// Returns the value of the first query item with this name; `nil` if there is none.
  ///
  /// It is decoded like an HTML form (the URL standard, `application/x-www-form-urlencoded`): a `+` is
  /// a space, an invalid percent-encoding stands for itself, and invalid UTF-8 for U+FFFD.
  public func query(_ name: String) -> String? {
    let bytes = target.utf8.span
    for item in itemRanges where Self.formDecoded(bytes.extracting(item.name)) == name {
      return Self.formDecoded(bytes.extracting(item.value))
    }
    return nil
  }

  /// The items of the query, in order, decoded like those of `query`.
  public var queryItems: [(name: String, value: String)] {
    let bytes = target.utf8.span
    return itemRanges.map {
      (Self.formDecoded(bytes.extracting($0.name)), Self.formDecoded(bytes.extracting($0.value)))
    }
  }

  /// The items of the query in `target`, in order.
  private var itemRanges: [(name: Range<Int>, value: Range<Int>)] {
    let bytes = target.utf8.span
    var start = 0
    while start < bytes.count, bytes[start] != UInt8(ascii: "?") { start += 1 }
    start += 1
    var items: [(name: Range<Int>, value: Range<Int>)] = []
    while start < bytes.count {
      var (end, equals) = (start, -1)
      while end < bytes.count, bytes[end] != UInt8(ascii: "&") {
        if equals < 0, bytes[end] == UInt8(ascii: "=") { equals = end }
        end += 1
      }
      let nameEnd = equals < 0 ? end : equals
      if start < end { items.append((start..<nameEnd, min(nameEnd + 1, end)..<end)) }
      start = end + 1
    }
    return items
  }

  private static func formDecoded(_ text: Span<UInt8>) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    var index = 0
    while index < text.count {
      let byte = text[index]
      if byte == UInt8(ascii: "%"), index + 2 < text.count,
        let high = text[index + 1].hexValue, let low = text[index + 2].hexValue
      {
        bytes.append(high << 4 | low)
        index += 2
      } else {
        bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
      }
      index += 1
    }
    return String(decoding: bytes.span)
  }

  /// Decodes percent-encoding (RFC 3986 §2.1); returns `nil` for a percent sign without two digits,
  /// and if the result is not UTF-8.
  private static func percentDecoded(_ text: Substring.UTF8View) -> String? {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit.
  fileprivate var hexValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension UInt8 {
  var decimalValue: UInt8? {
    UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") ? self - UInt8(ascii: "0") : nil
  }
}
