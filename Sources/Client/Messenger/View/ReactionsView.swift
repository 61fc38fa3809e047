internal import Emojis
import Terminal

/// The emoji to react with.
extension Chat {
  /// The rows of the list of emoji that a name has found.
  private static let rowsLimit = 8

  func draw(
    reactionsAt selected: Int, _ query: LineEditor, _ theme: Theme, _ drawing: inout Drawing
  ) {
    let choices = reactionChoices(for: query)
    let rows = query.isEmpty ? 1 : min(Self.rowsLimit, max(1, choices.count), max(1, size.rows - 5))
    let inner = panel(
      "React", columns: Emoji.quick.count * 4, rows: 1 + rows, theme, &drawing)
    guard !inner.isEmpty else { return }
    draw(
      line: query, after: "› ", hint: "name of an emoji", in: inner.line(0), theme, &drawing)
    drawing.grid.cursor = cursor(of: query, after: 2, in: inner.line(0))
    guard inner.rows > 1 else { return }
    if query.isEmpty { return draw(row: inner.line(1), choices, selected, theme, &drawing) }
    if choices.isEmpty {
      let place = Position(column: inner.column + 2, row: inner.row + 1)
      drawing.grid.write(
        fitting: "no emoji of this name", at: place, theme.faint, columns: inner.columns - 2)
    }
    let top = Chat.top(of: selected, rows: inner.rows - 1)
    for (offset, emoji) in choices.dropFirst(top).prefix(inner.rows - 1).enumerated() {
      let row = inner.line(1 + offset)
      choose(row, isSelected: top + offset == selected, theme, &drawing) { grid in
        grid.write(
          emoji.emoji, at: Position(column: row.column + 1, row: row.row), theme.panelText,
          columns: 3)
        grid.write(
          fitting: emoji.code, at: Position(column: row.column + 4, row: row.row), theme.panelText,
          columns: row.columns - 5)
      }
      drawing.targets.append((row, .choice(top + offset)))
    }
  }

  private func draw(
    row: Rect, _ choices: [Emoji], _ selected: Int, _ theme: Theme, _ drawing: inout Drawing
  ) {
    let shown = max(1, row.columns / 4)
    let top = Chat.top(of: selected, rows: shown)
    for (offset, emoji) in choices.dropFirst(top).prefix(shown).enumerated() {
      let cell = Rect(column: row.column + offset * 4, row: row.row, columns: 4, rows: 1)
      choose(cell, isSelected: top + offset == selected, theme, &drawing) { grid in
        grid.write(
          emoji.emoji, at: Position(column: cell.column + 1, row: cell.row), theme.panelText,
          columns: 3)
      }
      drawing.targets.append((cell, .choice(top + offset)))
    }
  }
}
