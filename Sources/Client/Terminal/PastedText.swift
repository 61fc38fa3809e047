/// A bracketed paste (xterm, mode 2004) that is being received.
struct PastedText: Sendable {
  private static let end: [UInt8] = Array("\u{1B}[201~".utf8)

  private let limitBytes: Int
  private var bytes: [UInt8] = []
  private var isFull = false
  /// The number of bytes of `end` that the last bytes match.
  private var matched = 0

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// - Returns: The text, when it is complete.
  mutating func addByte(_ byte: UInt8) -> String? {
    if byte == Self.end[matched] {
      matched += 1
      guard matched == Self.end.count else { return nil }
      return end()
    }
    // ESC occurs only at the start of `end`, so no match can begin within the matched bytes.
    for index in 0..<matched { keep(Self.end[index]) }
    matched = 0
    if byte == Self.end[0] { matched = 1 } else { keep(byte) }
    return nil
  }

  /// Ends the paste, also where its end was lost.
  mutating func end() -> String {
    defer { self = PastedText(limitBytes: limitBytes) }
    return Self.text(of: bytes)
  }

  private mutating func keep(_ byte: UInt8) {
    if isFull { return }
    if bytes.count < limitBytes {
      bytes.append(byte)
      return
    }
    isFull = true
    // Does not split a scalar.
    guard byte & 0xC0 == 0x80 else { return }
    while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
  }

  /// Converts line breaks to `\n`, and removes control characters except those and tabs.
  private static func text(of bytes: [UInt8]) -> String {
    var text = String.UnicodeScalarView()
    var previous: Unicode.Scalar = " "
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar.value {
      case 0x0A: if previous != "\r" { text.append("\n") }
      case 0x0D: text.append("\n")
      case 0x09: text.append(scalar)
      case 0..<0x20, 0x7F..<0xA0: break
      default: text.append(scalar)
      }
      previous = scalar
    }
    return String(text)
  }
}
