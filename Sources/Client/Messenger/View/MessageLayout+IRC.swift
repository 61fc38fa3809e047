import Terminal

/// Messages as in IRC clients: time, state, name and text in columns, one line for each where the
/// text fits.
extension MessageLayout {
  var isIRC: Bool { chat.settings.messages == .irc }

  /// Where each column begins; the text has the rest of the line.
  struct Columns {
    var clock: Int
    var state: Int
    var name: Int
    var nameWidth: Int
    var text: Int
  }

  /// A pane of fewer columns has no room for the time and the state.
  private static let clockLeastColumns = 32

  var ircColumns: Columns {
    let nameWidth = min(16, max(6, columns / 6))
    guard columns >= Self.clockLeastColumns else {
      return Columns(clock: 0, state: 0, name: 1, nameWidth: nameWidth, text: nameWidth + 2)
    }
    // "14:02" or "12:02 pm".
    let state = 1 + (chat.settings.clock == .h12 ? 8 : 5) + 1
    let name = state + 3
    return Columns(
      clock: 1, state: state, name: name, nameWidth: nameWidth, text: name + nameWidth + 2)
  }

  func appendIRC(_ message: Message, to block: inout MessageBlock) {
    let isSelected = isSelected(message)
    let look = isSelected ? theme.selected : open
    let place = ircColumns
    var rows = body(of: message, look)
    if message.isEdited, !message.isDeleted { append("(edited)", look.faint, to: &rows) }
    for (index, row) in rows.enumerated() {
      var line = Line()
      if isSelected {
        line.fill = Line.Fill(column: 1, columns: max(0, columns - 2), style: look.fill)
      }
      if index == 0 { begin(&line, message, look, place) }
      for piece in row.pieces {
        line.put(piece.text, at: place.text + piece.column, piece.style, link: piece.link)
      }
      line.strip = row.strip.map { ($0, place.text) }
      block.lines.append(line)
    }
    for row in reactions(of: message) + failure(of: message) {
      var line = Line()
      for piece in row.pieces { line.put(piece.text, at: place.text + piece.column, piece.style) }
      block.lines.append(line)
    }
  }

  /// Puts what is left of the text into its columns.
  private func begin(
    _ line: inout Line, _ message: Message, _ look: Theme.Bubble, _ place: Columns
  ) {
    if place.clock > 0 {
      let clock = chat.moment(message.at).clock
      line.put(clock, at: place.state - 1 - TextWidth.columns(of: clock), look.faint)
      if let state = message.state {
        let (mark, style) = theme.mark(of: state, faint: look.faint)
        line.put(mark, at: place.state, style)
      }
    }
    let name = ShownText.fit(
      ShownText.line(chat.name(of: message.from)), columns: place.nameWidth)
    var style = Style(theme.color(of: message.from), on: .standard, .bold)
    style.attributes.formUnion(look.fill.attributes)
    line.put(name, at: place.name + place.nameWidth - TextWidth.columns(of: name), style)
  }

  /// Appends a note to the last row, or below it if there is no room.
  private func append(_ note: String, _ style: Style, to rows: inout [Row]) {
    if let last = rows.indices.last,
      rows[last].columns + 1 + TextWidth.columns(of: note) <= textColumns
    {
      rows[last].append(" " + note, style)
    } else {
      rows.append(Row(ShownText.fit(note, columns: textColumns), style))
    }
  }
}
