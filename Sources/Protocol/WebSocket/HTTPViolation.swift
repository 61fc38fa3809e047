/// A rule of HTTP/1.1 (RFC 9110, RFC 9112), or a limit of this endpoint, that the peer violated.
///
/// Input that two parsers could read differently is refused rather than guessed: a proxy in front
/// of this endpoint may have read it differently (request smuggling).
public enum HTTPViolation: Error, Equatable, Sendable {
  /// A control character, such as a bare CR, a bare LF or NUL (RFC 9112 §2.2, RFC 9110 §5.5).
  case controlCharacter(UInt8)
  /// The first line is not `METHOD /path HTTP/1.x` (RFC 9112 §3).
  case requestLineMalformed
  /// The first line of a response is not `HTTP/1.1 status reason` (RFC 9112 §4).
  case statusLineMalformed
  /// A version before HTTP/1.1, or another major one (RFC 9110 §15.6.6).
  case versionUnsupported
  /// A header line without a colon, or a name that is not a token (RFC 9112 §5).
  case headerMalformed
  /// A header line that begins with white space: obs-fold (RFC 9112 §5.2).
  case headerFolded
  /// No `Host`, more than one, an invalid one, or one that differs from the target's (RFC 9112
  /// §3.2).
  case hostInvalid
  /// A `Content-Length` that is not one number (RFC 9112 §6.3).
  case contentLengthInvalid
  /// A GET or HEAD with a body, which has no meaning (RFC 9110 §9.3.1).
  case bodyUnexpected
  /// The first line alone exceeds the limit of the header.
  case requestLineTooLong(limitBytes: Int)
  /// The header exceeds its limit.
  case headerTooLong(limitBytes: Int)
  /// The header has more lines than its limit.
  case tooManyLines(limit: Int)

  /// The status to answer a request with.
  public var status: Int {
    switch self {
    case .controlCharacter, .requestLineMalformed, .statusLineMalformed, .headerMalformed,
      .headerFolded, .hostInvalid, .contentLengthInvalid, .bodyUnexpected:
      400
    case .requestLineTooLong: 414
    case .headerTooLong, .tooManyLines: 431
    case .versionUnsupported: 505
    }
  }

  /// The response to a request: the status, and the description as text.
  public var response: HTTPResponse {
    HTTPResponse(status: status, text: "\(description)\n")
  }
}

extension HTTPViolation: CustomStringConvertible {
  /// A sentence for the peer and for a log; it contains nothing that the peer chose freely.
  public var description: String {
    switch self {
    case .controlCharacter(let byte):
      "The HTTP header contains control character \(byte), which is not allowed."
    case .requestLineMalformed:
      "The first line is not of the form \"GET /path HTTP/1.1\"."
    case .statusLineMalformed:
      "The first line is not of the form \"HTTP/1.1 101 Switching Protocols\"."
    case .versionUnsupported: "Only HTTP/1.1 is supported."
    case .headerMalformed: "A header line is not of the form \"Name: value\"."
    case .headerFolded: "A header line begins with white space; folding is not supported."
    case .hostInvalid: "There must be exactly one Host header, and it must name a host."
    case .contentLengthInvalid: "The Content-Length header must be a single number."
    case .bodyUnexpected: "A GET or HEAD request must not have a body."
    case .requestLineTooLong(let limit): "The request line is longer than \(limit) bytes."
    case .headerTooLong(let limit): "The HTTP header is longer than \(limit) bytes."
    case .tooManyLines(let limit): "The HTTP header has more than \(limit) lines."
    }
  }
}
