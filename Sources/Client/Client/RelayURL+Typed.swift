extension RelayURL {
  /// Parses an address as a person types it: a URL; `HOST` or `HOST:PORT`; or the address of the
  /// relay's web page, `http://` or `https://`.
  ///
  /// Without a scheme only the own machine is reached without TLS, because the connection may carry
  /// a token. Query and fragment of a page's address belong to the page and are left out.
  public init(typed text: String) throws(Invalid) {
    do {
      try self.init(Self.completed(text))
    } catch {
      throw error.about(text)
    }
  }

  private static func completed(_ text: String) -> String {
    guard let colon = text.firstRange(of: "://") else {
      let authority = String(text.prefix { !"/?#".contains($0) })
      return (isThisMachine(authority) ? "ws://" : "wss://") + text
    }
    let rest = text[colon.upperBound...]
    let page = rest.prefix { !"?#".contains($0) }
    switch text[..<colon.lowerBound].lowercased() {
    case "http": return "ws://\(page)"
    case "https": return "wss://\(page)"
    default: return text
    }
  }

  /// Whether the host of `HOST` or `HOST:PORT` is a loopback name or address.
  private static func isThisMachine(_ authority: String) -> Bool {
    if authority == "[::1]" || authority.hasPrefix("[::1]:") { return true }
    return isLoopback(String(authority.prefix { $0 != ":" }))
  }

  private static func isLoopback(_ host: String) -> Bool {
    let host = host.lowercased()
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return host == "::1" || host == "localhost" || host.hasSuffix(".localhost")
      || numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }

  /// Whether what is sent there does not leave this machine: its host is a loopback name or address.
  public var isLoopback: Bool { Self.isLoopback(host) }

  /// Whether both have the same origin (RFC 6454 §4), as pages; all names of this machine count as
  /// one.
  func hasOrigin(of other: RelayURL) -> Bool {
    isEncrypted == other.isEncrypted && port == other.port
      && (host.lowercased() == other.host.lowercased() || isLoopback && other.isLoopback)
  }

  private static let segmentLimitBytes = 128

  /// Whether a text, such as an id that the relay has given, can be a part of a path: nothing in it
  /// needs to be encoded.
  package static func isSegment(_ text: String) -> Bool {
    1...segmentLimitBytes ~= text.utf8.count
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  /// Returns the target of a resource of the relay, such as `v1/sessions`: its page and its
  /// resources are in the folder of its socket.
  public func target(of resource: String) -> String {
    let path = target.prefix { $0 != "?" }
    return "\(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])/\(resource)"
  }

  /// Returns the address of a resource of the relay: `https://host/v1/files/…`.
  public func address(of resource: String) -> String {
    "\(isEncrypted ? "https" : "http")://\(authority)\(target(of: resource))"
  }
}

extension RelayURL.Invalid {
  /// The same error about the text that the person typed.
  fileprivate func about(_ text: String) -> Self {
    switch self {
    case .scheme: .scheme(text)
    case .encrypted: .encrypted(text)
    case .authority: .authority(text)
    case .target: .target(text)
    }
  }
}
