import WebSocket

/// Decides what an HTTP request gets: a WebSocket, or an answer. Pure.
struct RequestRouter {
  enum Route {
    case webSocket(Opening)
    /// A WebSocket that gives back what it is sent.
    case echo(Opening)
    case answer([UInt8])
    /// An answer to a request that breaks a rule.
    case refuse([UInt8], Violations.Rule)
    /// The counts; whether the head alone is asked for.
    case metrics(headOnly: Bool)
  }

  /// What the opening handshake has come to.
  struct Opening {
    var response: [UInt8]
    /// How messages may be compressed; `nil` if they may not.
    var deflate: DeflateAgreement?
  }

  static let subprotocol = "relay.v1"

  /// Allowed values of `Origin` besides the relay's own host.
  var origins: Set<String>
  /// Open mode on loopback: only pages of this machine may connect, whatever their name resolves to.
  var requiresLoopbackHost: Bool
  /// Whether there is an echo.
  var servesEcho = false
  /// Whether permessage-deflate is agreed to where it is offered.
  var compresses = false

  /// - Parameter isLocal: whether the request comes from this machine.
  func route(_ request: HTTPRequest, isLocal: Bool) -> Route {
    switch request.path {
    case "/ws":
      return open(request, [Self.subprotocol]) { .webSocket($0) }
    case "/echo":
      guard servesEcho else {
        let response = HTTPResponse(
          status: 404,
          text: "There is no echo here; debug.echo: true in the configuration makes one.\n")
        return .answer(request.method == "HEAD" ? response.head : response.bytes)
      }
      return open(request, []) { .echo($0) }
    case "/healthz":
      if let refusal = refusal(ofMethodIn: request) { return .answer(refusal.bytes) }
      let response = HTTPResponse(status: 200, text: "ok\n")
      return .answer(request.method == "HEAD" ? response.head : response.bytes)
    case "/metrics": return metrics(request, isLocal: isLocal)
    default:
      let response = HTTPResponse(
        status: 404,
        text:
          "There is nothing here. The WebSocket is at /ws, its state at /healthz and /metrics.\n")
      return .answer(request.method == "HEAD" ? response.head : response.bytes)
    }
  }

  private func refusal(ofMethodIn request: HTTPRequest) -> HTTPResponse? {
    if request.method == "GET" || request.method == "HEAD" { return nil }
    var response = HTTPResponse(status: 405, text: "Only GET and HEAD are served here.\n")
    response.add("Allow", "GET, HEAD")
    return response
  }

  private func metrics(_ request: HTTPRequest, isLocal: Bool) -> Route {
    if let refusal = refusal(ofMethodIn: request) { return .answer(refusal.bytes) }
    guard isLocal else {
      let text = "The metrics are for this machine only: ask from 127.0.0.1 or [::1].\n"
      return .answer(HTTPResponse(status: 403, text: text).bytes)
    }
    if let refusal = refusal(ofOriginIn: request) { return .refuse(refusal.bytes, .origins) }
    // A page whose name resolves to this machine reads what has its own origin, and sends no
    // Origin for that (DNS rebinding).
    guard Self.isLoopback(request.host.lowercased()) else {
      let text = "The metrics are not there for \(request.host): ask for 127.0.0.1 or [::1].\n"
      return .refuse(HTTPResponse(status: 403, text: text).bytes, .origins)
    }
    return .metrics(headOnly: request.method == "HEAD")
  }

  private func open(
    _ request: HTTPRequest, _ subprotocols: [String], _ route: (Opening) -> Route
  ) -> Route {
    if let refusal = refusal(ofOriginIn: request) { return .refuse(refusal.bytes, .origins) }
    switch ServerHandshake.answer(request, subprotocols: subprotocols, compresses: compresses) {
    case .accept(let response, _, let deflate):
      return route(Opening(response: response, deflate: deflate))
    case .refuse(_, _, let response): return .refuse(response, .handshake)
    }
  }

  /// A browser sends `Origin`; a page of another site must not speak for the person at it
  /// (RFC 6455 §10.2).
  private func refusal(ofOriginIn request: HTTPRequest) -> HTTPResponse? {
    let values = request.headers["Origin"]
    guard let origin = values.first else { return nil }
    if values.count == 1, origins.contains(origin) { return nil }
    let host = Self.host(ofOrigin: origin)
    if values.count == 1, let host, host == request.host.lowercased(),
      !requiresLoopbackHost || Self.isLoopback(host)
    {
      return nil
    }
    return HTTPResponse(
      status: 403,
      text:
        "Pages from \(origin) may not connect; auth.origins in the configuration can allow it.\n")
  }

  /// `host[:port]` of `scheme://host[:port]`.
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
