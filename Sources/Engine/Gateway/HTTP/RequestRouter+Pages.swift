import Relay
import WebSocket
import Wire

/// The HTTP resources besides the WebSocket.
extension RequestRouter {
  /// - Parameter rule: the rule that the request violates, if it is more than a mistake.
  func refuse(
    _ problem: HTTPProblem, _ request: HTTPRequest, _ rule: Violations.Rule? = nil
  ) -> Route {
    var response = problem.response
    if Self.isWebSocket(request) {
      response = HTTPResponse(status: problem.status, text: "\(problem.detail)\n")
    }
    if let origin = foreignOrigin(of: request) { response.allowReading(by: origin) }
    response.answersHEAD = request.method == "HEAD"
    if let rule { return .refuse(response, rule) }
    return .answer(response)
  }

  /// Routes all requests that are not for a WebSocket.
  func page(
    _ request: HTTPRequest, _ peer: ServerConnection.Peer, _ isOperator: (Identity) -> Bool,
    _ identify: () -> Authenticator.Answer
  ) -> Route {
    switch request.path {
    case "/healthz":
      let call = HTTPCall(target: .liveness, headOnly: request.method == "HEAD")
      return wrongMethod(request) ?? .call(call)
    case "/readyz":
      let call = HTTPCall(target: .readiness, headOnly: request.method == "HEAD")
      return wrongMethod(request) ?? .call(call)
    case "/metrics": return metrics(request, peer, isOperator, identify)
    default:
      guard let segments = request.pathSegments, segments.first == "v1" else {
        return file(request)
      }
      return api(request, segments.dropFirst(), peer, isOperator, identify)
    }
  }

  /// Answers with a file of the web page.
  private func file(_ request: HTTPRequest) -> Route {
    guard let response = files.response(to: request) else { return refuse(nothingHere, request) }
    if let refusal = wrongMethod(request) { return refusal }
    var call = HTTPCall(target: .file(response))
    call.headOnly = request.method == "HEAD"
    call.keepsAlive = !request.closes
    return .call(call)
  }

  private var nothingHere: HTTPProblem {
    HTTPProblem(
      404,
      "Not found. The web page is at /, the WebSocket at /ws, the HTTP interface at /v1/rooms/{room}/messages,"
        + " /v1/rooms, /v1/stream, /v1/requests, /v1/people and /v1/avatars/{user}, the relay's state at /healthz, /readyz and /metrics.",
      code: .unknownType)
  }

  private func wrongMethod(_ request: HTTPRequest) -> Route? {
    if request.method == "GET" || request.method == "HEAD" { return nil }
    return refuse(.wrongMethod(allowed: "GET, HEAD"), request)
  }

  /// Routes a request for the metrics. An address is no credential: a proxy on the same machine has the
  /// relay's own. So they are for the operator's socket, for the token in `metrics.token`, and for the
  /// tokens of operators (`auth.operators`).
  private func metrics(
    _ request: HTTPRequest, _ peer: ServerConnection.Peer, _ isOperator: (Identity) -> Bool,
    _ identify: () -> Authenticator.Answer
  ) -> Route {
    if let refusal = wrongMethod(request) { return refusal }
    if let problem = problem(ofOriginIn: request) { return refuse(problem, request, .origins) }
    let call = HTTPCall(target: .metrics, headOnly: request.method == "HEAD")
    let detail =
      "The metrics need Authorization: Bearer with the token in metrics.token or that of a user listed in"
      + " auth.operators, or the socket operator.sock in the relay's data folder."
    if peer == .operator || hasMetricsToken(request) { return .call(call) }
    if request.headers["Authorization"].isEmpty { return refuse(.unauthorized(detail), request) }
    switch identify() {
    case .known(let identity) where isOperator(identity): return .call(call)
    case .known: return refuse(HTTPProblem(403, detail, code: .forbidden), request)
    case .refused(let error) where error.code == .forbidden:
      return refuse(HTTPProblem(error), request)
    case .refused, .unknown: return refuse(.unauthorized(detail), request)
    }
  }

