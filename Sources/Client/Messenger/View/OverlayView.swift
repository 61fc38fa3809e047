import Terminal
import Wire

/// The overlays.
extension Chat {
  /// Returns the actions on a message, in the order of the menu.
  public func actions(for message: Message) -> [Command] {
    var actions: [Command] = []
    if case .failed = message.state { actions += [.retry, .discard] }
    if message.isDeleted || message.isNotice { return actions }
    let isInLog = message.seq != nil
    if isInLog { actions += [.reply, .react] }
    actions.append(.copy)
    if isInLog, message.file == nil { actions.append(.forward) }
    if isInLog, message.file != nil { actions += [.openFile, .saveFile, .copyLink] }
    if !Links.find(in: message.text).isEmpty { actions.append(.openLink) }
    // It may not have been sent yet: then it can be taken back.
    if message.isOwn, message.state == .waiting {
      let isText = message.forwardedFrom == nil && message.file == nil
      actions += isText ? [.edit, .discard] : [.discard]
    }
    if message.isOwn, isInLog { actions += message.file == nil ? [.edit, .delete] : [.delete] }
    if !message.isOwn, isInLog, mayDelete(message) { actions.append(.delete) }
    return actions
  }

  func draw(overlay layout: Layout, _ theme: Theme, _ drawing: inout Drawing) {
    guard let overlay else { return }
    switch overlay {
    case .help(let line): draw(helpFrom: line, theme, &drawing)
    case .switcher(let switcher): draw(switcher, theme, &drawing)
    case .actions(let selected): draw(actionsAt: selected, theme, &drawing)
    case .reactions(let selected, let query):
      draw(reactionsAt: selected, query, theme, &drawing)
    case .confirmDeletion(let key): draw(deletionOf: key, theme, &drawing)
    case .confirmLeaving(let room): draw(leavingOf: room, theme, &drawing)
    case .confirmQuitting:
      ask(
        "Quit, and lose what is not saved?", "\(loss ?? "Nothing") cannot be saved.", "quit",
        "stay", theme, &drawing)
    case .confirmChange(let change):
      let what = change.role == .banned ? "ban" : "remove"
      let name = ShownText.line(name(of: change.user))
      ask(
        "\(what == "ban" ? "Ban" : "Remove") \(name)?",
        "/\(what == "ban" ? what : "kick") \(change.user) REASON also says why.", what, "keep",
        theme, &drawing)
    case .confirmSending(let file, pasted: _):
      ask(
        "Send this file?", "\(file.name) (\(FileSize.rounded(file.sizeBytes)))", "send",
        "insert the path", theme, &drawing)
    case .confirmOpening(let name, path: _):
      ask("Open what may be a program?", name, "open", "do not open", theme, &drawing)
    case .members(let selected): draw(membersAt: selected, theme, &drawing)
    case .find(let find): draw(find, theme, &drawing)
    case .date(let date): draw(date: date, theme, &drawing)
    case .signIn: if let signIn { draw(signIn: signIn, theme, &drawing) }
    }
  }

