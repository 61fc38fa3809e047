internal import Directories
internal import Wire

/// The rules of the protocol for names, texts and origins.
package enum ConfigurationRules {
  static let user = "1 to 64 of a-z 0-9 . _ -, not . or .."
  static let expectedUser = "expected \(user)"
  static let expectedRoom =
    "expected 1 to 140 of a-z 0-9 . _ : -, not . or .., and not beginning with dm: or sys:"

  static func isUser(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { isNameByte($0) }
      && !isPathSegment(name)
  }

  /// Whether a configuration may name this room; direct rooms and the relay's own cannot be named.
  static func isRoom(_ name: String) -> Bool {
    (1...140).contains(name.utf8.count)
      && name.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: ":") }
      && !isPathSegment(name) && !name.hasPrefix("dm:") && !name.hasPrefix("sys:")
  }

  package static let expectedTitle =
    "one line of 1 to 200 bytes, without characters that change its direction"

  /// Whether a text is a valid display name, as accounts have.
  package static func isTitle(_ text: String) -> Bool { LabelText.isName(text, bytes: 200) }

  /// Whether a client could send it as `text`, apart from its length.
  static func isSayable(_ text: String) -> Bool {
    !isBlank(text) && text.unicodeScalars.allSatisfy(isPrintable)
  }

  /// Whether it is an origin as a browser sends it (RFC 6454 §6.2): scheme, host, and the port if
  /// it is not the default.
  static func isOrigin(_ text: String) -> Bool {
    for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
      let host = text.utf8.dropFirst(scheme.utf8.count)
      return !host.isEmpty
        && host.allSatisfy {
          $0 > 32 && $0 < 127 && !(65...90).contains($0) && !"/?#@\\*,".utf8.contains($0)
        }
    }
    return false
  }

  /// Whether it is a path that needs no percent-encoding, and that browsers leave as it is.
  static func isBucket(_ text: String) -> Bool {
    (3...63).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "-.".utf8.contains($0)
      }
  }

  static func isPathPrefix(_ text: String) -> Bool {
    let segments = text.split(separator: "/", omittingEmptySubsequences: false)
    return segments.first == "" && segments.count > 1
      && segments.dropFirst().allSatisfy { segment in
        !["", ".", ".."].contains(segment)
          && segment.utf8.allSatisfy { byte in
            switch byte {
            case 48...57, 65...90, 97...122: true
            default: "._~-".utf8.contains(byte)
            }
          }
      }
  }

  /// Whether it is the address of a service, which gets secrets: https, or http to this machine; without a
  /// slash at the end, a user or a query.
  static func isServiceURL(_ text: String) -> Bool {
    guard let address = WebAddress(text), !address.path.hasSuffix("/"),
      !address.path.contains(where: { "?#".contains($0) })
    else { return false }
    return address.isEncrypted || address.isLoopback
  }

  /// Whether it may be the issuer of ID tokens: as a service's address, also with a slash at the end.
  static func isIssuer(_ text: String) -> Bool {
    isServiceURL(text.hasSuffix("/") ? String(text.dropLast()) : text)
  }

  static func isClaimName(_ text: String) -> Bool { (1...200).contains(text.utf8.count) }

  static let expectedKeyName = "expected 1 to 200 of ASCII's printable characters"

  /// Whether it may name a key: the header of a token has it.
  static func isKeyName(_ text: String) -> Bool {
    (1...200).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
  }

  /// The minimum length of a secret, which is that of the hash (RFC 7518 §3.2).
  static let secretBytes = 32

  /// The minimum length of the token for the metrics.
  static let metricsTokenBytes = 16

  /// Whether a key is given in place, and not as the path of a file.
  package static func isPEM(_ text: String) -> Bool { text.contains("-----BEGIN ") }

  /// Lists the values, as in `fsync, os or memory`.
  static func alternatives<Value: RawRepresentable<String> & CaseIterable>(
    of type: Value.Type
  ) -> String {
    let names = type.allCases.map(\.rawValue)
    return names.count == 1
      ? names[0] : "\(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1])"
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (97...122).contains(byte) || (48...57).contains(byte) || ".-_".utf8.contains(byte)
  }

  /// Clients and proxies remove these segments from the path of a URL (RFC 3986 §5.2.4).
  private static func isPathSegment(_ name: String) -> Bool { name == "." || name == ".." }

  private static func isBlank(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy {
      $0.properties.isWhitespace || $0.properties.isDefaultIgnorableCodePoint
    }
  }

  /// Whether a character is neither C0 (except newline and tab), DEL nor C1.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10: true
    case ..<32, 127...159: false
    default: true
    }
  }
}
