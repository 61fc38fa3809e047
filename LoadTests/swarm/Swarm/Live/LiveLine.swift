import Terminal

/// One line of the live view, never wider than the terminal.
struct LiveLine {
  /// The style of a part of the line, if colour is enabled (ECMA-48, SGR).
  enum Style: String {
    case plain = ""
    case strong = "\u{1B}[1m"
    case faint = "\u{1B}[2m"
    case good = "\u{1B}[32m"
    case bad = "\u{1B}[1;31m"
  }

  private(set) var text = ""
  /// The number of cells used; for some characters an overestimate.
  private(set) var width = 0
  private let columns: Int
  private let colour: Bool

  /// - Parameter columns: The last column stays empty, so that no terminal wraps.
  init(columns: Int, colour: Bool) {
    self.columns = max(0, columns - 1)
    self.colour = colour
  }

  var room: Int { columns - width }

  /// Appends as much as fits of a text whose characters take one cell each.
  mutating func add(_ piece: String, _ style: Style = .plain) {
    let shown = piece.prefix(room)
    guard !shown.isEmpty else { return }
    width += shown.count
    append(String(shown), style)
  }

  /// Appends text from other sources. A non-ASCII scalar is counted as two cells, or more if
  /// letters combine, so the line is at worst too short.
  mutating func add(foreign name: String, _ style: Style = .plain, limit: Int = .max) {
    var shown = String.UnicodeScalarView()
    var cells = 0
    for scalar in TerminalText.line(name).unicodeScalars {
      let size = scalar.isASCII ? 1 : 2
      guard cells + size <= min(room, limit) else { break }
      shown.append(scalar)
      cells += size
    }
    width += cells
    append(String(shown), style)
  }

  /// Appends spaces up to a column.
  mutating func move(to column: Int) {
    if column > width { add(String(repeating: " ", count: column - width)) }
  }

  /// Appends a text that ends before a column.
  mutating func add(_ piece: String, endingAt column: Int, _ style: Style = .plain) {
    move(to: max(width + (width > 0 ? 1 : 0), column - piece.count))
    add(piece, style)
  }

  private mutating func append(_ piece: String, _ style: Style) {
    text += colour && style != .plain ? style.rawValue + piece + "\u{1B}[0m" : piece
  }
}