  private func draw(_ switcher: Switcher, _ theme: Theme, _ drawing: inout Drawing) {
    let title = switcher.forwarding == nil ? "Go to" : "Forward to"
    let most = max(1, min(12, size.rows - 5))
    let inner = panel(
      title, columns: 50, rows: 2 + min(most, max(1, switcher.matches.count)), theme, &drawing)
    guard !inner.isEmpty else { return }
    draw(
      line: switcher.query, after: "› ", hint: "name of a user or room", in: inner.line(0), theme,
      &drawing)
    drawing.grid.cursor = cursor(of: switcher.query, after: 2, in: inner.line(0))
    var rows = inner
    rows.row += min(2, inner.rows)
    rows.rows -= min(2, inner.rows)
    // Instead of the rows, or above them.
    let place = switcher.matches.isEmpty ? 2 : 1
    if let advice = advice(switcher), inner.rows > place {
      drawing.grid.write(
        fitting: advice, at: Position(column: inner.column + 2, row: inner.row + place),
        theme.faint, columns: inner.columns - 3)
    }
    let top = Chat.top(of: switcher.selected, rows: rows.rows)
    for (offset, room) in switcher.matches.dropFirst(top).prefix(max(0, rows.rows)).enumerated() {
      let row = rows.line(offset)
      let conversation = conversations[room]
      choose(row, isSelected: top + offset == switcher.selected, theme, &drawing) { grid in
        let peer = conversation == nil ? RoomName.peer(in: room, of: user) : conversation?.peer
        let isRoom = peer == nil
        let (dot, style) = theme.dot(of: conversation?.presence)
        let place = Position(column: row.column + 1, row: row.row)
        grid.write(isRoom ? "#" : dot, at: place, isRoom ? theme.accent : style)
        var end = row.columns - 1
        if let unread = conversation?.unread, unread > 0 {
          let count = "\(unread)"
          end -= count.count + 1
          grid.write(
            count, at: Position(column: row.column + end + 1, row: row.row), theme.accent)
        }
        grid.write(
          fitting: conversation.map { ShownText.line($0.title) }
            ?? peer.map { "Write to @\($0)" } ?? "Open the new room #\(room)",
          at: Position(column: row.column + 3, row: row.row), theme.panelText, columns: end - 3)
      }
      drawing.targets.append((row, .choice(top + offset)))
    }
  }

  /// Returns what a text offers that is no conversation's name; `nil` where the rows say it.
  private func advice(_ switcher: Switcher) -> String? {
    let text = switcher.query.text
    if text.isEmpty || switcher.matches.contains(where: { conversations[$0] != nil }) { return nil }
    if let user, text.lowercased() == user || text.lowercased() == "@\(user)" {
      return "this is you; you cannot write to yourself"
    }
    if switcher.forwarding == nil, Chat.room(named: text, user: user) != nil,
      !text.hasPrefix("@"), !text.hasPrefix("#")
    {
      return "#\(ShownText.line(text.lowercased())) opens a room of that name"
    }
    return switcher.matches.isEmpty ? "no matches" : nil
  }

  private func draw(actionsAt selected: Int, _ theme: Theme, _ drawing: inout Drawing) {
    guard let message = selectedMessage else { return }
    let actions = self.actions(for: message)
    let inner = panel(
      "Message", columns: 30, rows: min(actions.count, max(1, size.rows - 4)), theme, &drawing)
    guard !inner.isEmpty else { return }
    let top = Chat.top(of: selected, rows: inner.rows)
    for (offset, action) in actions.dropFirst(top).prefix(inner.rows).enumerated() {
      let row = inner.line(offset)
      choose(row, isSelected: top + offset == selected, theme, &drawing) { grid in
        grid.write(
          fitting: action.title, at: Position(column: row.column + 1, row: row.row),
          theme.panelText,
          columns: row.columns - 2)
        guard let key = settings.keymap.label(of: action, in: .messages) else { return }
        let columns = TextWidth.columns(of: key)
        guard columns + 16 < row.columns else { return }
        grid.write(
          key, at: Position(column: row.column + row.columns - columns - 1, row: row.row),
          theme.faint)
      }
      drawing.targets.append((row, .choice(top + offset)))
    }
  }

  private func draw(deletionOf key: Message.Key, _ theme: Theme, _ drawing: inout Drawing) {
    ask(
      "Delete this message for everyone?", timeline?.message(key)?.text ?? "", "delete", "keep",
      theme, &drawing)
  }

  private func draw(leavingOf room: String, _ theme: Theme, _ drawing: inout Drawing) {
    let title = conversations[room]?.title ?? room
    let hasDraft =
      timeline?.room == room ? !composer.isBlank : conversations[room]?.draft.isEmpty == false
    ask(
      "Leave \(ShownText.line(title))?",
      "Its messages\(hasDraft ? " and draft" : "") are deleted on this machine.", "leave",
      "stay", theme, &drawing)
  }

