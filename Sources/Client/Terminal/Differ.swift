/// Computes the bytes that change a terminal's screen from one frame to the next.
///
/// Only differences are written, with few and short cursor movements (ECMA-48, CUP, CUF, CHA), and
/// a style (SGR) only when it changes. A frame without changes has no bytes.
///
/// Terminals disagree about the width of some clusters (`TextWidth.isCertain`). After each of those
/// the cursor is positioned explicitly. Before a wide one blanks are written, in case the terminal
/// makes it narrow. The following cells, which a terminal may overwrite if it splits the cluster,
/// are written again. The terminal's automatic wrapping must be off, see `TerminalDevice`.
///
/// The differ remembers what the terminal shows, so all of its output must reach the terminal, in
/// order. No link is left open at the end of a frame.
public struct Differ: Sendable {
  /// The depth to which colours are reduced. After a change call `forget()`.
  public var depth: ColorDepth
  /// Whether a frame is enclosed in DEC mode 2026, so that the terminal shows it at once.
  public var isSynchronized: Bool
  /// Whether links are written, for a terminal that has them.
  private let showsLinks: Bool

  /// The current content of the terminal; nil if it is not known.
  private var shown: Grid?
  /// The pictures that the terminal shows.
  private var pictures: [Grid.Picture] = []
  private var pen = Pen()
  /// The links of the frame that is being written.
  private var links: [Grid.Link] = []

  public init(
    depth: ColorDepth = .trueColor, isSynchronized: Bool = false, showsLinks: Bool = false
  ) {
    self.depth = depth
    self.isSynchronized = isSynchronized
    self.showsLinks = showsLinks
  }

  /// Makes the next frame a complete one: after a resize, a resume, or output of another program.
  public mutating func forget() { shown = nil }

  /// Appends the bytes that make the terminal show `next`.
  public mutating func frame(_ next: Grid, into bytes: inout [UInt8]) {
    let start = bytes.count
    if isSynchronized { bytes.append(ascii: "\u{1B}[?2026h") }
    let content = bytes.count
    if shown?.size != next.size {
      shown = nil
      pen = Pen()
      // Output that was dropped may have had the end of one.
      if showsLinks { bytes.append(ascii: Pen.linkEnd) }
      bytes.append(ascii: "\u{1B}[?25l\u{1B}[m\u{1B}[H\u{1B}[2J")
      // Some terminals keep them when the screen is cleared.
      removePictures({ _ in true }, into: &bytes)
    }
    if showsLinks { links = next.links }
    shown?.renumberLinks(as: next.links)
    for picture in pictures where picture.sixels != nil && !next.pictures.contains(picture) {
      shown?.spoil(picture.rect)
    }
    let previous = shown ?? Grid(next.size)
    for row in 0..<next.size.rows {
      let start = bytes.count
      writeRow(row, from: previous[row: row], to: next[row: row], into: &bytes)
      // Sixels are part of the cells, and may be gone with what is written beside them.
      if bytes.count > start {
        pictures.removeAll { $0.sixels != nil && $0.rect.row == row }
      }
    }
    pen.endLink(into: &bytes)
    placePictures(next.pictures, into: &bytes)
    placeCursor(next, into: &bytes)
    shown = next
    if bytes.count == content {
      bytes.removeSubrange(start...)
    } else if isSynchronized {
      bytes.append(ascii: "\u{1B}[?2026l")
    }
  }

  /// Makes the terminal show these pictures; those that stay where they are cost nothing.
  private mutating func placePictures(_ next: [Grid.Picture], into bytes: inout [UInt8]) {
    if next == pictures { return }
    let (wanted, present) = (Set(next), Set(pictures))
    removePictures({ !wanted.contains($0) }, into: &bytes)
    for picture in next where !present.contains(picture) {
      hideCursor(into: &bytes)
      pen.move(
        to: Position(column: picture.rect.column, row: picture.rect.row), into: &bytes)
      if let sixels = picture.sixels {
        bytes += sixels
        // Terminals differ in where they leave it.
        pen.position = nil
      } else {
        bytes += KittyGraphics.place(picture)
      }
    }
    pictures = next
  }

  private mutating func removePictures(
    _ isUnwanted: (Grid.Picture) -> Bool, into bytes: inout [UInt8]
  ) {
    for picture in pictures where isUnwanted(picture) && picture.sixels == nil {
      bytes += KittyGraphics.remove(picture)
    }
    pictures.removeAll(where: isUnwanted)
  }

  private mutating func writeRow(
    _ row: Int, from old: ArraySlice<Cell>, to new: ArraySlice<Cell>, into bytes: inout [UInt8]
  ) {
    if old == new { return }
    let tail = blankTail(of: new)
    // The column up to which the terminal may have overwritten cells.
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
        pen.change(to: Style(), into: &bytes)
        pen.endLink(into: &bytes)
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

  /// Returns the column from which the row is blank in the terminal's own colours.
  private func blankTail(of row: ArraySlice<Cell>) -> Int {
    let blank = Cell.blank()
    var end = row.count
    while end > 0, row[row.startIndex + end - 1] == blank { end -= 1 }
    return end
  }

  /// - Returns: The end of the columns that the terminal may have written to.
  private mutating func write(
    _ cell: Cell, at position: Position, edge: Int, row: ArraySlice<Cell>, into bytes: inout [UInt8]
  ) -> Int {
    let measure = TextWidth.measure(cell.character)
    rewriteGap(before: position, of: row, into: &bytes)
    pen.move(to: position, into: &bytes)
    pen.changeLink(to: cell.style.link, of: links, into: &bytes)
    let style = Style(
      cell.style.foreground.lowered(to: depth), on: cell.style.background.lowered(to: depth),
      cell.style.attributes)
    if cell.character == " " {
      pen.takeForBlank(style, into: &bytes)
    } else {
      pen.change(to: style, into: &bytes)
    }
    if !measure.isCertain, cell.width == 2 {
      bytes.append(ascii: "  ")
      pen.position = nil
      pen.move(to: position, into: &bytes)
      // The movement has ended it.
      pen.changeLink(to: cell.style.link, of: links, into: &bytes)
    }
    bytes.append(contentsOf: cell.character.utf8)
    let end = position.column + Int(cell.width)
    // At the right edge, terminals leave the cursor where it was.
    pen.position =
      measure.isCertain && end < edge ? Position(column: end, row: position.row) : nil
    return measure.greatest
  }

  /// Rewrites a few unchanged cells in the current style, which is shorter than a cursor movement.
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
        cell.style.attributes == pen.style.attributes, cell.style.link == pen.link
      else { return }
    }
    for cell in gap { bytes.append(contentsOf: cell.character.utf8) }
    pen.position = position
  }

  /// Hides the cursor, which would otherwise be seen jumping.
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
    // The terminal would move a cursor outside of the screen to the edge.
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
