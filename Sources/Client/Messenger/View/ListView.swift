import Terminal
import Wire

/// The left pane: users and rooms.
extension Chat {
  func draw(list layout: Layout, _ theme: Theme, _ drawing: inout Drawing) {
    guard !layout.list.isEmpty else { return }
    draw(header: layout, theme, &drawing)
    draw(filter: layout.filter, theme, &drawing)
    draw(foot: layout.listFoot, theme, &drawing)
    let pane = layout.listRows
    if listed.isEmpty {
      let text =
        if !filter.isEmpty { "No matches for “\(ShownText.line(filter.text))”." } else {
          switch directory {
          case .loading: isUnconnected ? "" : "⋯ loading people"
          case .failed, .limited: "The list of people is unavailable."
          case .complete, .partial: "No users yet."
          }
        }
      draw([text], in: pane, theme, &drawing)
      return
    }
    for (index, heading, line) in visibleList(in: layout) {
      guard let conversation = conversations[listed[index]] else { continue }
      if let heading, let section = headings[index] {
        let row = Rect(column: pane.column, row: heading, columns: pane.columns, rows: 1)
        draw(self.heading(of: section), in: row, theme, &drawing)
      }
      let row = Rect(
        column: pane.column, row: line, columns: pane.columns, rows: layout.rowHeight)
      draw(conversation, in: row, theme, &drawing)
      drawing.targets.append((row, .conversation(conversation.room)))
    }
  }

  private func draw(
    _ heading: (title: String, hint: String?), in row: Rect, _ theme: Theme,
    _ drawing: inout Drawing
  ) {
    let used = drawing.grid.write(
      fitting: heading.title, at: Position(column: row.column + 1, row: row.row), theme.strong,
      columns: row.columns - 2)
    guard let hint = heading.hint else { return }
    let column = row.columns - 1 - TextWidth.columns(of: hint)
    guard column > used + 2 else { return }
    drawing.grid.write(hint, at: Position(column: row.column + column, row: row.row), theme.faint)
  }

  /// Whether there is no connection, so that nothing can arrive.
  private var isUnconnected: Bool {
    switch connection {
    case .waiting, .ended: true
    case .connecting, .live: false
    }
  }

  private func draw(header layout: Layout, _ theme: Theme, _ drawing: inout Drawing) {
    let row = layout.listHeader
    guard !row.isEmpty else { return }
    var end = row.columns
    // The connection's state is drawn in the title, unless that is hidden.
    if layout.title.isEmpty {
      end -= draw(health: row, theme, &drawing)
    }
    drawing.grid.fill(
      Rect(column: row.column, row: row.row, columns: end, rows: 1), with: theme.bar)
    let own = user.map { ShownText.line(self.name(of: $0)) } ?? "wschat"
    let name = settings.profile.map { "\(own) (\($0))" } ?? own
    var bold = theme.bar
    bold.attributes.insert(.bold)
    let used = drawing.grid.write(
      fitting: name, at: Position(column: row.column + 1, row: row.row), bold, columns: end - 2)
    let unread = unreadCount
    let note = unread > 0 ? "\(unread) unread" : ""
    let column = end - 1 - note.count
    if !note.isEmpty, column > used + 2 {
      drawing.grid.write(
        note, at: Position(column: row.column + column, row: row.row), theme.barFaint)
    }
  }

  private func draw(filter row: Rect, _ theme: Theme, _ drawing: inout Drawing) {
    guard !row.isEmpty else { return }
    draw(line: filter, after: "/ ", hint: "filter", in: row, theme, &drawing)
    if overlay == nil, search == nil { drawing.grid.cursor = cursor(of: filter, after: 2, in: row) }
  }

  private func draw(foot row: Rect, _ theme: Theme, _ drawing: inout Drawing) {
    guard !row.isEmpty else { return }
    let text: String
    var style = theme.faint
    switch directory {
    case .loading:
      if isUnconnected { return }
      text = "⋯ loading people"
    case .limited(let end):
      // A narrow pane shortens the text, never the time.
      let left = Moment.left(until: end, now: now)
      let forms = ["rate-limited, retrying in \(left)", "limited, retry in \(left)"]
      text = forms.first { TextWidth.columns(of: $0) <= row.columns - 2 } ?? "limited: \(left)"
      style = theme.idle
    case .failed(let reason):
      let key = label(.help, in: .list).map { "\($0): " } ?? ""
      text = "! \(key)\(ShownText.line(reason))"
      style = theme.error
    case .complete, .partial: return
    }
    drawing.grid.write(
      fitting: text, at: Position(column: row.column + 1, row: row.row), style,
      columns: row.columns - 2)
  }

