import Accounts
import WebSocket

/// The cookie by which a browser proves the session of its device, and the rule against requests that
/// a page of another site makes with it (RFC 6265 §8.2).
package struct SessionCookie: Sendable {
  /// `__Host-` binds it to this host, https and the whole path, so that no other host can set it
  /// (RFC 6265bis §4.1.3.2). The cookie of a relay below a path is for that path alone, so that the host's
  /// other services do not get it. Without https the port is part of the name: browsers send the cookies
  /// of all ports of a host.
  package let name: String
  private let isSecure: Bool
  /// The origin whose pages may use it; `nil` = that of the request's `Host`, if it is a loopback
  /// name.
  private let origin: String?
  private let scheme: String
  private let path: String

  /// Browsers keep no cookie longer (RFC 6265bis §5.5). The relay ends the session earlier.
  private static let maximumAgeSeconds = 34_560_000
  /// How long a person may take at a provider.
  private static let attemptSeconds = 600

  /// - Parameters:
  ///   - url: where browsers find the relay, such as `https://chat.example.org`.
  ///   - isDefault: whether the URL is derived from a loopback address, so that other loopback names
  ///     are as good.
  ///   - pathPrefix: the path below which the relay is, without a slash at the end.
  package init(url: String, isDefault: Bool, pathPrefix: String = "") {
    isSecure = url.hasPrefix("https://")
    scheme = isSecure ? "https://" : "http://"
    let authority = url.dropFirst(scheme.utf8.count).prefix { $0 != "/" }.lowercased()
    let port = authority.reversed().prefix { "0"..."9" ~= $0 }.reversed()
    path = "\(pathPrefix)/"
    let secureName = pathPrefix.isEmpty ? "__Host-relay" : "__Secure-relay"
    name = isSecure ? secureName : "relay-\(port.isEmpty ? "80" : String(port))"
    origin = isDefault ? nil : scheme + authority
  }

  /// Returns the token of a request; `nil` without one.
  func token(in request: HTTPRequest) -> String? { Self.value(of: name, in: request) }

  /// Returns the secret of a browser that has begun to sign in at a provider; `nil` without one.
  func attemptSecret(in request: HTTPRequest) -> String? {
    Self.value(of: attemptName, in: request)
  }

  private var attemptName: String { "\(name)-sign-in" }

  private static func value(of name: String, in request: HTTPRequest) -> String? {
    for field in request.headers["Cookie"] {
      for pair in field.split(separator: ";") {
        let pair = pair.drop { $0 == " " || $0 == "\t" }
        guard let equals = pair.firstIndex(of: "="), pair[..<equals] == name else { continue }
        return String(pair[pair.index(after: equals)...])
      }
    }
    return nil
  }

  /// Whether a request may use the cookie: a page of the relay makes it, or a program, which has no
  /// page and reads only.
  func mayBeUsed(by request: HTTPRequest) -> Bool {
    if !request.headers["Origin"].isEmpty { return isOwn(request) }
    switch request.headers["Sec-Fetch-Site"] {
    case ["same-origin"]: return true
    case []:
      return (request.method == "GET" || request.method == "HEAD")
        && !request.headers.contains("websocket", in: "Upgrade")
    default: return false
    }
  }

  /// Whether the answer to a request may set the cookie: no page of another origin makes it.
  func maySet(for request: HTTPRequest) -> Bool {
    request.headers["Origin"].isEmpty || isOwn(request)
  }

  private func isOwn(_ request: HTTPRequest) -> Bool {
    guard let found = request.headers.only("Origin")?.lowercased() else { return false }
    if let origin { return found == origin }
    return RequestOrigin.isLoopback(request.host) && found == scheme + request.host.lowercased()
  }

  /// Returns the values of `Set-Cookie` for a change.
  func fields(_ change: AccountAnswer.Cookie) -> [String] {
    switch change {
    case .session(let token): [field(name, token, Self.maximumAgeSeconds)]
    case .none: [field(name, "", 0)]
    case .attempt(let secret): [field(attemptName, secret, Self.attemptSeconds)]
    case .attemptEnded(let token?):
      [field(attemptName, "", 0), field(name, token, Self.maximumAgeSeconds)]
    case .attemptEnded(nil): [field(attemptName, "", 0)]
    }
  }

  private func field(_ name: String, _ value: String, _ maximumAgeSeconds: Int) -> String {
    "\(name)=\(value); Path=\(path); Max-Age=\(maximumAgeSeconds); HttpOnly; SameSite=Lax"
      + (isSecure ? "; Secure" : "")
  }
}
