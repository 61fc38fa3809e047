internal import Platform

/// Where a relay is: `ws://HOST[:PORT][/PATH][?QUERY]`, or `wss://` where it speaks TLS
/// (RFC 6455 §3).
public struct RelayURL: Hashable, Sendable, CustomStringConvertible {
  /// Why a text is no such URL; prints as a sentence.
  public enum Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    /// Neither `ws:` nor `wss:`.
    case scheme(String)
    /// `wss:`, for a program that has no TLS.
    case encrypted(String)
    /// No host, or a port that is none.
    case authority(String)
    /// A character that has to be percent-encoded, or a fragment.
    case target(String)

    /// One line for a person.
    public var description: String {
      switch self {
      case .scheme(let url):
        "\"\(url)\" does not begin with ws:// or wss://, as in ws://127.0.0.1:8080/ws"
      case .encrypted(let url):
        "\"\(url)\": there is no TLS here; use ws://, on this machine or through a tunnel"
      case .authority(let url):
        "\"\(url)\" names no host and port, as in ws://127.0.0.1:8080/ws or ws://[::1]:8080/ws"
      case .target(let url):
        "\"\(url)\" has a character after the host that cannot stand there; percent-encode it"
      }
    }
  }

  /// Whether it is `wss:`.
  public let isEncrypted: Bool
  /// A name or a numeric address, without brackets.
  public let host: String
  /// 80, or 443 with TLS, unless the URL says something else.
  public let port: UInt16
  /// Path and query, as the request has them. The path is `/ws` where the URL has none, since
  /// that is where a relay listens.
  public let target: String

  /// Reads a URL.
  public init(_ text: String) throws(Invalid) {
    guard let colon = text.firstRange(of: "://") else { throw .scheme(text) }
    switch text[..<colon.lowerBound].lowercased() {
    case "ws": isEncrypted = false
    case "wss": isEncrypted = true
    default: throw .scheme(text)
    }
    let rest = text[colon.upperBound...]
    let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
    let authority = String(rest[..<end])
    do {
      let hasPort = authority.last != "]" && authority.contains(":")
      let usual = Self.usualPort(isEncrypted)
      (host, port) = try Address.split(hasPort ? authority : "\(authority):\(usual)")
    } catch {
      throw .authority(text)
    }
    guard Self.isHost(host) else { throw .authority(text) }

    var target = String(rest[end...])
    if !target.hasPrefix("/") { target = "/ws\(target)" } else if target == "/" { target = "/ws" }
    guard target.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }) else {
      throw .target(text)
    }
    self.target = target
  }

  /// Reads a URL for a program that has no TLS: throws where that would be needed.
  public init(inClear text: String) throws(Invalid) {
    try self.init(text)
    if isEncrypted { throw .encrypted(text) }
  }

  private static func usualPort(_ isEncrypted: Bool) -> UInt16 { isEncrypted ? 443 : 80 }

  /// The `Host` header: with the port unless it is the scheme's own (RFC 6455 §4.1).
  public var authority: String {
    let bracketed = host.contains(":") ? "[\(host)]" : host
    return port == Self.usualPort(isEncrypted) ? bracketed : "\(bracketed):\(port)"
  }

  /// The target with one more query item; name and value must need no encoding.
  public func target(adding name: String, _ value: String) -> String {
    "\(target)\(target.contains("?") ? "&" : "?")\(name)=\(value)"
  }

  /// The URL without its query, which may hold a token.
  public var description: String {
    "\(isEncrypted ? "wss" : "ws")://\(authority)\(target.prefix { $0 != "?" })"
  }

  /// Letters, digits and what addresses need: nothing that could begin another header.
  private static func isHost(_ host: String) -> Bool {
    host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "%"):
        true
      default: false
      }
    }
  }
}