  private func draw(
    _ conversation: Conversation, in row: Rect, _ theme: Theme, _ drawing: inout Drawing
  ) {
    let isSelected = pane == .list && listSelection == conversation.room
    let isOpen = timeline?.room == conversation.room
    let back = isSelected ? theme.selection : isOpen ? theme.current : Style()
    if isSelected || isOpen { drawing.grid.fill(row, with: back) }
    let extra = isOpen || isSelected ? back.attributes.subtracting(.inverse) : []

    func write(_ text: String, _ column: Int, _ line: Int, _ style: Style, _ columns: Int) -> Int {
      var style = style
      style.attributes.formUnion(extra)
      return drawing.grid.write(
        fitting: text, at: Position(column: row.column + column, row: row.row + line), style,
        columns: columns)
    }
    func faint(_ style: Style) -> Style {
      isSelected || isOpen ? Style(back.foreground, on: .standard, style.attributes) : style
    }

    if isOpen { _ = write("▎", 0, 0, theme.accent, 1) }
    if isOpen, row.rows > 1 { _ = write("▎", 0, 1, theme.accent, 1) }
    let (dot, dotStyle) = theme.dot(of: conversation.presence)
    if conversation.peer != nil { _ = write(dot, 1, 0, dotStyle, 1) }
    let person = Style(
      theme.color(of: conversation.peer ?? conversation.room), on: .standard, .bold)
    let initials = conversation.peer == nil ? "#" : ShownText.initials(of: conversation.title)
    let start = nameColumn(rows: row.rows)
    if showsPictures {
      draw(pictureOf: conversation, initials: initials, in: row, person, &drawing)
    } else {
      _ = write(initials, 3, 0, person, 2)
    }

    // From right to left: time, badge, and the name in the remaining columns.
    var end = row.columns - 1
    let time = conversation.last.map { moment($0.at).brief } ?? ""
    let badge = self.badge(of: conversation)
    let badgeStyle = conversation.notifications == .all ? theme.badge : theme.mutedBadge
    let mentions = conversation.unreadMentions
    let mentioned = mentions > 0 ? " @\(mentions) " : ""
    if row.rows > 1 {
      end -= TextWidth.columns(of: time)
      if end > start + 4 { _ = write(time, end, 0, faint(theme.faint), row.columns - end) }
    } else if !badge.isEmpty {
      end -= badge.count
      _ = write(badge, end, 0, badgeStyle, badge.count)
    }
    if row.rows == 1, !mentioned.isEmpty {
      end -= mentioned.count
      _ = write(mentioned, end, 0, theme.mention, mentioned.count)
    }
    switch conversation.notifications {
    case .all: break
    case .mentions:
      end -= 2
      if end > start + 2 { _ = write("@", end, 0, faint(theme.faint), 1) }
    case .none:
      end -= 3
      if end > start + 2 { _ = write("🔕", end, 0, faint(theme.faint), 2) }
    }
    var nameStyle = faint(theme.text)
    if conversation.wantedUnread > 0 { nameStyle.attributes.insert(.bold) }
    let name = ShownText.line(conversation.title)
    let used = write(name, start, 0, nameStyle, end - 1 - start)
    if conversation.isBot, start + used + 5 < end {
      _ = write(" bot", start + used, 0, faint(theme.faint), 4)
    }

    if row.rows > 1 {
      end = row.columns - 1
      if !badge.isEmpty {
        end -= badge.count
        _ = write(badge, end, 1, badgeStyle, badge.count)
      }
      if !mentioned.isEmpty {
        end -= mentioned.count
        _ = write(mentioned, end, 1, theme.mention, mentioned.count)
      }
      var column = start
      for (text, style) in preview(of: conversation, theme) where column < end - 1 {
        column += write(
          text, column, 1, style == theme.faint ? faint(style) : style, end - 1 - column)
      }
    }
    if back.attributes.contains(.inverse) {
      drawing.grid.restyle(row) { $0.attributes.insert(.inverse) }
    }
  }

  /// The number of unread messages that the user wants to know of.
  var unreadCount: Int64 {
    conversations.values.reduce(0) { $0 + $1.wantedUnread }
  }

  private func badge(of conversation: Conversation) -> String {
    guard conversation.unread > 0 else { return conversation.isMarkedUnread ? " • " : "" }
    return conversation.unread > 999 ? " 999+ " : " \(conversation.unread) "
  }

  /// Returns the second line: typing, an unsent draft, or the last message.
  private func preview(of conversation: Conversation, _ theme: Theme) -> [(String, Style)] {
    if let typing = typing(in: conversation) { return [(typing, theme.good)] }
    let isOpen = timeline?.room == conversation.room
    if !isOpen, !conversation.draft.isEmpty {
      let draft = ShownText.line(conversation.draft)
      return [("Draft: ", theme.error), (draft, theme.faint)]
    }
    guard let last = conversation.last else { return [] }
    if conversation.peer == nil, blocked.contains(last.from) {
      return [("a message of a blocked person", theme.faint)]
    }
    var pieces: [(String, Style)] = []
    if let state = last.state {
      let (mark, style) = theme.mark(of: state, faint: theme.faint)
      pieces.append((mark + " ", style))
    } else if conversation.peer == nil {
      let name = last.from == user ? "You" : ShownText.line(name(of: last.from))
      pieces.append((name + ": ", theme.faint))
    }
    var style = theme.faint
    if last.text.isEmpty { style.attributes.formUnion([.dim, .italic]) }
    pieces.append((last.text.isEmpty ? "deleted" : ShownText.line(last.text), style))
    return pieces
  }

  /// Returns who is typing, without expired notices.
  func typing(in conversation: Conversation) -> String? {
    let users = conversation.typing.filter { $0.until > now }.map(\.user)
    guard let first = users.first else { return nil }
    if conversation.peer != nil { return "typing…" }
    let name = ShownText.line(name(of: first))
    return users.count == 1
      ? "\(name) is typing…" : "\(name) and \(users.count - 1) more are typing…"
  }
}

extension Theme {
  /// Returns the symbol of a presence.
  func dot(of presence: Presence?) -> (text: String, style: Style) {
    switch presence {
    case .online: ("●", good)
    case .away: ("◐", idle)
    case .offline: ("○", gone)
    case nil: (" ", gone)
    }
  }
}
