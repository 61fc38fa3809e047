import Relay
import WebSocket
import Wire

/// The reason for which an HTTP request is refused, as `application/problem+json` (RFC 9457).
///
/// `type` is always `about:blank`: beyond the status, problems are distinguished by `code`, the
/// same as in an `error` message of relay.v1.
package struct HTTPProblem: Error, Equatable {
  static let contentType = "application/problem+json"

  var status: Int
  /// For a person: what happened, to what, and what to do.
  var detail: String
  var code: ErrorCode
  var room: String?
  var id: String?
  var field: String?
  var retryAfterMilliseconds: Int64?
  /// Milliseconds since 1970.
  var resetAt: Int64?
  /// When the restriction ends that is the reason, in milliseconds since 1970.
  var until: Int64?
  var support: String?
  var seq: Int64?
  /// The methods that the resource supports, for `Allow`.
  var allowed: String?
  /// More fields of the response.
  var fields: [HTTPResponse.Field] = []
  /// The rule that the request violates, if it is more than a mistake.
  var rule: Violations.Rule?

  /// - Parameter field: the part of the request that is wrong: of a message, or of the head.
  init(_ status: Int, _ detail: String, code: ErrorCode, field: String? = nil) {
    self.status = status
    self.detail = detail
    self.code = code
    self.field = field
  }

  /// Creates a problem from an error of the relay.
  /// - Parameter wall: the current time in milliseconds since 1970; `nil` if the answer has no
  ///   times.
  init(_ error: WireError, wall: Int64? = nil) {
    let isConnection = error.code == .limitReached && error.field == "connections_per_user"
    self.init(
      isConnection ? 429 : Self.status(of: error.code), error.message, code: error.code)
    room = error.room
    id = error.id
    field = error.field
    retryAfterMilliseconds = error.retryAfterMilliseconds
    resetAt = error.resetAt
    until = error.until
    support = error.support
    seq = error.seq
    if let resetAt, let wall, retryAfterMilliseconds == nil {
      retryAfterMilliseconds = max(0, resetAt - wall)
    }
  }

  /// Returns the problem of a request without valid credentials.
  static func unauthorized(_ detail: String) -> HTTPProblem {
    HTTPProblem(401, detail, code: .unauthorized)
  }

  /// Returns the problem of a request that a page or a host must not make.
  static func origin(_ detail: String) -> HTTPProblem {
    var problem = HTTPProblem(403, detail, code: .forbidden)
    problem.rule = .origins
    return problem
  }

  /// The problem of a request that another site's page may have made with the browser's cookie.
  static var crossOrigin: HTTPProblem {
    .origin("Only the relay's own page may make this request with its cookie.")
  }

  /// - Parameter allowed: the methods that the resource supports.
  static func wrongMethod(allowed: String) -> HTTPProblem {
    var problem = HTTPProblem(
      405, "Method not allowed; use \(allowed).", code: .unknownType)
    problem.allowed = allowed
    return problem
  }

  /// Returns the problem of a request that may succeed later.
  static func unavailable(_ detail: String, status: Int = 503) -> HTTPProblem {
    var problem = HTTPProblem(status, detail, code: .unavailable)
    problem.retryAfterMilliseconds = Refusal.retryAfterMilliseconds
    return problem
  }

  static func tooManyRequests(_ wait: Int64) -> HTTPProblem {
    var problem = HTTPProblem(429, "Too many requests; retry in \(wait) ms.", code: .rateLimited)
    problem.retryAfterMilliseconds = wait
    return problem
  }

  private static func status(of code: ErrorCode) -> Int {
    switch code {
    case .badJSON, .badField, .notJoined, .tooManyRooms, .superseded: 400
    case .tooLarge: 413
    case .unauthorized, .tokenExpired: 401
    case .forbidden: 403
    case .noSuchRoom, .noSuchEntry: 404
    case .limitReached, .idConflict, .nameTaken: 409
    case .rateLimited: 429
    case .unknownType: 501
    case .directoryLimited, .directoryFailed, .unavailable: 503
    case .unknown: 500
    }
  }

  var response: HTTPResponse {
    var response = HTTPResponse(status: status, contentType: Self.contentType, body: json)
    if status == 401 { response.add("WWW-Authenticate", "Bearer") }
    if let retryAfterMilliseconds {
      // In whole seconds (RFC 9110 §10.2.3), rounded up.
      response.add("Retry-After", "\((retryAfterMilliseconds + 999) / 1000)")
    }
    if let allowed { response.add("Allow", allowed) }
    for field in fields { response.add(field.name, field.value) }
    return response
  }

  private var json: [UInt8] {
    var json = Array(#"{"type":"about:blank","title":"#.utf8)
    json.append(jsonString: HTTPResponse.phrase(status))
    json += Array(",\"status\":\(status),\"detail\":".utf8)
    json.append(jsonString: detail)
    let members = [
      ("code", code.rawValue), ("room", room), ("id", id), ("field", field), ("support", support),
    ]
    for case (let name, let value?) in members {
      json += Array(",\"\(name)\":".utf8)
      json.append(jsonString: value)
    }
    if let retryAfterMilliseconds {
      json += Array(",\"retry_after_ms\":\(retryAfterMilliseconds)".utf8)
    }
    if let resetAt { json += Array(",\"reset_at\":\(resetAt)".utf8) }
    if let until { json += Array(",\"until\":\(until)".utf8) }
    if let seq { json += Array(",\"seq\":\(seq)".utf8) }
    json.append(UInt8(ascii: "}"))
    return json
  }
}

extension HTTPResponse {
  /// Keeps pages of other sites and caches from content that is a user's: `no-store` (RFC 9111
  /// §5.2.2.5) unless it says otherwise, also since a cache may store a 404 (§4.2.2); and the Fetch standard's `Cross-Origin-Resource-Policy` and `nosniff`.
  mutating func protect() {
    if !headers.contains(where: { $0.name == "Cache-Control" }) { add("Cache-Control", "no-store") }
    add("X-Content-Type-Options", "nosniff")
    if !headers.contains(where: { $0.name == "Cross-Origin-Resource-Policy" }) {
      add("Cross-Origin-Resource-Policy", "same-origin")
    }
  }

  /// Allows a page of another site to read the response (the Fetch standard, "CORS protocol"). A cache must not give
  /// what it has got for one page, or for none, to another (`Vary`).
  /// - Parameter origin: of the page; `nil` if it may not, or there is none.
  mutating func allowReading(by origin: String?) {
    add("Vary", "Origin")
    guard let origin else { return }
    add("Access-Control-Allow-Origin", origin)
    let exposed = headers.map(\.name).filter {
      $0.hasPrefix("Upload-") || $0.hasPrefix("Tus-") || $0 == "Location"
    }
    add("Access-Control-Expose-Headers", (["Retry-After"] + exposed).joined(separator: ", "))
  }
}
