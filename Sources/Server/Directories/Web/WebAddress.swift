/// The origin and path of an http or https URL (RFC 3986).
package struct WebAddress: Equatable, Sendable {
  /// `https://api.github.com`, in lower case, with the port only if it is not the default. Secrets
  /// are bound to an origin (RFC 6454 §4).
  package let origin: String
  package let host: String
  /// The part after the origin; a base URL has no trailing slash.
  package let path: String
  package var isEncrypted: Bool { origin.hasPrefix("https:") }

  /// Returns `nil` unless this is such a URL, without user information and invalid characters.
  package init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") })
    else { return nil }
    let lower = text.lowercased()
    guard let scheme = ["http://", "https://"].first(where: { lower.hasPrefix($0) })
    else { return nil }
    let rest = lower.dropFirst(scheme.count)
    let authority = rest.prefix { !"/?#".contains($0) }
    var host = authority
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      guard let port = UInt16(authority[authority.index(after: colon)...]), port > 0
      else { return nil }
      host = authority[..<colon]
      let isUsual = port == (scheme == "http://" ? 80 : 443)
      origin = "\(scheme)\(host)\(isUsual ? "" : ":\(port)")"
    } else {
      origin = scheme + authority
    }
    guard !host.isEmpty, !authority.contains("@") else { return nil }
    self.host = String(host)
    path = String(text.dropFirst(scheme.count + authority.count))
  }

  /// Whether the host is this machine.
  package var isLoopback: Bool {
    let bytes = host.split(separator: ".", omittingEmptySubsequences: false)
    return host == "localhost" || host == "[::1]"
      || bytes.count == 4 && bytes[0] == "127" && bytes.allSatisfy { UInt8($0) != nil }
  }

  /// Percent-encodes a value for a path or a query (RFC 3986 §2.3).
  package static func escaped(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 48...57, 65...90, 97...122, 45, 46, 95, 126: bytes.append(byte)
      default: bytes += [37, hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
