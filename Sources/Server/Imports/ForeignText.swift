import Relay
import Wire

/// Texts of other chats within the rules of relay.v1.
enum ForeignText {
  /// What an entry may have by default (`limits.text_bytes`).
  private static let limitBytes = Shard.Limits().textBytes

  /// Returns a text without control characters, in parts that fit into entries, if possible by lines; none
  /// of a blank text.
  static func parts(of text: String) -> [String] {
    var clean = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x09, 0x0A, 0x20..<0x7F, 0xA0...: clean.append(scalar)
      default: continue
      }
    }
    var rest = Substring(String(clean))
    var parts: [String] = []
    while rest.utf8.count > limitBytes {
      let bytes = rest.utf8
      // Not within a scalar.
      var end = bytes.index(bytes.startIndex, offsetBy: limitBytes)
      while bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
      let whole = rest[..<end]
      // Not far from the end, so that there are few parts.
      let late = whole.utf8.dropFirst(limitBytes / 2)
      let gap = late.lastIndex(of: UInt8(ascii: "\n")) ?? late.lastIndex(of: UInt8(ascii: " "))
      let cut = gap.map(bytes.index(after:)) ?? end
      parts.append(String(rest[..<cut]))
      rest = rest[cut...]
    }
    parts.append(String(rest))
    return parts.filter(LabelText.isVisible)
  }

  /// Returns a text as a title or topic: one line of at most `limit` scalars; `nil` if nothing is left.
  static func label(_ text: String, limit: Int) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(limit) {
      let isLine = LabelText.isOneLine(String(Character(scalar)))
      scalars.append(isLine ? scalar : " ")
    }
    let label = String(scalars)
    return LabelText.isVisible(label) ? label : nil
  }
}
