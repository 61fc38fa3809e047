import WebSocket

/// Which page a request comes from, as far as a browser says: `Origin` (RFC 6454 §7) and
/// `Sec-Fetch-Site` (W3C, Fetch Metadata). A browser sends no `Origin` with an image, a script or
/// another `GET` without CORS, and no `Sec-Fetch-Site` to a host that it reaches by plain HTTP, unless that is
/// this machine; a program sends neither.
struct RequestOrigin {
  /// Where a request comes from.
  enum Sender: Equatable {
    /// A program, or a browser that does not say what its page is.
    case program
    /// A page of the relay itself.
    case ownPage
    /// A page of an allowed origin, in the spelling of the browser.
    case allowedPage
    /// A person who has typed the address, or chosen a bookmark.
    case person
    /// A page of another site, with its name if the browser says it.
    case otherPage(String?)
  }

  /// Allowed values of `Origin` besides the relay's own, without default ports.
  private let allowed: Set<String>

  init(allowed: Set<String>) {
    self.allowed = Set(
      allowed.map { Self.split(origin: $0).map { $0.scheme + $0.authority } ?? $0 })
  }

  func sender(of request: HTTPRequest) -> Sender {
    let sites = request.headers["Sec-Fetch-Site"]
    let origins = request.headers["Origin"]
    guard let origin = origins.first else {
      switch sites {
      case []: return .program
      case ["same-origin"]: return .ownPage
      case ["none"]: return .person
      default: return .otherPage(nil)
      }
    }
    guard origins.count == 1, let (scheme, authority) = Self.split(origin: origin) else {
      return .otherPage(origin)
    }
    if allowed.contains(scheme + authority) { return .allowedPage }
    let host = request.host.lowercased()
    // A proxy may pass on the host without its port. The browser has compared them.
    let isOwn =
      authority == Self.withoutDefaultPort(host, scheme)
      || sites == ["same-origin"] && Self.name(authority) == Self.name(host)
    return isOwn ? .ownPage : .otherPage(origin)
  }

  /// Whether pages of other sites may read answers.
  var allowsOthers: Bool { !allowed.isEmpty }

  /// Whether the origin is in the list of allowed ones.
  func allows(_ origin: String) -> Bool {
    Self.split(origin: origin).map { allowed.contains($0.scheme + $0.authority) } ?? false
  }

  /// Splits `scheme://host[:port]`, in lower case and without the port if it is the default.
  private static func split(origin: String) -> (scheme: String, authority: String)? {
    let origin = origin.lowercased()
    for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
      return (scheme, withoutDefaultPort(String(origin.dropFirst(scheme.count)), scheme))
    }
    return nil
  }

  private static func withoutDefaultPort(_ authority: String, _ scheme: String) -> String {
    let port = scheme == "https://" ? ":443" : ":80"
    return authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
  }

  /// Returns the name or address of `NAME`, `NAME:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
  static func name(_ authority: String) -> Substring {
    guard let colon = authority.lastIndex(of: ":"),
      authority[authority.index(after: colon)...].utf8.allSatisfy({ 48...57 ~= $0 })
    else { return authority[...] }
    return authority[..<colon]
  }

  /// Whether the value of `Host` is this machine, by its address or as `localhost`.
  static func isLoopback(_ host: String) -> Bool {
    let name = name(host.lowercased())
    if name == "localhost" || name == "[::1]" { return true }
    let octets = name.split(separator: ".", omittingEmptySubsequences: false)
    return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { UInt8($0) != nil }
  }
}
