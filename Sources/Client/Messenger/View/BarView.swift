import Client
import Terminal
import Wire

/// The bars: the conversation and the connection at the top, keys and notices at the bottom.
extension Chat {
  /// - Parameter top: The time of the first visible message.
  func draw(title row: Rect, showing top: Int64?, _ theme: Theme, _ drawing: inout Drawing) {
    guard !row.isEmpty else { return }
    drawing.grid.fill(row, with: theme.bar)
    var end = row.columns - draw(health: row, theme, &drawing)
    let profile = isListHidden ? settings.profile ?? "" : ""
    for note in [unreadElsewhere, profile, date(of: top)] where !note.isEmpty {
      guard end - note.count >= 20 else { continue }
      end -= note.count + 1
      drawing.grid.write(
        note, at: Position(column: row.column + end, row: row.row), theme.barFaint)
    }
    guard let conversation = open else { return }
    var bold = theme.bar
    bold.attributes.insert(.bold)
    var column = 1
    if conversation.peer != nil, row.columns >= 40 {
      let (dot, style) = theme.dot(of: conversation.presence)
      drawing.grid.write(
        dot, at: Position(column: row.column + column, row: row.row), onBar(style, theme))
      column += 2
    }
    let name = (conversation.peer == nil ? "# " : "") + ShownText.line(conversation.title)
    column += drawing.grid.write(
      fitting: name, at: Position(column: row.column + column, row: row.row), bold,
      columns: end - column - 1)
    var note = about(conversation)
    switch conversation.notifications {
    case .all: break
    case .mentions: note += note.isEmpty ? "mentions only" : " · mentions only"
    case .none: note += note.isEmpty ? "muted" : " · muted"
    }
    let left = end - column - 3
    if left >= 6, !note.isEmpty {
      let isTyping = typing(in: conversation) != nil
      drawing.grid.write(
        fitting: note, at: Position(column: row.column + column + 2, row: row.row),
        isTyping ? onBar(theme.good, theme) : theme.barFaint, columns: left)
    }
  }

  /// The day of the first visible message while the user has scrolled up: the line with the date
  /// may be far above.
  private func date(of top: Int64?) -> String {
    guard let top, let timeline, timeline.scroll != .newest else { return "" }
    return moment(top).day
  }

  /// "3 unread", where the list does not show it.
  private var unreadElsewhere: String {
    let count = isListHidden ? unreadCount : 0
    return count > 0 ? "\(count) unread" : ""
  }

  /// "online", "last seen 12:40", "3 members", "typing…".
  private func about(_ conversation: Conversation) -> String {
    if let typing = typing(in: conversation) { return typing }
    guard conversation.peer != nil else {
      // The other members and the user.
      let members = conversation.membership.members?.count ?? 0
      let count = max(members, conversation.marks.count + 1)
      let topic = ShownText.line(conversation.membership.settings?.topic ?? "")
      return [count == 1 ? "" : "\(count) members", topic].filter { !$0.isEmpty }
        .joined(separator: " · ")
    }
    let kind = conversation.isBot ? "bot · " : ""
    switch conversation.presence {
    case .online: return kind + "online"
    case .away: return kind + "away"
    case .offline, nil:
      if let seen = conversation.lastSeen { return kind + "last seen \(moment(seen).seen)" }
      return conversation.presence == nil
        ? String(kind.dropLast(kind.isEmpty ? 0 : 3)) : kind + "offline"
    }
  }

  /// Draws the state of the connection at the right end of a bar; returns the columns used.
  func draw(health row: Rect, _ theme: Theme, _ drawing: inout Drawing) -> Int {
    var (text, style) = health(theme)
    if row.columns < 40 { text = String(text.prefix { $0 != " " }) }
    if let behind = open?.behind, behind > 0, row.columns >= 40 {
      text = "lagging by \(behind)  \(text)"
    }
    let wrong = conditions.keys.sorted().map { row.columns < 40 ? "!" : "! \($0.label)" }
      .joined(separator: row.columns < 40 ? "" : "  ")
    let wrongColumns = wrong.isEmpty ? 0 : TextWidth.columns(of: wrong) + 2
    let columns = min(row.columns, wrongColumns + TextWidth.columns(of: text) + 2)
    let column = row.column + row.columns - columns
    drawing.grid.fill(
      Rect(column: column, row: row.row, columns: columns, rows: 1), with: theme.bar)
    drawing.grid.write(
      fitting: wrong, at: Position(column: column + 1, row: row.row), onBar(theme.error, theme),
      columns: columns - 1)
    drawing.grid.write(
      fitting: text, at: Position(column: column + 1 + wrongColumns, row: row.row),
      onBar(style, theme), columns: columns - 1 - wrongColumns)
    return columns
  }

