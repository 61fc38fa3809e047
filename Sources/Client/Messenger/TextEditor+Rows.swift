internal import Terminal

extension TextEditor {
  /// A row of a wrapped line.
  public struct Row: Equatable, Sendable {
    /// An index of `lines`.
    public var line: Int
    /// Indices of the line's characters.
    public var characters: Range<Int>
  }

  /// Returns the rows of the text when wrapped at `columns`; at least one. Lines are broken after
  /// spaces if there are any, which may exceed the width, and anywhere otherwise.
  public func rows(wrappedAt columns: Int) -> [Row] {
    var rows: [Row] = []
    for line in lines.indices { appendRows(of: line, wrappedAt: columns, to: &rows) }
    return rows
  }

  /// Returns the cursor's row among these, and its column in that row.
  public func cursor(in rows: [Row]) -> (row: Int, column: Int) {
    let row =
      rows.lastIndex { $0.line == place.line && $0.characters.lowerBound <= place.offset } ?? 0
    let start = rows[row].characters.lowerBound
    return (row, width(of: start..<place.offset, in: place.line))
  }

  /// Moves up a row, keeping the column in which the vertical moves began.
  /// - Parameter columns: The width at which lines are wrapped; `nil` for no wrapping.
  /// - Returns: False in the first row, where nothing moves.
  @discardableResult
  public mutating func moveUp(wrappedAt columns: Int? = nil) -> Bool {
    moveVertically(-1, wrappedAt: columns)
  }

  /// Moves down a row, like `moveUp`.
  @discardableResult
  public mutating func moveDown(wrappedAt columns: Int? = nil) -> Bool {
    moveVertically(1, wrappedAt: columns)
  }

  private mutating func moveVertically(_ step: Int, wrappedAt columns: Int?) -> Bool {
    isKilling = false
    var rows: [Row] = []
    for line in max(0, place.line - 1)...min(place.line + 1, lines.count - 1) {
      appendRows(of: line, wrappedAt: columns ?? Int.max, to: &rows)
    }
    let (row, column) = cursor(in: rows)
    let goal = goalColumn ?? column
    guard rows.indices.contains(row + step) else { return false }
    let target = rows[row + step]
    var offset = target.characters.lowerBound
    var width = 0
    // The end of a row that is continued is the start of the next row.
    let isBroken =
      rows.indices.contains(row + step + 1) && rows[row + step + 1].line == target.line
    let end = target.characters.upperBound - (isBroken ? 1 : 0)
    while offset < end {
      width += Self.width(of: lines[target.line][offset])
      if width > goal { break }
      offset += 1
    }
    set(Place(line: target.line, offset: offset))
    goalColumn = goal
    return true
  }

  private func appendRows(of line: Int, wrappedAt columns: Int, to rows: inout [Row]) {
    let count = lines[line].count
    var start = 0
    // After the last space of the row.
    var breakable = 0
    var width = 0
    var index = 0
    while columns < Int.max, index < count {
      let character = lines[line][index]
      let isBlank = character == " "
      let own = Self.width(of: character)
      if width + own > columns, index > start, !isBlank {
        let end = breakable > start ? breakable : index
        rows.append(Row(line: line, characters: start..<end))
        width = self.width(of: end..<index, in: line)
        start = end
      }
      width += own
      index += 1
      if isBlank { breakable = index }
    }
    rows.append(Row(line: line, characters: start..<count))
  }

  private func width(of range: Range<Int>, in line: Int) -> Int {
    var width = 0
    for index in range { width += Self.width(of: lines[line][index]) }
    return width
  }

  /// A tab is displayed as a space.
  private static func width(of character: Character) -> Int {
    character == "\t" ? 1 : TextWidth.columns(of: character)
  }
}
