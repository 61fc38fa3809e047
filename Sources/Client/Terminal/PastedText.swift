/// A paste in brackets (xterm, mode 2004), as it comes.
struct PastedText: Sendable {
  private static let end: [UInt8] = Array("\u{1B}[201~".utf8)

  private let limitBytes: Int
  private var bytes: [UInt8] = []
  private var isFull = false
  /// How much of `end` the last bytes are.
  private var matched = 0

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// - Returns: the text, once it is whole.
  mutating func take(_ byte: UInt8) -> String? {
    if byte == Self.end[matched] {
      matched += 1
      guard matched == Self.end.count else { return nil }
      defer { self = PastedText(limitBytes: limitBytes) }
      return Self.text(of: bytes)
    }
    // ESC only begins it: nothing of what was matched can be another beginning.
    for index in 0..<matched { keep(Self.end[index]) }
    matched = 0
    if byte == Self.end[0] { matched = 1 } else { keep(byte) }
    return nil
  }

  private mutating func keep(_ byte: UInt8) {
    if isFull { return }
    if bytes.count < limitBytes {
      bytes.append(byte)
      return
    }
    isFull = true
    // Not within a scalar.
    guard byte & 0xC0 == 0x80 else { return }
    while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
  }

  /// Line breaks as `\n`; of control characters only those and tabs.
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
