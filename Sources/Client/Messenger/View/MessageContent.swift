import Terminal

/// The content of a message and its annotations.
extension MessageLayout {
  /// Returns the original sender, the quote and the text.
  func body(of message: Message, _ look: Theme.Bubble) -> [Row] {
    var rows: [Row] = []
    if !message.isDeleted {
      if let user = message.forwardedFrom {
        let text = "↪ forwarded from \(ShownText.line(chat.name(of: user)))"
        rows.append(Row(ShownText.fit(text, columns: textColumns), italic(look.faint)))
      }
      if let quote = message.quote { rows.append(row(of: quote, in: message, look)) }
    }
    rows += picture(of: message, look)
    rows += text(of: message, look)
    return rows
  }

  /// Returns the rows within a bubble: those of the body, the time and the state.
  func content(of message: Message, _ look: Theme.Bubble) -> [Row] {
    var rows = body(of: message, look)
    let note = footnote(on: message, look)
    let last = rows.count - 1
    if rows[last].columns + 2 + note.columns <= textColumns {
      rows[last].columns += 2 + note.columns
      rows[last].trailing = note.pieces
      rows[last].trailingColumns = note.columns
    } else {
      var row = Row()
      (row.columns, row.trailing, row.trailingColumns) = (note.columns, note.pieces, note.columns)
      rows.append(row)
    }
    return rows
  }

  private func row(
    of quote: Message.Quote, in message: Message, _ look: Theme.Bubble
  ) -> Row {
    var row = Row("┃ ", look.faint)
    var left = textColumns - row.columns
    if let from = quote.from {
      let name = ShownText.fit(ShownText.line(chat.name(of: from)), columns: left)
      row.append(name, Style(theme.color(of: from), on: .standard, .bold))
      row.append(" ", look.faint)
      left = textColumns - row.columns
    }
    let text = quote.text.map { ShownText.line($0) } ?? "an earlier message"
    let fitted = ShownText.fit(text, columns: left)
    // What follows a line break, which is a sign here, is not of the link.
    let links = self.links(in: text, of: message).filter { !text[$0.range].contains("⏎") }
    if links.isEmpty || fitted.isEmpty {
      row.append(fitted, look.faint)
    } else if fitted == text {
      append(text[...], of: links, look.faint, to: &row)
    } else {
      // What is left of a link opens all of it, its ellipsis too if it is cut itself.
      let end = text.index(text.startIndex, offsetBy: fitted.count - 1)
      append(text[..<end], of: links, look.faint, to: &row)
      row.append("…", look.faint, link: links.first { $0.range.contains(end) }?.link)
    }
    return row
  }

  private func text(of message: Message, _ look: Theme.Bubble) -> [Row] {
    if message.isDeleted {
      var style = look.faint
      style.attributes.formUnion([.dim, .italic])
      let by = message.deletedBy.map { " by \(ShownText.line(chat.name(of: $0)))" } ?? ""
      return [Row(ShownText.fit("deleted\(by)", columns: textColumns), style)]
    }
    let text = ShownText.lines(message.text)
    var style = look.text
    if message.state == .waiting { style.attributes.insert(.dim) }
    let marks = self.marks(in: text, of: message, style)
    let links = marks.isEmpty ? [] : self.links(in: text, of: message)
    return Wrapping.lines(of: text, columns: textColumns).map { line in
      guard !marks.isEmpty else { return Row(line, style) }
      var row = Row()
      var index = line.startIndex
      for (range, marked) in marks
      where range.upperBound > index && range.lowerBound < line.endIndex {
        let start = max(index, range.lowerBound)
        let end = min(line.endIndex, range.upperBound)
        if index < start { row.append(line[index..<start], style) }
        append(line[start..<end], of: links, marked, to: &row)
        index = end
      }
      if index < line.endIndex { row.append(line[index...], style) }
      return row
    }
  }

