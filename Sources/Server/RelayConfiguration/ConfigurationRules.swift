/// What makes a name, a text or an origin one that the protocol knows.
package enum ConfigurationRules {
  static let expectedUser = "expected 1 to 64 of a-z 0-9 . _ -"
  static let expectedRoom =
    "expected 1 to 140 of a-z 0-9 . _ : -, and neither dm: nor sys: in front"

  static func isUser(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { isNameByte($0) }
  }

  /// A room that a configuration may name: those of two people and the relay's own make themselves.
  static func isRoom(_ name: String) -> Bool {
    (1...140).contains(name.utf8.count)
      && name.utf8.allSatisfy { isNameByte($0) || $0 == UInt8(ascii: ":") }
      && !name.hasPrefix("dm:") && !name.hasPrefix("sys:")
  }

  /// A name for people: one line of at most 200 bytes.
  package static func isTitle(_ text: String) -> Bool {
    (1...200).contains(text.utf8.count) && !isBlank(text)
      && text.unicodeScalars.allSatisfy { $0 != "\n" && $0 != "\t" && isPrintable($0) }
  }

  /// What a client could send as `text`, whatever its length.
  static func isSayable(_ text: String) -> Bool {
    !isBlank(text) && text.unicodeScalars.allSatisfy(isPrintable)
  }

  /// As a browser writes it (RFC 6454 §6.2): scheme, host, and the port if it is not the usual one.
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

  /// A secret is as long as the hash at least (RFC 7518 §3.2).
  static let secretBytes = 32

  /// Whether a key is given as such, and not as the path of a file that holds it.
  package static func isPEM(_ text: String) -> Bool { text.contains("-----BEGIN ") }

  /// `fsync, os or memory`.
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

  private static func isBlank(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy(\.properties.isWhitespace)
  }

  /// Neither C0 (but newline and tab), DEL nor C1.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 9, 10: true
    case ..<32, 127...159: false
    default: true
    }
  }
}
