import Relay
import WebSocket
import Wire

/// Decides whether an HTTP request gets a WebSocket or an answer. Has no side effects.
package struct RequestRouter: Sendable {
  enum Route {
    case webSocket(Opening)
    /// A WebSocket that echoes its messages.
    case echo(Opening)
    case answer(HTTPResponse)
    /// An answer to a request that violates a rule.
    case refuse(HTTPResponse, Violations.Rule)
    /// The answer has to be found first.
    case call(HTTPCall)
    /// An answer to a request without valid credentials, which is rate-limited by address.
    case unauthorized(HTTPResponse)
  }

  /// The result of an opening handshake.
  struct Opening {
    var response: HTTPResponse
    /// The agreed parameters of compression; `nil` without it.
    var deflate: DeflateAgreement?
  }

  static let subprotocol = "relay.v1"

  /// Allowed values of `Origin` besides the relay's own host.
  package var origins: Set<String>
  /// Open mode on loopback: only pages of this machine may connect, even if other names resolve to
  /// it.
  package var requiresLoopbackHost: Bool
  /// Whether `/echo` is served.
  package var servesEcho = false
  /// The maximum length of a request's content; 0 = no limit.
  package var contentLimitBytes = 0
  /// Whether permessage-deflate is accepted if a client offers it.
  package var compresses = false
  /// The files of the web page.
  package var files = WebFiles()

  package init(origins: Set<String>, requiresLoopbackHost: Bool) {
    self.origins = origins
    self.requiresLoopbackHost = requiresLoopbackHost
  }

  /// - Parameters:
  ///   - isLocal: whether the request comes from this machine.
  ///   - isOperator: whether that user may read the metrics.
  ///   - identify: authenticates the request.
  func route(
    _ request: HTTPRequest, isLocal: Bool, isOperator: (Identity) -> Bool = { _ in false },
    identify: () -> Authenticator.Answer
  ) -> Route {
    switch request.path {
    case "/ws":
      return open(request, [Self.subprotocol]) { .webSocket($0) }
    case "/echo":
      guard servesEcho else {
        return refuse(
          HTTPProblem(
            404, "Not found. The setting debug.echo: true enables the echo.", code: .unknownType),
          request)
      }
      return open(request, []) { .echo($0) }
    default: return page(request, isLocal, isOperator, identify)
    }
  }

  private func open(
    _ request: HTTPRequest, _ subprotocols: [String], _ route: (Opening) -> Route
  ) -> Route {
    if let problem = problem(ofOriginIn: request) { return refuse(problem, request, .origins) }
    switch ServerHandshake.answer(request, subprotocols: subprotocols, compresses: compresses) {
    case .accept(let response, _, let deflate):
      return route(Opening(response: response, deflate: deflate))
    case .refuse(var response):
      if !Self.isWebSocket(request) { response = Self.problem(response) }
      response.answersHEAD = request.method == "HEAD"
      return .refuse(response, .handshake)
    }
  }

  /// WebSocket clients show the answer to a person, and JSON is hard to read.
  static func isWebSocket(_ request: HTTPRequest) -> Bool {
    request.headers.contains("websocket", in: "Upgrade")
  }

  /// Returns the refusal of a handshake, whose content is a sentence, as a problem.
  private static func problem(_ refusal: HTTPResponse) -> HTTPResponse {
    let detail = String(decoding: refusal.body, as: UTF8.self).filter { $0 != "\n" }
    let code = refusal.status == 405 ? ErrorCode.unknownType : .badField
    var response = HTTPProblem(refusal.status, detail, code: code).response
    for field in refusal.headers where field.name != "Content-Type" {
      response.add(field.name, field.value)
    }
    return response
  }

  /// Returns a problem if the request's `Origin` is not allowed: a browser sends it, and a page of
  /// another site must not act for its user (RFC 6455 §10.2).
  func problem(ofOriginIn request: HTTPRequest) -> HTTPProblem? {
    let values = request.headers["Origin"]
    guard let origin = values.first else { return nil }
    if values.count == 1, origins.contains(origin) { return nil }
    let host = Self.host(ofOrigin: origin)
    if values.count == 1, let host, host == request.host.lowercased(),
      !requiresLoopbackHost || Self.isLoopback(host)
    {
      return nil
    }
    return HTTPProblem(
      403,
      "Pages from \(origin) may not connect; add the origin to auth.origins to allow it.",
      code: .forbidden)
  }

  /// Returns `host[:port]` of `scheme://host[:port]`.
  private static func host(ofOrigin origin: String) -> String? {
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      return origin.dropFirst(scheme.count).lowercased()
    }
    return nil
  }

  static func isLoopback(_ host: String) -> Bool {
    var name = host[...]
    if name.hasPrefix("[") {
      return name.hasPrefix("[::1]")
    }
    if let colon = name.lastIndex(of: ":") { name = name[..<colon] }
    if name == "localhost" { return true }
    let octets = name.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
  }
}
