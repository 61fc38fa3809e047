package import WebSocket

/// Finds the client of a request that came through trusted proxies.
package struct ProxyChain: Sendable {
  /// One computer that the request came through.
  package struct Hop: Equatable, Sendable {
    package var host: HostKey
    /// Whether it is a proxy that is believed what it says of its own client.
    package var isTrusted: Bool

    package init(host: HostKey, isTrusted: Bool) {
      self.host = host
      self.isTrusted = isTrusted
    }
  }

  /// Stands for all clients that a proxy does not name: they share their limits.
  package static let unnamed = HostKey(network: 0, isIPv6: false)

  /// Reads a numeric address; `nil` for anything else.
  private let hop: @Sendable (String) -> Hop?

  package init(hop: @escaping @Sendable (String) -> Hop? = { _ in nil }) { self.hop = hop }

  /// Returns the last hop that is not a trusted proxy: what comes before it, the client may have
  /// written itself. If all are trusted, the first one is the client.
  ///
  /// A proxy that adds one of the two fields passes the other one on as the client has sent it. So if
  /// both are there and name different clients, neither is believed.
  package func client(of request: HTTPRequest) -> HostKey {
    let named = [Self.forwarded(request), Self.forwardedFor(request)].compactMap { $0 }
    let clients = named.map { client(of: $0) }
    guard let client = clients.first, clients.allSatisfy({ $0 == client }) else {
      return Self.unnamed
    }
    return client
  }

  private func client(of hops: [String]) -> HostKey {
    var client = Self.unnamed
    for text in hops.reversed() {
      // `unknown` and obfuscated names (RFC 7239 §6.2, §6.3) end the chain.
      guard let hop = hop(Self.address(text)) else { break }
      client = hop.host
      if !hop.isTrusted { break }
    }
    return client
  }

  /// Returns the address of `ADDRESS`, `ADDRESS:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
  private static func address(_ text: String) -> String {
    if text.hasPrefix("[") { return String(text.dropFirst().prefix { $0 != "]" }) }
    let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
    return colons == 1 ? String(text.prefix { $0 != ":" }) : text
  }

  /// The hops of `X-Forwarded-For`, in order; `nil` without the field.
  private static func forwardedFor(_ request: HTTPRequest) -> [String]? {
    request.headers["X-Forwarded-For"].isEmpty ? nil : request.headers.list("X-Forwarded-For")
  }

  /// The `for` of each element of `Forwarded` (RFC 7239 §4), in order, empty where it is missing;
  /// `nil` without the field.
  private static func forwarded(_ request: HTTPRequest) -> [String]? {
    let fields = request.headers["Forwarded"]
    if fields.isEmpty { return nil }
    return fields.flatMap { split($0, at: ",") }.map { element in
      let pairs = split(element, at: ";").map { pair in
        pair.filter { $0 != " " && $0 != "\t" && $0 != "\"" }.split(separator: "=", maxSplits: 1)
      }
      return pairs.first { $0.count == 2 && $0[0].lowercased() == "for" }.map { String($0[1]) }
        ?? ""
    }
  }

  /// Splits at a separator outside quoted strings (RFC 9110 §5.6.4).
  private static func split(_ text: String, at separator: Character) -> [String] {
    var parts = [""]
    var isQuoted = false
    for character in text {
      if character == "\"" { isQuoted.toggle() }
      if character == separator, !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].append(character)
      }
    }
    return parts
  }
}