  /// Returns the styled ranges of a text: search matches, then links, then mentions.
  /// In order, without overlaps.
  private func marks(
    in text: String, of message: Message, _ style: Style
  ) -> [(Range<String.Index>, Style)] {
    var marks: [(Range<String.Index>, Style)] = []
    if !query.isEmpty, timeline.found.contains(message.key) {
      let match = message.key == currentMatch ? theme.currentMatch : theme.match
      marks = ShownText.occurrences(of: query, in: text).map { ($0, match) }
    }
    let found = marks.map(\.0)
    for link in text.utf8.contains(UInt8(ascii: ":")) ? Links.find(in: text) : [] {
      var style = style
      style.attributes.formUnion(theme.link.attributes)
      // A match within a link splits the link.
      var start = link.lowerBound
      for match in found where match.overlaps(link) {
        if start < match.lowerBound { marks.append((start..<match.lowerBound, style)) }
        start = max(start, match.upperBound)
      }
      if start < link.upperBound { marks.append((start..<link.upperBound, style)) }
    }
    for mention in mentions.find(in: text, isUser: { chat.names[$0] != nil })
    where !marks.contains(where: { $0.0.overlaps(mention.range) }) {
      var name = style
      if let user = mention.user, user != mentions.user {
        name.attributes.insert(.bold)
      } else {
        name = theme.mention
      }
      marks.append((mention.range, name))
    }
    return marks.sorted { $0.0.lowerBound < $1.0.lowerBound }
  }

  /// Returns the edit mark, the time and the state.
  private func footnote(on message: Message, _ look: Theme.Bubble) -> Row {
    var row = Row()
    if message.isEdited, !message.isDeleted { row.append("edited ", look.faint) }
    row.append(chat.moment(message.at).clock, look.faint)
    guard let state = message.state else { return row }
    let (mark, style) = theme.mark(of: state, faint: look.faint)
    row.append(" ", look.faint)
    row.append(mark, style)
    return row
  }

  /// Returns the reactions, in as many rows as necessary.
  func reactions(of message: Message) -> [Row] {
    var rows: [Row] = []
    for reaction in message.reactions where reaction.count > 0 {
      let isOwn = chat.user.map { reaction.users.contains($0) } ?? false
      let emoji = ShownText.fit(ShownText.line(reaction.emoji), columns: min(12, textColumns))
      var chip = Row(emoji, theme.text)
      chip.append(" \(reaction.count)", isOwn ? bold(theme.accent) : theme.faint)
      if let last = rows.indices.last, rows[last].columns + 2 + chip.columns <= textColumns {
        rows[last].append("  ", theme.text)
        for piece in chip.pieces { rows[last].append(piece.text, piece.style) }
      } else {
        rows.append(chip)
      }
    }
    return rows
  }

  /// Returns why the message was not sent, and what can be done.
  func failure(of message: Message) -> [Row] {
    guard case .failed(let reason) = message.state else { return [] }
    var text = "! \(ShownText.line(reason))"
    for (command, what) in [(Command.retry, "retry"), (.discard, "discard")] {
      if let key = chat.settings.keymap.label(of: command, in: .messages) {
        text += " · \(key) \(what)"
      }
    }
    return Wrapping.lines(of: text, columns: textColumns).map { Row($0, theme.error) }
  }

  private func italic(_ style: Style) -> Style {
    Style(style.foreground, on: style.background, style.attributes.union(.italic))
  }

  private func bold(_ style: Style) -> Style {
    Style(style.foreground, on: style.background, style.attributes.union(.bold))
  }
}

extension Theme {
  /// Returns the symbol for the state of the user's own message.
  func mark(of state: SendState, faint: Style) -> (text: String, style: Style) {
    switch state {
    case .waiting: ("…", faint)
    case .sent: ("✓", faint)
    case .delivered: ("✓✓", faint)
    case .read: ("✓✓", readMark)
    case .failed: ("!", error)
    }
  }
}
