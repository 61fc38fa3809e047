import Terminal

/// A drawn row: pieces of text at columns, over a background.
struct Line {
  struct Piece {
    var column: Int
    var text: Substring
    var style: Style
    var link: Grid.Link?
  }

  /// A background for a part of the row.
  struct Fill {
    var column: Int
    var columns: Int
    var style: Style
  }

  var pieces: [Piece] = []
  var fill: Fill?
  /// A row of a picture, and the column at which it begins.
  var strip: (strip: PictureStrip, column: Int)?

  /// Adds a text at a column. It must have a single line and be cleaned.
  mutating func put(
    _ text: some StringProtocol, at column: Int, _ style: Style, link: Grid.Link? = nil
  ) {
    guard !text.isEmpty else { return }
    pieces.append(Piece(column: column, text: Substring(text), style: style, link: link))
  }
}

extension Grid {
  /// Draws a line on a row of a rectangle.
  mutating func draw(_ line: Line, row: Int, in rect: Rect) {
    if let fill = line.fill {
      self.fill(
        Rect(column: rect.column + fill.column, row: row, columns: fill.columns, rows: 1),
        with: fill.style)
    }
    for piece in line.pieces where piece.column < rect.columns {
      var style = piece.style
      if let link = piece.link { style.link = number(of: link) }
      write(
        piece.text, at: Position(column: rect.column + piece.column, row: row), style,
        columns: rect.columns - piece.column)
    }
    if let fill = line.fill { reverse(fill, row: row, in: rect) }
  }

  /// Without colours a background is drawn in inverse video, including the text on it.
  private mutating func reverse(_ fill: Line.Fill, row: Int, in rect: Rect) {
    guard fill.style.attributes.contains(.inverse) else { return }
    restyle(Rect(column: rect.column + fill.column, row: row, columns: fill.columns, rows: 1)) {
      $0.attributes.insert(.inverse)
    }
  }

  /// Whether a rectangle within the grid has no text.
  func isBlank(_ rect: Rect) -> Bool {
    (rect.row..<rect.row + rect.rows).allSatisfy { row in
      (rect.column..<rect.column + rect.columns).allSatisfy { column in
        let cell = self[Position(column: column, row: row)]
        return cell.character == " " && cell.width == 1
      }
    }
  }

  /// Writes as much as fits, with `…` if the text is cut; returns the columns used.
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

  /// Returns one of its rows, from 0.
  func line(_ index: Int) -> Rect {
    Rect(column: column, row: row + index, columns: columns, rows: index < rows ? 1 : 0)
  }
}
