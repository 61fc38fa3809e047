internal import Platform

/// The URL of a relay: `ws://HOST[:PORT][/PATH][?QUERY]`, or `wss://` with TLS (RFC 6455 §3).
public struct RelayURL: Hashable, Sendable, CustomStringConvertible {
  /// Why a text is not such a URL; prints as a sentence.
  public enum Invalid: Error, Hashable, Sendable, CustomStringConvertible {
    /// The scheme is neither `ws:` nor `wss:`.
    case scheme(String)
    /// `wss:`, for a program without TLS.
    case encrypted(String)
    /// There is no host, or the port is invalid.
    case authority(String)
    /// The target has a character that must be percent-encoded, or a fragment.
    case target(String)

    /// A single line for the user.
    public var description: String {
      switch self {
      case .scheme(let url):
        "\"\(url)\" does not begin with ws:// or wss://, as in ws://127.0.0.1:8080/ws"
      case .encrypted(let url):
        "\"\(url)\": TLS is not supported; use ws://, on this machine or through a tunnel"
      case .authority(let url):
        "\"\(url)\" has no valid host and port, as in ws://127.0.0.1:8080/ws or ws://[::1]:8080/ws"
      case .target(let url):
        "\"\(url)\" has an invalid character after the host; percent-encode it"
      }
    }
  }

  /// Whether it is `wss:`.
  public let isEncrypted: Bool
  /// A name or a numeric address, without brackets.
  public let host: String
  /// 80, or 443 with TLS, unless the URL names another port.
  public let port: UInt16
  /// Path and query, as in the request. To the path of a folder, and to none, `ws` is added, where a relay
  /// listens.
  public let target: String

  /// Parses a URL.
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

    let path = rest[end...].prefix { $0 != "?" && $0 != "#" }
    let folder = path.isEmpty ? "/" : path
    let target = "\(folder)\(folder.hasSuffix("/") ? "ws" : "")\(rest[path.endIndex...])"
    guard target.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") }) else {
      throw .target(text)
    }
    self.target = target
  }

  /// Parses a URL for a program without TLS; throws if it needs TLS.
  public init(inClear text: String) throws(Invalid) {
    try self.init(text)
    if isEncrypted { throw .encrypted(text) }
  }

  private static func usualPort(_ isEncrypted: Bool) -> UInt16 { isEncrypted ? 443 : 80 }

  /// The `Host` header: with the port unless it is the scheme's default (RFC 6455 §4.1).
  public var authority: String {
    let bracketed = host.contains(":") ? "[\(host)]" : host
    return port == Self.usualPort(isEncrypted) ? bracketed : "\(bracketed):\(port)"
  }

  /// Returns the target with one more query item; name and value must need no encoding.
  public func target(adding name: String, _ value: String) -> String {
    "\(target)\(target.contains("?") ? "&" : "?")\(name)=\(value)"
  }

  /// The URL without its query, which may contain a token.
  public var description: String {
    "\(isEncrypted ? "wss" : "ws")://\(authority)\(target.prefix { $0 != "?" })"
  }

  /// Allows letters, digits and the punctuation of addresses, but nothing that could begin another
  /// header.
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
