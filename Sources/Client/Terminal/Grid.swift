/// The content of a screen: a value that the view writes and the differ compares.
///
/// Columns always stay aligned: a wide cluster has both of its halves, in one style, and characters
/// without width, such as control characters, are not written.
public struct Grid: Equatable, Sendable {
  public private(set) var size: Size
  private var cells: [Cell]
  /// The position of the terminal's cursor; `nil` hides it.
  public var cursor: Position?
  /// See `place(picture:in:_:)`.
  public internal(set) var pictures: [Picture] = []
  /// See `number(of:)`.
  var links: [Link] = []

  /// Creates a blank grid in one style.
  public init(_ size: Size, style: Style = Style()) {
    self.size = Size(columns: max(0, size.columns), rows: max(0, size.rows))
    cells = Array(repeating: .blank(style), count: self.size.columns * self.size.rows)
  }

  /// Returns the cells of a row.
  public subscript(row row: Int) -> ArraySlice<Cell> {
    cells[row * size.columns..<(row + 1) * size.columns]
  }

  public subscript(position: Position) -> Cell {
    cells[position.row * size.columns + position.column]
  }

  /// Returns the text of a row, without trailing spaces.
  public func text(row: Int) -> String {
    var text = ""
    for cell in self[row: row] where cell.width > 0 { text.append(cell.character) }
    while text.last == " " { text.removeLast() }
    return text
  }

  /// Fills a rectangle with blanks in a style; what is outside of the grid is ignored.
  public mutating func fill(_ rect: Rect, with style: Style) {
    let part = clip(rect)
    for row in part.rows {
      for column in part.columns { put(.blank(style), row: row, column: column) }
    }
  }

  /// Writes text on one row, as much as fits into `columns` and the grid: a cluster that would be
  /// cut in half is left out, at the left edge, too. A background of `standard` keeps the existing
  /// one.
  /// - Returns: The columns used, including those to the left of the grid.
  @discardableResult
  public mutating func write(
    _ text: some StringProtocol, at position: Position, _ style: Style, columns limit: Int = .max
  ) -> Int {
    guard position.row >= 0, position.row < size.rows, position.column < size.columns else {
      return 0
    }
    let end = limit >= size.columns - position.column ? size.columns : position.column + limit
    var column = position.column
    var index = text.startIndex
    if column >= 0 {
      let count = writeASCII(text, row: position.row, from: column, to: end, style)
      column += count
      index = text.utf8.index(index, offsetBy: count)
    }
    for character in text[index...] {
      let width = TextWidth.columns(of: character)
      guard column + width <= end else { break }
      if width > 0, column >= 0 {
        var cell = Cell(
          character: TextWidth.bounded(character), width: UInt8(width), style: style)
        if style.background == .standard {
          cell.style.background = cells[position.row * size.columns + column].style.background
        }
        put(cell, row: position.row, column: column)
      }
      column += width
    }
    return column - position.column
  }

  /// Writes the printable ASCII at the start of a text, as much as fits; the last character only if
  /// nothing after it combines with it.
  private mutating func writeASCII(
    _ text: some StringProtocol, row: Int, from start: Int, to end: Int, _ style: Style
  ) -> Int {
    let offset = row * size.columns
    let count = text.utf8.withContiguousStorageIfAvailable { bytes in
      var count = 0
      while count < bytes.count, start + count < end, TextWidth.isPrintable(unsafe bytes[count]) {
        if count + 1 < bytes.count, unsafe bytes[count + 1] >= 0x80 { break }
        var cell = Cell(
          character: Character(Unicode.Scalar(unsafe bytes[count])), width: 1, style: style)
        let column = start + count
        if style.background == .standard {
          cell.style.background = cells[offset + column].style.background
        }
        put(cell, row: row, column: column)
        count += 1
      }
      return count
    }
    return count ?? 0
  }

  /// Changes the style of the cells of a rectangle. Both halves of a wide cluster have the style of
  /// the left one.
  public mutating func restyle(_ rect: Rect, _ body: (inout Style) -> Void) {
    let part = clip(rect)
    for row in part.rows {
      for column in part.columns {
        let index = row * size.columns + column
        if cells[index].width == 0 { continue }
        body(&cells[index].style)
        if cells[index].width == 2 { cells[index + 1].style = cells[index].style }
      }
    }
  }

  /// Changes the numbers of links, where cells have one.
  mutating func changeLinks(_ body: (UInt8) -> UInt8) {
    for index in cells.indices where cells[index].style.link > 0 {
      cells[index].style.link = body(cells[index].style.link)
    }
  }

  /// Returns the part of a rectangle that is within the grid.
  private func clip(_ rect: Rect) -> (columns: Range<Int>, rows: Range<Int>) {
    func range(_ start: Int, _ count: Int, within limit: Int) -> Range<Int> {
      let lower = min(max(0, start), limit)
      let (end, overflows) = start.addingReportingOverflow(max(0, count))
      return lower..<max(lower, overflows ? limit : min(end, limit))
    }
    return (
      range(rect.column, rect.columns, within: size.columns),
      range(rect.row, rect.rows, within: size.rows)
    )
  }

  /// Sets a cell; halves of wide clusters that it cuts become blanks.
  private mutating func put(_ cell: Cell, row: Int, column: Int) {
    let index = row * size.columns + column
    if cells[index].width == 0 { cells[index - 1] = .blank(cells[index - 1].style) }
    let last = index + Int(cell.width) - 1
    if cells[last].width == 2 { cells[last + 1] = .blank(cells[last + 1].style) }
    cells[index] = cell
    if cell.width == 2 {
      cells[last] = Cell(character: " ", width: 0, style: cell.style)
    }
  }
}
