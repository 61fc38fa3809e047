import Relay
import WebSocket
import Wire

/// Decides whether an HTTP request gets a WebSocket or an answer. Has no side effects.
package struct RequestRouter: Sendable {
  enum Route {
    case webSocket(Opening)
    /// A WebSocket that echoes its messages.
    case echo(Opening)
    /// An answer that needs only the head; such requests are rate-limited by address.
    case answer(HTTPResponse)
    /// An answer to a request that violates a rule.
    case refuse(HTTPResponse, Violations.Rule)
    /// The answer has to be found first.
    case call(HTTPCall)
  }

  /// The result of an opening handshake.
  struct Opening {
    var response: HTTPResponse
    /// The agreed parameters of compression; `nil` without it.
    var deflate: DeflateAgreement?
  }

  static let subprotocol = "relay.v1"

  /// Decides which pages may use the relay.
  let origin: RequestOrigin
  /// The bearer token for the metrics; empty = none.
  package var metricsToken = ""
  /// The bearer token for administration; empty = none.
  package var adminToken = ""
  /// Open mode on loopback: only pages of this machine may connect, even if other names resolve to
  /// it.
  package var requiresLoopbackHost: Bool
  /// The path below which a proxy has the relay, such as `/chat`; empty = none.
  package var pathPrefix = ""
  /// Whether `/echo` is served.
  package var servesEcho = false
  /// The maximum length of a request's content; 0 = no limit.
  package var contentLimitBytes = 0
  /// Whether permessage-deflate is accepted if a client offers it.
  package var compresses = false
  /// The files of the web page.
  package var files = WebFiles()
  /// How people sign in, as JSON.
  package var signInMethods: [UInt8] = []
  /// Whether the relay has accounts.
  package var servesAccounts = false
  /// The size of a file; 0 = no limit, `nil` = the relay keeps no files.
  package var fileLimitBytes: Int?
  /// Where browsers get files; `nil` = at the host of the page.
  package var fileHost: FileHost?

  package init(origins: Set<String>, requiresLoopbackHost: Bool) {
    origin = RequestOrigin(allowed: origins)
    self.requiresLoopbackHost = requiresLoopbackHost
  }

  /// - Parameters:
  ///   - peer: the other end of the connection.
  ///   - isOperator: whether that user is an operator.
  ///   - identify: authenticates the request.
  func route(
    _ request: HTTPRequest, from peer: ServerConnection.Peer = .client,
    isOperator: (Identity) -> Bool = { _ in false }, identify: () -> Authenticator.Answer
  ) -> Route {
    do throws(HTTPProblem) {
      if peer != .operator, let fileHost, fileHost.isHost(of: request) {
        return try routeAtFileHost(request)
      }
      guard let request = inner(request, peer) else { return try outside(request) }
      switch request.path {
      case "/ws": return try open(request, [Self.subprotocol]) { .webSocket($0) }
      case "/echo":
        guard servesEcho else {
          throw HTTPProblem(
            404, "Not found. The setting debug.echo: true enables the echo.", code: .unknownType)
        }
        return try open(request, []) { .echo($0) }
      default: return try page(request, peer, isOperator, identify)
      }
    } catch {
      return refuse(error, request)
    }
  }

  // MARK: - Below a path

  /// Returns the request without the prefix of its path; `nil` if it has none. Programs on the relay's own
  /// machine use no proxy: the operator's socket has no prefix, and health may be asked for without.
  private func inner(_ request: HTTPRequest, _ peer: ServerConnection.Peer) -> HTTPRequest? {
    if peer == .operator || ["/healthz", "/readyz"].contains(request.path) { return request }
    return request.below(pathPrefix)
  }

  /// Answers a request outside the prefix: sends a browser to the page, whose addresses are relative to a
  /// folder.
  private func outside(_ request: HTTPRequest) throws(HTTPProblem) -> Route {
    guard request.path == pathPrefix else { throw nothingHere }
    var response = HTTPResponse(status: 308)
    response.add("Location", "\(pathPrefix)/\(request.target.dropFirst(pathPrefix.count))")
    return .answer(response)
  }

  private func refuse(_ problem: HTTPProblem, _ request: HTTPRequest) -> Route {
    var response = problem.response
    if Self.isWebSocket(request) {
      response = HTTPResponse(status: problem.status, text: "\(problem.detail)\n")
    }
    if Tus.isSpoken(in: request) { response.add("Tus-Resumable", Tus.version) }
    if origin.allowsOthers { response.allowReading(by: foreignOrigin(of: request)) }
    response.answersHEAD = request.method == "HEAD"
    if let rule = problem.rule { return .refuse(response, rule) }
    return .answer(response)
  }

  private func open(
    _ request: HTTPRequest, _ subprotocols: [String], _ route: (Opening) -> Route
  ) throws(HTTPProblem) -> Route {
    try checkOrigin(of: request)
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
  private static func isWebSocket(_ request: HTTPRequest) -> Bool {
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

  /// Throws if the request comes from a page of another site, which must not act for the browser's
  /// user (RFC 6455 §10.2).
  /// - Parameter changesState: whether a `GET` would change something: then a person who follows a link
  ///   must not make the request either.
  func checkOrigin(of request: HTTPRequest, changesState: Bool = false) throws(HTTPProblem) {
    let page: String
    switch origin.sender(of: request) {
    case .program, .allowedPage: return
    case .ownPage where !requiresLoopbackHost || RequestOrigin.isLoopback(request.host): return
    case .person where !changesState: return
    case .person:
      throw .origin("This address is for programs and pages; open the relay's page instead.")
    case .ownPage: page = request.host
    case .otherPage(let origin): page = origin ?? "another site"
    }
    throw .origin("Pages from \(page) may not connect; add the origin to auth.origins to allow it.")
  }

  /// Returns the origin of a page of another site if that may read the answer.
  func foreignOrigin(of request: HTTPRequest) -> String? {
    request.headers.only("Origin").flatMap { origin.allows($0) ? $0 : nil }
  }
}
