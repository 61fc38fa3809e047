/// The position and the style in which the terminal writes next.
struct Pen: Sendable {
  /// nil if it is not known.
  var position: Position?
  private(set) var style = Style()
  /// The link that is open, as numbered in the frame; 0 for none.
  var link: UInt8 = 0

  /// Moves the cursor with the shortest sequence (ECMA-48 §8.3: CUP, CUF, CHA).
  mutating func move(to target: Position, into bytes: inout [UInt8]) {
    defer { position = target }
    if position == target { return }
    endLink(into: &bytes)
    if let position, position.row == target.row {
      let distance = target.column - position.column
      if target.column == 0 {
        bytes.append(0x0D)
      } else if distance > 0, distance < target.column + 1 {
        bytes.appendSequence(distance, final: "C")
      } else {
        bytes.appendSequence(target.column + 1, final: "G")
      }
      return
    }
    bytes.append(ascii: "\u{1B}[")
    if target.row > 0 || target.column > 0 { bytes.append(decimal: target.row + 1) }
    if target.column > 0 {
      bytes.append(ascii: ";")
      bytes.append(decimal: target.column + 1)
    }
    bytes.append(ascii: "H")
  }

  /// Sets only those attributes of a style that are visible on a blank.
  mutating func takeForBlank(_ style: Style, into bytes: inout [UInt8]) {
    let seen: Style.Attributes = [.underline, .inverse, .strikethrough]
    let unseen =
      style.attributes.isDisjoint(with: seen) && self.style.attributes.isDisjoint(with: seen)
    if unseen, style.background == self.style.background { return }
    change(to: style, into: &bytes)
  }

  /// Sets the style of the next cells if it differs (ECMA-48 §8.3.117, SGR).
  mutating func change(to next: Style, into bytes: inout [UInt8]) {
    if next == style { return }
    defer { style = next }
    bytes.append(ascii: "\u{1B}[")
    if next == Style() {
      bytes.append(ascii: "m")
      return
    }
    var base = style
    var isFirst = true
    func separate(_ bytes: inout [UInt8]) {
      if !isFirst { bytes.append(ascii: ";") }
      isFirst = false
    }
    // Terminals differ in how a single attribute is removed; 0 removes all.
    if !base.attributes.isSubset(of: next.attributes) {
      separate(&bytes)
      bytes.append(ascii: "0")
      base = Style()
    }
    for (attribute, code) in Self.codes
    where next.attributes.contains(attribute) && !base.attributes.contains(attribute) {
      separate(&bytes)
      bytes.append(decimal: code)
    }
    if next.foreground != base.foreground {
      separate(&bytes)
      Self.append(next.foreground, offset: 0, into: &bytes)
    }
    if next.background != base.background {
      separate(&bytes)
      Self.append(next.background, offset: 10, into: &bytes)
    }
    bytes.append(ascii: "m")
  }

  private static let codes: [(Style.Attributes, Int)] = [
    (.bold, 1), (.dim, 2), (.italic, 3), (.underline, 4), (.inverse, 7), (.strikethrough, 9),
  ]

  /// Appends the parameters of a foreground; those of a background are greater by 10 (xterm
  /// ctlseqs, SGR).
  private static func append(_ color: Color, offset: Int, into bytes: inout [UInt8]) {
    switch color {
    case .standard: bytes.append(decimal: 39 + offset)
    case .palette(let index) where index < 8: bytes.append(decimal: 30 + offset + Int(index))
    case .palette(let index) where index < 16: bytes.append(decimal: 82 + offset + Int(index))
    case .palette(let index):
      bytes.append(decimal: 38 + offset)
      bytes.append(ascii: ";5;")
      bytes.append(decimal: Int(index))
    case .rgb(let red, let green, let blue):
      bytes.append(decimal: 38 + offset)
      bytes.append(ascii: ";2")
      for part in [red, green, blue] {
        bytes.append(ascii: ";")
        bytes.append(decimal: Int(part))
      }
    }
  }
}

extension [UInt8] {
  mutating func append(ascii text: StaticString) {
    unsafe append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(decimal number: Int) {
    if number >= 10 { append(decimal: number / 10) }
    append(UInt8(0x30 + number % 10))
  }

  /// Appends a control sequence with one parameter, which is omitted if it is 1.
  mutating func appendSequence(_ parameter: Int, final: StaticString) {
    append(ascii: "\u{1B}[")
    if parameter != 1 { append(decimal: parameter) }
    append(ascii: final)
  }
}
