/// What makes a name, a text or an origin one that the protocol knows, and which known name an
/// unknown one was meant to be.
enum ConfigurationRules {
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
  static func isTitle(_ text: String) -> Bool {
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

  /// `fsync, os or memory`.
  static func alternatives<Value: RawRepresentable<String> & CaseIterable>(
    of type: Value.Type
  ) -> String {
    let names = type.allCases.map(\.rawValue)
    return names.count == 1
      ? names[0] : "\(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1])"
  }

  /// The candidate that `name` was probably meant to be; `nil` where none is near.
  static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
    let limit = max(1, min(3, name.utf8.count / 3))
    let ranked = candidates.map { (distance(name, $0), $0) }
    guard let best = ranked.min(by: { $0 < $1 }), best.0 <= limit else { return nil }
    return best.1
  }

  /// Edits between two names: a byte added, dropped or replaced, or two neighbours swapped
  /// (optimal string alignment).
  static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a.utf8.prefix(128))
    let b = Array(b.utf8.prefix(128))
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
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
