import Terminal

/// One row of something that is drawn: pieces of text at columns, over a background.
struct Line {
  struct Piece {
    var column: Int
    var text: Substring
    var style: Style
  }

  /// A background behind a part of the row.
  struct Fill {
    var column: Int
    var columns: Int
    var style: Style
  }

  var pieces: [Piece] = []
  var fill: Fill?

  /// Puts a text at a column. It has one line, and is clean.
  mutating func put(_ text: some StringProtocol, at column: Int, _ style: Style) {
    guard !text.isEmpty else { return }
    pieces.append(Piece(column: column, text: Substring(text), style: style))
  }
}

extension Grid {
  /// Draws a line on a row of a part of the screen.
  mutating func draw(_ line: Line, row: Int, in rect: Rect) {
    if let fill = line.fill {
      self.fill(
        Rect(column: rect.column + fill.column, row: row, columns: fill.columns, rows: 1),
        with: fill.style)
    }
    for piece in line.pieces where piece.column < rect.columns {
      write(
        piece.text, at: Position(column: rect.column + piece.column, row: row), piece.style,
        columns: rect.columns - piece.column)
    }
    if let fill = line.fill { reverse(fill, row: row, in: rect) }
  }

  /// Where there are no colours, a background is the other way round: also below what was written.
  private mutating func reverse(_ fill: Line.Fill, row: Int, in rect: Rect) {
    guard fill.style.attributes.contains(.inverse) else { return }
    restyle(Rect(column: rect.column + fill.column, row: row, columns: fill.columns, rows: 1)) {
      $0.attributes.insert(.inverse)
    }
  }

  /// Writes as much as fits, with `…` where something is missing, and gives the columns used.
  @discardableResult
  mutating func write(
    fitting text: String, at position: Position, _ style: Style, columns: Int
  ) -> Int {
    write(ShownText.fit(text, columns: columns), at: position, style, columns: max(0, columns))
  }
}

extension Rect {
  static let none = Rect(column: 0, row: 0, columns: 0, rows: 0)

  var isEmpty: Bool { columns <= 0 || rows <= 0 }

  /// One of its rows, from 0.
  func line(_ index: Int) -> Rect {
    Rect(column: column, row: row + index, columns: columns, rows: index < rows ? 1 : 0)
  }
}
