import Folding
import Terminal

/// The search of all conversations, and the date to go to.
extension Chat {
  private static let findColumns = 96
  /// The rows of a match: where it is from, and its text.
  private static let matchRows = 2

  func draw(_ find: Find, _ theme: Theme, _ drawing: inout Drawing) {
    let inner = panel(
      "Search all conversations", columns: min(Self.findColumns, max(20, size.columns - 6)),
      rows: max(4, size.rows - 6), theme, &drawing)
    guard !inner.isEmpty else { return }
    draw(line: find.query, after: "⌕ ", hint: "words", in: inner.line(0), theme, &drawing)
    drawing.grid.cursor = cursor(of: find.query, after: 2, in: inner.line(0))
    guard inner.rows > 2 else { return }
    drawing.grid.write(
      fitting: state(of: find),
      at: Position(column: inner.column + 1, row: inner.row + inner.rows - 1), theme.faint,
      columns: inner.columns - 2)
    let rows = Rect(
      column: inner.column, row: inner.row + 1, columns: inner.columns, rows: inner.rows - 2)
    let query = SearchQuery(find.query.text)
    let shown = max(1, rows.rows / Self.matchRows)
    let top = Chat.top(of: find.selected, rows: shown)
    for (offset, index) in (top..<choices(in: find)).prefix(shown).enumerated() {
      let row = Rect(
        column: rows.column, row: rows.row + offset * Self.matchRows, columns: rows.columns,
        rows: min(Self.matchRows, rows.rows - offset * Self.matchRows))
      let isSelected = index == find.selected
      choose(row, isSelected: isSelected, theme, &drawing) { grid in
        if find.matches.indices.contains(index) {
          draw(find.matches[index], query, in: row, theme, &grid)
        } else {
          grid.write(
            fitting: offer(find), at: Position(column: row.column + 1, row: row.row), theme.accent,
            columns: row.columns - 2)
        }
      }
      drawing.targets.append((row, .choice(index)))
    }
  }

  private func draw(
    _ match: Match, _ query: SearchQuery, in row: Rect, _ theme: Theme, _ grid: inout Grid
  ) {
    let conversation = conversations[match.room]
    let isRoom = conversation?.peer == nil
    let title = ShownText.line(conversation?.title ?? match.room)
    let when = moment(match.at)
    let time = "\(when.day) \(when.clock)"
    let end = row.columns - 1 - TextWidth.columns(of: time)
    var column = 1
    func write(_ text: String, _ style: Style, on line: Int, before end: Int) {
      guard column < end else { return }
      column += grid.write(
        fitting: text, at: Position(column: row.column + column, row: row.row + line), style,
        columns: end - column)
    }
    write(isRoom ? "#\(title)" : title, theme.panelText, on: 0, before: end - 1)
    let sender = match.from == user ? "You" : ShownText.line(name(of: match.from))
    write("  \(sender)", theme.faint, on: 0, before: end - 1)
    if end > 0 {
      grid.write(time, at: Position(column: row.column + end, row: row.row), theme.faint)
    }
    guard row.rows > 1 else { return }
    column = 3
    let last = row.columns - 1
    for (piece, isFound) in Self.excerpt(
      ShownText.line(match.text), query, columns: last - column)
    {
      write(piece, isFound ? theme.match : theme.panelText, on: 1, before: last)
    }
  }

  /// Returns the part of a text around its first match, and which of its pieces match.
  static func excerpt(
    _ text: String, _ query: SearchQuery, columns: Int
  ) -> [(text: String, isFound: Bool)] {
    // Longer texts are not worth the time that looking for each word takes.
    let limit = 2000
    var text = text
    var found = query.ranges(in: text)
    if let first = found.first,
      TextWidth.columns(of: String(text[..<first.upperBound])) > columns - 2
    {
      // Begins some words before it.
      let start =
        text.index(first.lowerBound, offsetBy: -max(8, columns / 3), limitedBy: text.startIndex)
        ?? text.startIndex
      text = "…" + text[start...].prefix(limit)
      found = query.ranges(in: text)
    }
    var pieces: [(text: String, isFound: Bool)] = []
    var index = text.startIndex
    for range in found where range.lowerBound >= index {
      if index < range.lowerBound { pieces.append((String(text[index..<range.lowerBound]), false)) }
      pieces.append((String(text[range]), true))
      index = range.upperBound
    }
    if index < text.endIndex { pieces.append((String(text[index...]), false)) }
    return pieces
  }

  /// Returns what the row after the matches offers.
  private func offer(_ find: Find) -> String {
    guard let next = find.older.first else { return "" }
    let title = ShownText.line(conversations[next.room]?.title ?? next.room)
    let others = find.older.count - 1
    let rooms = others == 0 ? title : "\(title) and \(others) more"
    return find.pagesLeft == nil
      ? "Search older messages at the relay (\(rooms))" : "⋯ asking the relay (\(rooms))"
  }

  /// Returns what was found, and what was searched for it.
  private func state(of find: Find) -> String {
    if SearchQuery(find.query.text).isEmpty {
      return "finds words by their beginnings, in any order"
    }
    let count = find.matches.count
    let found = count == 1 ? "1 message" : "\(count)\(count == find.wanted ? "+" : "") messages"
    if find.isSearching { return "\(found) · searching…" }
    if find.unindexed > 0 {
      return "\(found) · \(find.unindexed) older ones are still being indexed"
    }
    guard let next = find.older.first else { return "\(found) · everything was searched" }
    let reach =
      next.at == .max || next.at <= 0
      ? "on this machine" : "since \(moment(next.at).day)"
    let rest =
      isLive ? "older ones are at the relay" : "older ones are at the relay, which is not connected"
    return "\(found) \(reach) · \(rest)"
  }

  func draw(date: LineEditor, _ theme: Theme, _ drawing: inout Drawing) {
    let inner = panel("Go to a date", columns: 50, rows: 3, theme, &drawing)
    guard !inner.isEmpty else { return }
    draw(line: date, after: "› ", hint: "yesterday", in: inner.line(0), theme, &drawing)
    drawing.grid.cursor = cursor(of: date, after: 2, in: inner.line(0))
    guard inner.rows > 2 else { return }
    var text = DateText.examples
    if let time = DateText(now: now, localTime: localTime).read(date.text) {
      text = "\(moment(time).day) \(moment(time).clock)"
    }
    drawing.grid.write(
      fitting: text, at: Position(column: inner.column + 2, row: inner.row + 2), theme.faint,
      columns: inner.columns - 3)
  }
}
