/// The head of an HTTP/1.1 request (RFC 9112): enough for the opening handshake, and for what is
/// served beside it.
public struct HTTPRequest: Equatable, Sendable {
  /// `GET`, or what else; compared with case (RFC 9110 §9.1).
  public let method: String
  /// The path and the query, percent-encoding left alone: printable ASCII that begins with a
  /// slash.
  public let target: String
  /// The header fields.
  public let headers: HTTPHeaders
  /// The value of `Host`: exactly one, and not empty.
  public let host: String

  /// The target without its query; percent-encoding is left alone.
  public var path: Substring { target.prefix { $0 != "?" } }

  /// The path's segments, percent-decoded: of `/v1/rooms/a%3Ab` they are `v1`, `rooms` and `a:b`; `nil`
  /// where that is not UTF-8.
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

  /// How the content behind the head is delimited (RFC 9112 §6.3).
  public enum Content: Equatable, Sendable {
    /// The request does not say that there is any.
    case none
    /// So many bytes; `nil` for more than a machine can count.
    case length(Int?)
    /// By a transfer coding, as it is named.
    case coded(String)
    /// By both, of which a proxy may have believed the other.
    case ambiguous
  }

  /// How the content behind the head is delimited.
  public var content: Content {
    let codings = headers.list("Transfer-Encoding")
    let length = headers.only("Content-Length")
    if !headers["Transfer-Encoding"].isEmpty {
      return length == nil ? .coded(codings.joined(separator: ", ")) : .ambiguous
    }
    return length.map { .length(Int($0)) } ?? .none
  }

  /// Whether the client wants to send no further request on this connection (RFC 9112 §9.6).
  public var closes: Bool { headers.contains("close", in: "Connection") }

  /// Reads the request at the front of `bytes`; `nil` until the blank line has arrived.
  ///
  /// A target in the absolute form, which proxies are sent, is cut down to the origin form; it
  /// must agree with `Host`.
  /// - Parameter headerLimitBytes: the longest head, request line included; 0 means no limit.
  /// - Returns: the request, and the length of its head in bytes: what follows belongs to the
  ///   protocol that it switches to.
  /// - Throws: the rule that was broken; it knows the status and the response.
  public static func read(_ bytes: Span<UInt8>, headerLimitBytes: Int)
    throws(HTTPViolation) -> (request: HTTPRequest, length: Int)?
  {
    guard let head = try HTTPHead.read(bytes, limitBytes: headerLimitBytes) else { return nil }
    return (try HTTPRequest(head), head.length)
  }

  private init(_ head: HTTPHead) throws(HTTPViolation) {
    // RFC 9112 §3: exactly one space between the three parts.
    let parts = head.firstLine.split(separator: " ", omittingEmptySubsequences: false)
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

  /// RFC 9112 §6.3: how long a body is must not be a matter of opinion.
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

  /// A target in origin form (RFC 9112 §3.2.1), and the authority that the absolute form (§3.2.2)
  /// names besides; `nil` for any other form. A fragment is never sent.
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

  /// RFC 9110 §7.2: `uri-host [":" port]`, not empty; which of these characters may stand where
  /// does not matter here, since nothing is connected to by it.
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

  /// The value of a query item, the first of that name; `nil` if there is none or if it is not
  /// percent-encoded UTF-8.
  ///
  /// A `+` stays a `+` (RFC 3986): the exception belongs to HTML forms.
  public func query(_ name: String) -> String? {
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    let query = target[target.utf8.index(after: mark)...]
    for item in query.utf8.split(separator: UInt8(ascii: "&")) {
      let end = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
      guard Self.percentDecoded(item[..<end]) == name else { continue }
      return Self.percentDecoded(item[end...].dropFirst())
    }
    return nil
  }

  /// RFC 3986 §2.1; `nil` for a percent sign without two digits, and for what is not UTF-8.
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
