/// From one screen to the next, as the bytes that a terminal has to be sent.
///
/// Only what differs is written: with few and short movements of the cursor (ECMA-48, CUP, CUF, CHA),
/// and the look of a cell said where it changes (SGR). A frame that changes nothing has no bytes.
///
/// Terminals disagree about how wide some clusters are (`TextWidth.isCertain`). After each of those
/// the cursor is put where it should be; blanks are written before a wide one, in case the terminal
/// makes it narrow; and the cells behind, on which a terminal would have drawn that takes it apart,
/// are written again. The terminal's automatic wrapping must be off, see `TerminalDevice`.
///
/// It remembers what the terminal shows, so all that it says must reach the terminal, in order.
public struct Differ: Sendable {
  /// What colours are lowered to. `forget()` makes a change of it seen.
  public var depth: ColorDepth
  /// Whether a frame is enclosed in DEC mode 2026, which lets the terminal show it at once.
  public var isSynchronized: Bool

  /// What the terminal shows; nil when that is not known.
  private var shown: Grid?
  private var pen = Pen()

  public init(depth: ColorDepth = .trueColor, isSynchronized: Bool = false) {
    self.depth = depth
    self.isSynchronized = isSynchronized
  }

  /// The next frame is written as a whole: after a resize, a resume, or when someone else wrote.
  public mutating func forget() { shown = nil }

  /// Appends what makes the terminal show `next`.
  public mutating func frame(_ next: Grid, into bytes: inout [UInt8]) {
    let start = bytes.count
    if isSynchronized { bytes.append(ascii: "\u{1B}[?2026h") }
    let content = bytes.count
    if shown?.size != next.size {
      shown = nil
      pen = Pen()
      bytes.append(ascii: "\u{1B}[?25l\u{1B}[m\u{1B}[H\u{1B}[2J")
    }
    let previous = shown ?? Grid(next.size)
    for row in 0..<next.size.rows {
      writeRow(row, from: previous[row: row], to: next[row: row], into: &bytes)
    }
    placeCursor(next, into: &bytes)
    shown = next
    if bytes.count == content {
      bytes.removeSubrange(start...)
    } else if isSynchronized {
      bytes.append(ascii: "\u{1B}[?2026l")
    }
  }

  private mutating func writeRow(
    _ row: Int, from old: ArraySlice<Cell>, to new: ArraySlice<Cell>, into bytes: inout [UInt8]
  ) {
    if old == new { return }
    let tail = blankTail(of: new)
    // Up to here the terminal may have drawn over what it showed.
    var overdrawn = 0
    var column = 0
    while column < new.count {
      let cell = new[new.startIndex + column]
      let width = max(1, Int(cell.width))
      if column >= overdrawn, old[old.startIndex + column] == cell {
        column += width
        continue
      }
      hideCursor(into: &bytes)
      if column >= tail, new.count - column > 3 {
        pen.move(to: Position(column: column, row: row), into: &bytes)
        pen.take(Style(), into: &bytes)
        bytes.append(ascii: "\u{1B}[K")
        return
      }
      if cell.width > 0 {
        let greatest = write(
          cell, at: Position(column: column, row: row), edge: new.count, row: new, into: &bytes)
        overdrawn = max(overdrawn, column + greatest)
      }
      column += width
    }
  }

  /// From where on a row is nothing but blanks in the terminal's own colours.
  private func blankTail(of row: ArraySlice<Cell>) -> Int {
    let blank = Cell.blank()
    var end = row.count
    while end > 0, row[row.startIndex + end - 1] == blank { end -= 1 }
    return end
  }

  /// - Returns: the columns that a terminal may have drawn on.
  private mutating func write(
    _ cell: Cell, at position: Position, edge: Int, row: ArraySlice<Cell>, into bytes: inout [UInt8]
  ) -> Int {
    let measure = TextWidth.measure(cell.character)
    rewriteGap(before: position, of: row, into: &bytes)
    pen.move(to: position, into: &bytes)
    let style = Style(
      cell.style.foreground.lowered(to: depth), on: cell.style.background.lowered(to: depth),
      cell.style.attributes)
    if cell.character == " " {
      pen.takeForBlank(style, into: &bytes)
    } else {
      pen.take(style, into: &bytes)
    }
    if !measure.isCertain, cell.width == 2 {
      bytes.append(ascii: "  ")
      pen.position = nil
      pen.move(to: position, into: &bytes)
    }
    bytes.append(contentsOf: cell.character.utf8)
    let end = position.column + Int(cell.width)
    // At the right edge terminals wait with the cursor where it was.
    pen.position =
      measure.isCertain && end < edge ? Position(column: end, row: position.row) : nil
    return measure.greatest
  }

  /// A few unchanged cells in the pen's own style are written again, rather than jumped over.
  private mutating func rewriteGap(
    before position: Position, of row: ArraySlice<Cell>, into bytes: inout [UInt8]
  ) {
    guard let at = pen.position, at.row == position.row, at.column < position.column,
      position.column - at.column <= 3
    else { return }
    let gap = row[row.startIndex + at.column..<row.startIndex + position.column]
    for cell in gap {
      guard cell.character.utf8.count == 1, cell.width == 1,
        cell.style.foreground.lowered(to: depth) == pen.style.foreground,
        cell.style.background.lowered(to: depth) == pen.style.background,
        cell.style.attributes == pen.style.attributes
      else { return }
    }
    for cell in gap { bytes.append(contentsOf: cell.character.utf8) }
    pen.position = position
  }

  /// It would be seen jumping about.
  private mutating func hideCursor(into bytes: inout [UInt8]) {
    if shown?.cursor == nil { return }
    shown?.cursor = nil
    bytes.append(ascii: "\u{1B}[?25l")
  }

  private mutating func placeCursor(_ next: Grid, into bytes: inout [UInt8]) {
    guard let cursor = next.cursor else {
      hideCursor(into: &bytes)
      return
    }
    // Off the screen it would be put to its edge.
    guard cursor.column >= 0, cursor.column < next.size.columns, cursor.row >= 0,
      cursor.row < next.size.rows
    else {
      hideCursor(into: &bytes)
      return
    }
    pen.move(to: cursor, into: &bytes)
    if shown?.cursor == nil { bytes.append(ascii: "\u{1B}[?25h") }
  }
}
