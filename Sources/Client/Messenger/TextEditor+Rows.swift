internal import Terminal

extension TextEditor {
  /// What fits side by side when lines are wrapped.
  public struct Row: Equatable, Sendable {
    /// Of `lines`.
    public var line: Int
    /// Of the line's characters.
    public var characters: Range<Int>
  }

  /// The rows that the text takes when it is `columns` wide, at least one. Lines are broken behind
  /// blanks where there are some, which may stick out, and anywhere otherwise.
  public func rows(wrappedAt columns: Int) -> [Row] {
    var rows: [Row] = []
    for line in lines.indices { appendRows(of: line, wrappedAt: columns, to: &rows) }
    return rows
  }

  /// The cursor's row among these, and how many columns stand before it there.
  public func cursor(in rows: [Row]) -> (row: Int, column: Int) {
    let row =
      rows.lastIndex { $0.line == place.line && $0.characters.lowerBound <= place.offset } ?? 0
    let start = rows[row].characters.lowerBound
    return (row, width(of: start..<place.offset, in: place.line))
  }

  /// A row up, to the column where the moves up and down began.
  /// - Parameter columns: where lines are wrapped; `nil` for not at all.
  /// - Returns: false at the first row, where nothing moves.
  @discardableResult
  public mutating func moveUp(wrappedAt columns: Int? = nil) -> Bool {
    moveVertically(-1, wrappedAt: columns)
  }

  /// A row down, as `moveUp`.
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
    // The end of a row that goes on in the next one is that one's start.
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
    // Behind the last blank of the row.
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

  /// A tab is shown as a blank.
  private static func width(of character: Character) -> Int {
    character == "\t" ? 1 : TextWidth.columns(of: character)
  }
}