  /// Draws a question, what it is about, and the keys for the two answers.
  private func ask(
    _ question: String, _ text: String, _ yes: String, _ no: String, _ theme: Theme,
    _ drawing: inout Drawing
  ) {
    let inner = panel(question, columns: 44, rows: 3, theme, &drawing)
    guard !inner.isEmpty else { return }
    drawing.grid.write(
      fitting: ShownText.line(text),
      at: Position(column: inner.column + 1, row: inner.row), theme.faint,
      columns: inner.columns - 2)
    let keys = [
      (label(.choose, in: .overlay), "y", yes), (label(.cancel, in: .overlay), "n", no),
    ]
    let hints = keys.map { key, letter, what in
      (key: key.map { "\($0), \(letter)" } ?? letter, what: what)
    }
    if inner.rows > 2 { draw(hints: hints, in: inner.line(2), theme, &drawing) }
  }

  /// The message to which actions apply.
  var selectedMessage: Message? { timeline.flatMap { $0.selected.flatMap($0.message) } }

  /// Returns the first visible choice, so that the selected one is visible.
  static func top(of selected: Int, rows: Int) -> Int { max(0, selected - max(1, rows) + 1) }

  /// Draws a row of choices, highlighted if it is selected.
  func choose(
    _ row: Rect, isSelected: Bool, _ theme: Theme, _ drawing: inout Drawing,
    _ body: (inout Grid) -> Void
  ) {
    if isSelected { drawing.grid.fill(row, with: theme.selection) }
    body(&drawing.grid)
    if isSelected, theme.selection.attributes.contains(.inverse) {
      drawing.grid.restyle(row) { $0.attributes.insert(.inverse) }
    }
  }

  /// Draws a framed panel in the middle of the screen; returns its inner rectangle.
  func panel(
    _ title: String, columns: Int, rows: Int, _ theme: Theme, _ drawing: inout Drawing
  ) -> Rect {
    let outer = Rect(
      column: max(0, (size.columns - columns - 2) / 2), row: max(0, (size.rows - rows - 2) / 2),
      columns: min(columns + 2, size.columns), rows: min(rows + 2, size.rows))
    guard outer.columns >= 4, outer.rows >= 3 else { return .none }
    // Nothing below it receives the mouse or the cursor.
    drawing.targets.removeAll()
    drawing.grid.cursor = nil
    drawing.grid.fill(outer, with: theme.panel)
    let width = outer.columns - 2
    let bar = String(repeating: "─", count: width)
    for row in 0..<outer.rows {
      let place = Position(column: outer.column, row: outer.row + row)
      let end = Position(column: outer.column + outer.columns - 1, row: place.row)
      let (left, right) =
        row == 0 ? ("╭", "╮") : row == outer.rows - 1 ? ("╰", "╯") : ("│", "│")
      drawing.grid.write(left, at: place, theme.rule)
      if row == 0 || row == outer.rows - 1 {
        drawing.grid.write(
          bar, at: Position(column: place.column + 1, row: place.row), theme.rule, columns: width)
      }
      drawing.grid.write(right, at: end, theme.rule)
    }
    var bold = theme.panel
    bold.attributes.insert(.bold)
    drawing.grid.write(
      fitting: " \(title) ", at: Position(column: outer.column + 2, row: outer.row), bold,
      columns: width - 2)
    return Rect(
      column: outer.column + 1, row: outer.row + 1, columns: width, rows: outer.rows - 2)
  }
}

extension Command {
  /// The name in the menu of actions.
  var title: String {
    switch self {
    case .openLink: "Open link"
    default: rawValue.prefix(1).uppercased() + rawValue.dropFirst().replacing("-", with: " ")
    }
  }
}
