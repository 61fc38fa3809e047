import Terminal

/// One line of the live view, never wider than the terminal.
struct LiveLine {
  /// How a stretch of it looks, where there is colour (ECMA-48, SGR).
  enum Style: String {
    case plain = ""
    case strong = "\u{1B}[1m"
    case faint = "\u{1B}[2m"
    case good = "\u{1B}[32m"
    case bad = "\u{1B}[1;31m"
  }

  private(set) var text = ""
  /// Cells that are taken; of some letters more than they take.
  private(set) var width = 0
  private let columns: Int
  private let colour: Bool

  /// - Parameter columns: the last one stays free, so that no terminal wraps.
  init(columns: Int, colour: Bool) {
    self.columns = max(0, columns - 1)
    self.colour = colour
  }

  var room: Int { columns - width }

  /// Adds what there is room for, from our own pen: every character takes one cell.
  mutating func add(_ piece: String, _ style: Style = .plain) {
    let shown = piece.prefix(room)
    guard !shown.isEmpty else { return }
    width += shown.count
    append(String(shown), style)
  }

  /// The same for names from elsewhere. What is not ASCII may take two cells, or more as letters
  /// combine: counted like that, a line comes out shorter at worst.
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

  /// Adds spaces up to a column.
  mutating func move(to column: Int) {
    if column > width { add(String(repeating: " ", count: column - width)) }
  }

  /// Adds something that ends before a column.
  mutating func add(_ piece: String, endingAt column: Int, _ style: Style = .plain) {
    move(to: max(width + (width > 0 ? 1 : 0), column - piece.count))
    add(piece, style)
  }

  private mutating func append(_ piece: String, _ style: Style) {
    text += colour && style != .plain ? style.rawValue + piece + "\u{1B}[0m" : piece
  }
}
