/// A complete HTTP/1.1 response (RFC 9112) to build and send. The connection ends after it, unless
/// it switches protocols or is kept alive.
public struct HTTPResponse: Equatable, Sendable {
  /// One header field.
  public struct Field: Equatable, Sendable {
    /// A token (RFC 9110 §5.1).
    public let name: String
    /// Without line breaks or other control characters.
    public let value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// 101 to 599.
  public let status: Int
  /// The fields except `Content-Length` and `Connection: close`, which are added automatically.
  public private(set) var headers: [Field] = []
  /// Whether the connection accepts another request after this one (RFC 9112 §9.3).
  public var keepsAlive = false
  /// Whether it answers HEAD, and is sent without its content (RFC 9110 §9.3.2).
  public var answersHEAD = false
  /// Whether content of unknown length follows the head: the connection ends with it (RFC 9112
  /// §6.3).
  public var endsWithConnection = false
  /// The length of content that is sent after these bytes, instead of `body`.
  public var followingBytes: Int?
  /// The content.
  public let body: [UInt8]

  /// Creates a response with a body of any type.
  public init(status: Int, contentType: String, body: [UInt8]) {
    precondition(100...599 ~= status, "\(status) is not an HTTP status")
    self.status = status
    self.body = body
    add("Content-Type", contentType)
  }

  /// Creates a response with a body of plain text.
  public init(status: Int, text: String) {
    self.init(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }

  /// Creates a response without a body.
  public init(status: Int) {
    precondition(100...599 ~= status, "\(status) is not an HTTP status")
    self.status = status
    body = []
  }

  /// Adds a header field. A value with a line break would add a second header, so it is a
  /// programming error: validate values from the peer.
  public mutating func add(_ name: String, _ value: String) {
    precondition(HTTPHeaders.isName(name), "not a header name: \(name)")
    precondition(HTTPHeaders.isValue(value), "not a header value: \(value)")
    headers.append(Field(name: name, value: value))
  }

  private static let usualHeadBytes = 256

  /// The bytes to send. A 1xx always leaves the connection open (RFC 9110 §15.2); 1xx, 204 and 304
  /// have no content (RFC 9110 §6.4.1).
  public var bytes: [UInt8] { head + (hasContent && !answersHEAD ? body : []) }

  private var head: [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(Self.usualHeadBytes)
    func append(_ text: String) { head.append(copying: text.utf8.span) }
    func append(_ field: String, _ value: String) {
      append(field)
      append(": ")
      append(value)
      append("\r\n")
    }
    append("HTTP/1.1 ")
    append(String(status))
    append(" ")
    append(Self.phrase(status))
    append("\r\n")
    for field in headers { append(field.name, field.value) }
    if hasContent, !endsWithConnection {
      append("Content-Length", String(followingBytes ?? body.count))
    }
    if status >= 200, !keepsAlive { append("Connection", "close") }
    append("\r\n")
    return head
  }

  private var hasContent: Bool { status >= 200 && status != 204 && status != 304 }

  /// Returns the reason phrase (RFC 9110 §15), which is empty for a status that is not used here.
  public static func phrase(_ status: Int) -> String {
    switch status {
    case 100: "Continue"
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 204: "No Content"
    case 206: "Partial Content"
    case 302: "Found"
    case 304: "Not Modified"
    case 307: "Temporary Redirect"
    case 308: "Permanent Redirect"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 410: "Gone"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 416: "Range Not Satisfiable"
    case 417: "Expectation Failed"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 460: "Checksum Mismatch"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    case 507: "Insufficient Storage"
    default: ""
    }
  }
}
