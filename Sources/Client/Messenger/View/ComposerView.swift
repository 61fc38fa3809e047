import Terminal

/// The composer, and other lines of input.
extension Chat {
  func draw(composer layout: Layout, _ theme: Theme, _ drawing: inout Drawing) {
    draw(banner: layout.banner, theme, &drawing)
    let pane = layout.composer
    guard !pane.isEmpty else { return }
    let place = Position(column: pane.column, row: pane.row)
    guard timeline != nil else {
      drawing.grid.write(
        fitting: "  choose a conversation", at: place, theme.faint, columns: pane.columns)
      return
    }
    drawing.targets.append((pane, .composer))
    let hasKeys = self.pane == .composer && overlay == nil && search == nil && !isFiltering
    drawing.grid.write(
      "› ", at: place, hasKeys ? theme.accent : theme.faint, columns: pane.columns)
    let columns = pane.columns - Layout.promptColumns
    if composer.isEmpty {
      let hint = open.map { "Message \(ShownText.line($0.title))" } ?? "Message"
      drawing.grid.write(
        fitting: hint, at: Position(column: pane.column + Layout.promptColumns, row: pane.row),
        theme.faint, columns: columns)
    }
    let rows = composer.rows(wrappedAt: composerColumns(in: pane.columns))
    let cursor = composer.cursor(in: rows)
    let top = max(0, min(cursor.row - pane.rows + 1, rows.count - pane.rows))
    for (index, row) in rows.dropFirst(top).prefix(pane.rows).enumerated() {
      let text = composer.lines[row.line][row.characters].map { $0 == "\t" ? " " : $0 }
      drawing.grid.write(
        String(text),
        at: Position(column: pane.column + Layout.promptColumns, row: pane.row + index),
        theme.text, columns: columns)
    }
    if hasKeys, columns > 0 {
      // Spaces at the end of a row may exceed the width; the cursor then stays at the edge.
      drawing.grid.cursor = Position(
        column: pane.column + Layout.promptColumns + min(cursor.column, columns - 1),
        row: pane.row + cursor.row - top)
    }
  }

  /// Draws the message that is being replied to or edited, or else a line above the composer.
  private func draw(banner row: Rect, _ theme: Theme, _ drawing: inout Drawing) {
    guard !row.isEmpty else { return }
    let subject: (sign: String, message: Message.Key)
    switch composition {
    case .new where open?.isRequest == true:
      let name = ShownText.line(open?.title ?? "")
      drawing.grid.write(
        fitting: " \(name) is new to you: /accept, answer, or /block",
        at: Position(column: row.column, row: row.row), theme.accent, columns: row.columns)
      return
    case .new:
      drawing.grid.write(
        String(repeating: "─", count: row.columns), at: Position(column: row.column, row: row.row),
        theme.rule, columns: row.columns)
      return
    case .reply(let key): subject = ("↩ ", key)
    case .edit(let key): subject = ("✎ Edit: ", key)
    }
    var end = row.columns - 1
    if let key = label(.cancel, in: .composer), row.columns >= 40 {
      let hint = "\(key) cancels"
      end -= TextWidth.columns(of: hint) + 1
      drawing.grid.write(
        hint, at: Position(column: row.column + end + 1, row: row.row), theme.faint)
    }
    var place = Position(column: row.column, row: row.row)
    let limit = row.column + end
    place.column += drawing.grid.write(
      fitting: subject.sign, at: place, theme.accent, columns: limit - place.column)
    let message = timeline?.message(subject.message)
    if case .reply = composition {
      let from = subject.message.from
      let style = Style(theme.color(of: from), on: .standard, .bold)
      place.column += drawing.grid.write(
        fitting: ShownText.line(name(of: from)) + " ", at: place, style,
        columns: limit - place.column)
    }
    drawing.grid.write(
      fitting: ShownText.line(message?.text ?? ""), at: place, theme.faint,
      columns: limit - place.column)
  }

  func draw(search row: Rect, _ theme: Theme, _ drawing: inout Drawing) {
    guard !row.isEmpty, let search else { return }
    let count =
      search.query.isEmpty
      ? ""
      : search.matches.isEmpty
        ? "no matches" : "\(search.selected + 1) of \(search.matches.count)"
    let columns = row.columns >= 30 && !count.isEmpty ? TextWidth.columns(of: count) + 2 : 0
    var field = row
    field.columns -= columns
    draw(line: search.query, after: "⌕ ", hint: "search", in: field, theme, &drawing)
    if columns > 0 {
      drawing.grid.write(
        count, at: Position(column: row.column + row.columns - columns + 1, row: row.row),
        search.matches.isEmpty ? theme.error : theme.faint)
    }
    if overlay == nil { drawing.grid.cursor = cursor(of: search.query, after: 2, in: field) }
  }

  /// Draws a single line of input, scrolled so that the cursor is visible.
  func draw(
    line editor: LineEditor, after prompt: String, hint: String, in row: Rect, _ theme: Theme,
    _ drawing: inout Drawing
  ) {
    var place = Position(column: row.column, row: row.row)
    place.column += drawing.grid.write(prompt, at: place, theme.accent, columns: row.columns)
    let columns = row.columns - (place.column - row.column)
    if editor.isEmpty {
      drawing.grid.write(fitting: hint, at: place, theme.faint, columns: columns)
    } else {
      let text = visible(editor, columns: columns).text
      drawing.grid.write(text, at: place, theme.text, columns: columns)
    }
  }

  func cursor(of editor: LineEditor, after promptColumns: Int, in row: Rect) -> Position? {
    let columns = row.columns - promptColumns
    guard columns > 0, row.rows > 0 else { return nil }
    return Position(
      column: row.column + promptColumns + visible(editor, columns: columns).cursor, row: row.row)
  }

  /// Returns the visible part: as much text before the cursor as fits, and everything after it.
  private func visible(_ editor: LineEditor, columns: Int) -> (text: Substring, cursor: Int) {
    let text = String(editor.text.map { $0 == "\n" || $0 == "\t" ? " " : $0 })
    let cursor = text.index(text.startIndex, offsetBy: min(editor.cursor, text.count))
    var start = cursor
    var width = 0
    while start > text.startIndex {
      let before = text.index(before: start)
      let next = TextWidth.columns(of: text[before])
      if width + next > columns - 1 { break }
      width += next
      start = before
    }
    return (text[start...], width)
  }
}