  private func health(_ theme: Theme) -> (String, Style) {
    switch connection {
    case .connecting: ("◌ connecting…", theme.idle)
    case .live where overdueSeconds != nil: ("◐ waiting \(overdueSeconds ?? 0) s", theme.idle)
    case .live(let measured):
      (shownRoundTrip(measured).map { "● \($0) ms" } ?? "● connected", theme.good)
    case .waiting(let end, _) where end <= now: ("◌ connecting…", theme.idle)
    case .waiting(let end, _):
      ("↻ reconnecting in \(Moment.seconds(until: end, now: now)) s", theme.error)
    case .ended: ("✕ offline", theme.error)
    }
  }

  private func onBar(_ style: Style, _ theme: Theme) -> Style {
    Style(style.foreground, on: .standard, style.attributes.union(theme.bar.attributes))
  }

  func draw(status row: Rect, _ theme: Theme, _ drawing: inout Drawing) {
    guard !row.isEmpty else { return }
    let place = Position(column: row.column + 1, row: row.row)
    if let pendingHints { return draw(hints: pendingHints, in: row, theme, &drawing) }
    if let notice, notice.until > now {
      draw(notice, above: row, theme, &drawing)
      return
    }
    switch connection {
    case .ended(let reason):
      drawing.grid.write(
        fitting: "✕ \(ShownText.line(reason))", at: place, theme.error, columns: row.columns - 2)
    case .waiting(_, let reason) where !reason.isEmpty:
      let now = label(.reconnect, in: .anywhere).map { "  (\($0): now)" } ?? ""
      drawing.grid.write(
        fitting: "↻ \(ShownText.line(reason))\(now)", at: place, theme.idle,
        columns: row.columns - 2)
    default: draw(hints: hints, in: row, theme, &drawing)
    }
  }

  /// Draws a notice. One that is longer than the row covers rows of the messages, and not what is being
  /// written; only where there is no room for that, the rows above.
  private func draw(
    _ notice: Notice, above row: Rect, _ theme: Theme, _ drawing: inout Drawing
  ) {
    let lines = Wrapping.lines(of: ShownText.line(notice.text), columns: max(1, row.columns - 2))
      .prefix(max(1, min(4, size.rows / 2)))
    var bottom = row.row
    if lines.count > 1 {
      let messages = layout.messages
      if messages.rows > lines.count {
        bottom = messages.row + messages.rows - 1
        draw(hints: hints, in: row, theme, &drawing)
      }
    }
    for (index, line) in lines.enumerated() {
      var row = row
      row.row = bottom - (lines.count - 1 - index)
      if lines.count > 1 { drawing.grid.fill(row, with: theme.panel) }
      drawing.grid.write(
        fitting: String(line), at: Position(column: row.column + 1, row: row.row),
        notice.isError ? theme.error : theme.accent, columns: row.columns - 2)
    }
  }

  /// Draws the keys and their descriptions, as many as fit completely.
  func draw(
    hints: [(key: String, what: String)], in row: Rect, _ theme: Theme, _ drawing: inout Drawing
  ) {
    var column = 1
    for (key, what) in hints {
      let columns = TextWidth.columns(of: key) + 1 + TextWidth.columns(of: what)
      guard column + columns < row.columns else { break }
      var place = Position(column: row.column + column, row: row.row)
      place.column += drawing.grid.write(key, at: place, theme.accent)
      drawing.grid.write(" " + what, at: place, theme.faint)
      column += columns + 2
    }
  }
}