  /// Whether the request has the token for the metrics. All bytes are compared in any case, so that the
  /// time does not tell how many of them are right.
  private func hasMetricsToken(_ request: HTTPRequest) -> Bool {
    let expected = Array("Bearer \(metricsToken)".utf8)
    let found = Array((request.headers.only("Authorization") ?? "").utf8)
    guard !metricsToken.isEmpty, found.count == expected.count else { return false }
    return zip(found, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

/// `/v1`: relay.v1 over HTTP.
extension RequestRouter {
  private func api(
    _ request: HTTPRequest, _ segments: ArraySlice<String>, _ peer: ServerConnection.Peer,
    _ isOperator: (Identity) -> Bool, _ identify: () -> Authenticator.Answer
  ) -> Route {
    // A browser follows a link, and loads an image, by GET: this one joins rooms.
    let joins = Array(segments) == ["stream"]
    if let problem = problem(ofOriginIn: request, changesState: joins) {
      return refuse(problem, request, .origins)
    }
    // In open mode a page whose name resolves to this machine (DNS rebinding) must not pose as a local
    // program.
    if requiresLoopbackHost, !RequestOrigin.isLoopback(request.host) {
      return refuse(
        HTTPProblem(
          403, "This relay is not available at \(request.host); use 127.0.0.1 or [::1].",
          code: .forbidden), request, .origins)
    }
    let parts = Array(segments)
    let target: (Identity) -> HTTPCall.Target
    var traced: HTTPCall.TraceQuestion?
    let allowed: String
    if parts.count == 3, parts[0] == "rooms", parts[2] == "messages" {
      allowed = "GET, HEAD, POST, OPTIONS"
      let message =
        request.method == "POST"
        ? HTTPCall.Message.send(room: parts[1]) : Self.history(of: parts[1], request)
      target = { .relay(message, $0) }
    } else if parts.count == 5, parts[0] == "rooms", parts[2] == "messages", parts[4] == "trace" {
      allowed = "GET, HEAD, OPTIONS"
      switch Self.traceQuestion(parts[1], parts[3], request) {
      case .failure(let mistake): return refuse(mistake.problem, request)
      case .success(let question):
        traced = question
        target = { .trace(question.asked(by: $0)) }
      }
    } else if parts.count == 2, parts[0] == "avatars" {
      allowed = "GET, HEAD, OPTIONS"
      target = { .avatar(of: parts[1], $0, known: request.headers["If-None-Match"]) }
    } else if parts == ["requests"] {
      allowed = "POST, OPTIONS"
      target = { .requests($0) }
    } else if parts == ["stream"] {
      allowed = "GET, HEAD, OPTIONS"
      target = { .stream(request, $0) }
    } else if parts == ["rooms"] {
      allowed = "GET, HEAD, OPTIONS"
      target = { .relay(Self.rooms(request), $0) }
    } else if parts == ["people"] {
      allowed = "GET, HEAD, OPTIONS"
      target = { .relay(Self.people(request), $0) }
    } else {
      return refuse(nothingHere, request)
    }
    guard allowed.split(separator: ", ").contains(request.method[...]) else {
      return refuse(.wrongMethod(allowed: allowed), request)
    }
    if request.method == "OPTIONS" { return options(request, allowed: allowed) }
    var call: HTTPCall
    switch identify() {
    case .known(let identity):
      call = HTTPCall(target: target(identity))
      if let traced, isOperator(identity) {
        call.target = .trace(traced.asked(by: identity, isOperator: true))
      }
    case .refused(let error): return refuse(HTTPProblem(error), request)
    case .unknown:
      guard let traced, peer == .operator else {
        return refuse(
          .unauthorized(
            "Authentication is required: send Authorization: Bearer, or ?user=NAME if the relay does"
              + " not use tokens."), request)
      }
      call = HTTPCall(target: .trace(traced.asked(by: nil, isOperator: true)))
    }
    call.headOnly = request.method == "HEAD"
    call.keepsAlive = !request.closes
    call.origin = foreignOrigin(of: request)
    if case .relay(.history, _) = call.target, let seconds = request.query("wait_s") {
      guard let poll = Self.poll(parts[1], seconds, request) else {
        var problem = HTTPProblem(
          400,
          "\"wait_s\" must be a whole number of seconds, at most \(LongPoll.secondsLimit), and needs"
            + " \"after\".", code: .badField)
        problem.field = "wait_s"
        return refuse(problem, request)
      }
      if poll.milliseconds > 0 { call.poll = poll }
    }
    if request.method == "POST" {
      if let problem = readContent(of: request, into: &call) { return refuse(problem, request) }
    }
    return .call(call)
  }

  /// Returns the origin of a page of another site if that may read the answer.
  private func foreignOrigin(of request: HTTPRequest) -> String? {
    request.headers.only("Origin").flatMap { origin.allows($0) ? $0 : nil }
  }

  /// Answers with the allowed methods, and to a browser's preflight request for a page of another
  /// site (CORS).
  private func options(_ request: HTTPRequest, allowed: String) -> Route {
    var response = HTTPResponse(status: 204)
    response.add("Allow", allowed)
    if let origin = foreignOrigin(of: request) {
      response.allowReading(by: origin)
      response.add("Access-Control-Allow-Methods", allowed)
      response.add("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID")
      response.add("Access-Control-Max-Age", "600")
    }
    return .answer(response)
  }

  /// Checks the header fields that describe the content.
  private func readContent(
    of request: HTTPRequest, into call: inout HTTPCall
  ) -> HTTPProblem? {
    switch request.content {
    case .length(let bytes?) where contentLimitBytes == 0 || bytes <= contentLimitBytes:
      call.contentBytes = bytes
    case .length:
      return HTTPProblem(
        413, "The content is longer than \(contentLimitBytes) bytes (limits.frame_bytes).",
        code: .tooLarge)
    case .none:
      return HTTPProblem(
        411, "Content-Length is required.", code: .badField, field: "Content-Length")
    case .coded(let coding):
      guard coding.lowercased() == "chunked" else {
        return HTTPProblem(
          501, "This transfer coding is not supported; use Content-Length.", code: .badField,
          field: "Transfer-Encoding")
      }
      return HTTPProblem(
        411, "Chunked content is not supported; use Content-Length.", code: .badField,
        field: "Transfer-Encoding")
    case .ambiguous:
      return HTTPProblem(
        400, "Content-Length and Transfer-Encoding cannot be combined (RFC 9112 §6.3).",
        code: .badField, field: "Transfer-Encoding")
    }
    let type = request.headers.only("Content-Type")?.prefix { $0 != ";" }
    guard type?.filter({ $0 != " " && $0 != "\t" }).lowercased() == "application/json" else {
      return HTTPProblem(
        415, "The content must be JSON: Content-Type: application/json.", code: .badField,
        field: "Content-Type")
    }
    if let expectation = request.headers["Expect"].first {
      guard expectation.lowercased() == "100-continue" else {
        return HTTPProblem(
          417, "The only supported expectation is 100-continue.", code: .badField, field: "Expect")
      }
      call.expectsContinue = true
    }
    return nil
  }

  // MARK: - Messages from queries

  private static func history(of room: String, _ request: HTTPRequest) -> HTTPCall.Message {
    var query = MessageQuery("history")
    query.add("room", string: room)
    for name in ["before", "after", "limit"] { query.add(name, number: request.query(name)) }
    query.add("fold", flag: request.query("fold"))
    if let epoch = request.query("epoch") { query.add("epoch", string: epoch) }
    if let lineage = request.query("lineage") { query.add(lineage: lineage) }
    return .history(query.json)
  }

  private static func poll(
    _ room: String, _ seconds: String, _ request: HTTPRequest
  ) -> LongPoll? {
    guard let seconds = Int64(seconds), 0...LongPoll.secondsLimit ~= seconds,
      let after = request.query("after").flatMap({ Int64($0) })
    else { return nil }
    return LongPoll(room: room, after: after, milliseconds: seconds * 1000)
  }

  private static func rooms(_ request: HTTPRequest) -> HTTPCall.Message {
    var query = MessageQuery("rooms")
    if let cursor = request.query("cursor") { query.add("cursor", string: cursor) }
    query.add("limit", number: request.query("limit"))
    return .rooms(query.json)
  }

  private static func people(_ request: HTTPRequest) -> HTTPCall.Message {
    var query = MessageQuery("people")
    for name in ["query", "cursor"] {
      if let value = request.query(name) { query.add(name, string: value) }
    }
    query.add("limit", number: request.query("limit"))
    return .people(query.json)
  }
}

/// A message built from a query. A value that does not have the form of its field becomes a string,
/// which the decoder of the message then refuses with the name of the field.
private struct MessageQuery {
  private var members: [UInt8]

  init(_ type: String) { members = Array("{\"type\":\"\(type)\"".utf8) }

  mutating func add(_ name: String, string value: String) {
    members += Array(",\"\(name)\":".utf8)
    members.append(jsonString: value)
  }

  mutating func add(_ name: String, number value: String?) {
    guard let value else { return }
    let isNumber =
      (1...16).contains(value.utf8.count) && value.utf8.allSatisfy { 0x30...0x39 ~= $0 }
      && (value == "0" || !value.hasPrefix("0"))
    guard isNumber else { return add(name, string: value) }
    members += Array(",\"\(name)\":\(value)".utf8)
  }

  mutating func add(_ name: String, flag value: String?) {
    guard let value else { return }
    switch value {
    case "", "1", "true": members += Array(",\"\(name)\":true".utf8)
    case "0", "false": members += Array(",\"\(name)\":false".utf8)
    default: add(name, string: value)
    }
  }

  mutating func add(lineage value: String) {
    guard let lineage = [EpochStart](query: value) else { return add("lineage", string: value) }
    members.append(lineage: lineage)
  }

  var json: [UInt8] { members + [UInt8(ascii: "}")] }
}

extension HTTPResponse {
  /// Keeps pages of other sites and caches from content that is a user's: `no-store` (RFC 9111
  /// §5.2.2.5) unless it says otherwise, also since a cache may store a 404 (§4.2.2); and the Fetch standard's `Cross-Origin-Resource-Policy` and `nosniff`.
  mutating func protect() {
    if !headers.contains(where: { $0.name == "Cache-Control" }) { add("Cache-Control", "no-store") }
    add("X-Content-Type-Options", "nosniff")
    add("Cross-Origin-Resource-Policy", "same-origin")
  }

  /// Allows a page of another site to read the response (the Fetch standard, "CORS protocol").
  mutating func allowReading(by origin: String) {
    add("Access-Control-Allow-Origin", origin)
    add("Access-Control-Expose-Headers", "Retry-After")
    add("Vary", "Origin")
  }
}
