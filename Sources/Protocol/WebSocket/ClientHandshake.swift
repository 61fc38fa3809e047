/// The client's side of the opening handshake (RFC 6455 §4.1).
public struct ClientHandshake: Sendable {
  /// The maximum length of a refusal's body that is kept.
  public static let bodyLimitBytes = 1024

  /// The bytes to send.
  public let request: [UInt8]

  private let key: String
  private let subprotocols: [String]
  private let deflate: [DeflateParameters]
  private var scanner = HTTPHeadScanner()
  /// The head of a refusal whose body has not arrived.
  private var refusal: HTTPHead?

  /// The result of a successful handshake.
  public struct Opening: Equatable, Sendable {
    /// The subprotocol that the server chose.
    public let subprotocol: String?
    /// The agreed parameters of compression; `nil` without it.
    public let deflate: DeflateAgreement?
    /// The length of the server's response in bytes: frames follow it.
    public let length: Int
  }

  /// Creates a request for a WebSocket.
  ///
  /// The caller has to validate the parts of the header: a line break would begin another header,
  /// so it is a programming error here (see ``HTTPHeaders/isValue(_:)``).
  /// - Parameters:
  ///   - host: as in the URL, with the port unless it is the default of the scheme (item 4).
  ///   - target: the path and the query, percent-encoded.
  ///   - subprotocols: in order of preference.
  ///   - deflate: offers of permessage-deflate in order of preference; empty for no compression.
  ///   - headers: additional headers, such as `Authorization`.
  ///   - nonce: 16 random bytes, fresh for each connection (item 7).
  public init(
    host: String, target: String, subprotocols: [String] = [],
    deflate: [DeflateParameters] = [], headers: [(name: String, value: String)] = [], nonce: [UInt8]
  ) {
    precondition(nonce.count == 16, "RFC 6455 §4.1: the key is 16 bytes")
    precondition(
      target.utf8.first == UInt8(ascii: "/") && target.utf8.allSatisfy { 0x21...0x7E ~= $0 },
      "not a request target: \(target)")
    precondition(subprotocols.allSatisfy(HTTPHeaders.isName), "subprotocols are tokens")
    key = Base64.encode(nonce)
    self.subprotocols = subprotocols
    self.deflate = deflate

    var fields = [
      ("Host", host), ("Upgrade", "websocket"), ("Connection", "Upgrade"),
      ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13"),
    ]
    if !subprotocols.isEmpty {
      fields.append(("Sec-WebSocket-Protocol", subprotocols.joined(separator: ", ")))
    }
    if !deflate.isEmpty {
      let offers = deflate.map { $0.headerValue(isOffer: true) }
      fields.append(("Sec-WebSocket-Extensions", offers.joined(separator: ", ")))
    }
    var text = "GET \(target) HTTP/1.1\r\n"
    for (name, value) in fields + headers {
      precondition(HTTPHeaders.isName(name), "not a header name: \(name)")
      precondition(HTTPHeaders.isValue(value), "not a value for the header \(name)")
      text += "\(name): \(value)\r\n"
    }
    request = Array("\(text)\r\n".utf8)
  }

  /// Reads the response at the beginning of `bytes`; returns `nil` until its blank line has
  /// arrived, and for a refusal until the part of its body has arrived that is kept.
  /// - Parameters:
  ///   - bytes: all bytes since the beginning of the response: those of the last call, and further
  ///     ones.
  ///   - headerLimitBytes: the maximum length of the header; 0 = no limit.
  ///   - atEnd: whether the server closed the connection, so that no more will arrive.
  public mutating func read(_ bytes: Span<UInt8>, headerLimitBytes: Int, atEnd: Bool = false)
    throws(HandshakeFailure) -> Opening?
  {
    var read = refusal
    do throws(HTTPViolation) {
      if read == nil {
        read = try HTTPHead.read(bytes, limits: .init(bytes: headerLimitBytes), &scanner)
      }
    } catch {
      throw .malformed(error)
    }
    guard let head = read else { return nil }
    guard let status = Self.status(head.firstLine) else { throw .malformed(.statusLineMalformed) }
    let headers = head.headers
    guard status == 101 else {
      refusal = head
      let body = bytes.extracting(head.length..<bytes.count)
      let declared = headers.only("Content-Length").flatMap { Int($0) } ?? 0
      guard atEnd || body.count >= min(declared, Self.bodyLimitBytes) else { return nil }
      throw .refused(status: status, body: Self.text(body))
    }
    guard headers.contains("websocket", in: "Upgrade") else { throw .upgradeMissing }
    guard headers.contains("upgrade", in: "Connection") else { throw .connectionMissing }
    guard headers.only("Sec-WebSocket-Accept") == AcceptKey.accept(for: key) else {
      throw .acceptMismatch
    }
    guard let extensions = WebSocketExtension.list(headers["Sec-WebSocket-Extensions"]) else {
      throw .extensionMalformed
    }
    let agreement = try DeflateAgreement.read(extensions, offers: deflate)

    let chosen = headers["Sec-WebSocket-Protocol"]
    guard chosen.count <= 1, chosen.allSatisfy(subprotocols.contains) else {
      throw .subprotocolUnexpected
    }
    return Opening(subprotocol: chosen.first, deflate: agreement, length: head.length)
  }

  /// Parses a status line (RFC 9112 §4): the version, three digits, and a phrase without meaning.
  private static func status(_ line: String) -> Int? {
    let parts = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, let version = HTTPVersion(parts[0]), version.isSupported,
      parts[1].utf8.count == 3, let status = Int(parts[1]), 100...599 ~= status
    else { return nil }
    return status
  }

  /// Returns the beginning of a body, without the line break at its end.
  private static func text(_ body: Span<UInt8>) -> String {
    var text = String(decoding: body.extracting(0..<min(body.count, bodyLimitBytes)))
    while text.last?.isNewline == true { text.removeLast() }
    return text
  }
}
