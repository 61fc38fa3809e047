import Terminal

extension Chat {
  /// Draws the screen and records the targets of the mouse. Only visible messages are laid out, so
  /// that the cost depends on the size of the screen, not of the conversation.
  public func draw(_ theme: Theme) -> Drawing {
    let layout = self.layout
    var drawing = Drawing(grid: Grid(size))
    draw(list: layout, theme, &drawing)
    let (top, isNewestSeen) = draw(messages: layout.messages, theme, &drawing)
    draw(title: layout.title, showing: top, theme, &drawing)
    draw(search: layout.search, theme, &drawing)
    draw(composer: layout, theme, &drawing)
    if let timeline, !isNewestSeen { draw(newestIn: layout, timeline, theme, &drawing) }
    for row in 0..<layout.divider.rows {
      drawing.grid.write(
        "│", at: Position(column: layout.divider.column, row: layout.divider.row + row), theme.rule)
    }
    // Last: a long notice has rows of the panes.
    draw(status: layout.status, theme, &drawing)
    draw(completion: layout, theme, &drawing)
    draw(overlay: layout, theme, &drawing)
    if showsPictures || pictureForm != nil { drawing.grid.dropCoveredPictures() }
    return drawing
  }

  /// - Returns: The time of the first visible message, and whether nothing newer is below the pane.
  private func draw(
    messages pane: Rect, _ theme: Theme, _ drawing: inout Drawing
  ) -> (top: Int64?, isNewestSeen: Bool) {
    guard !pane.isEmpty else { return (nil, true) }
    guard let timeline else {
      draw(
        [
          "Choose a conversation on the left.",
          label(.switcher).map { "\($0) finds one by name." },
        ], in: pane, theme, &drawing)
      return (nil, true)
    }
    guard var viewport = viewport(in: pane, theme) else {
      let name = open.map { ShownText.line($0.title) } ?? timeline.room
      draw(
        timeline.isLoading
          ? ["⋯ loading messages"] : ["No messages yet.", "Say hello to \(name)."],
        in: pane, theme, &drawing)
      return (nil, true)
    }
    var top: Int64?
    var row = pane.row + pane.rows - 1
    for (place, line) in viewport.seen() {
      drawing.grid.draw(line, row: row, in: pane)
      if let (strip, column) = line.strip {
        draw(strip, at: Position(column: pane.column + column, row: row), &drawing)
      }
      top = timeline.messages[place.index].at
      if place.line >= viewport.block(place.index).above {
        drawing.targets.append(
          (
            Rect(column: pane.column, row: row, columns: pane.columns, rows: 1),
            .message(timeline.messages[place.index].key)
          ))
      }
      row -= 1
    }
    return (top, !timeline.isDetached && viewport.isLast(viewport.bottom))
  }

  /// Draws the hint that there are newer messages below, and how many have arrived.
  private func draw(
    newestIn layout: Layout, _ timeline: Timeline, _ theme: Theme, _ drawing: inout Drawing
  ) {
    let key =
      label(.newest, in: self.pane == .messages ? .messages : .anywhere).map { " \($0)" } ?? ""
    let isNew = timeline.newBelow > 0
    let count = isNew ? "\(timeline.newBelow) new " : ""
    let (text, rect) = place(
      [" \(count)↓\(key) ", " \(count)↓ "], belowMessagesIn: layout, drawing.grid)
    drawing.grid.write(
      text, at: Position(column: rect.column, row: rect.row),
      isNew ? theme.badge : theme.mutedBadge, columns: rect.columns)
    drawing.targets.append((rect, .newest))
  }

  /// Returns the first form of a hint that covers no text at the lower edge of the messages, and its
  /// place: on the line above the composer, or else where the last row of the messages is blank.
  private func place(
    _ forms: [String], belowMessagesIn layout: Layout, _ grid: Grid
  ) -> (text: String, rect: Rect) {
    let isOnRule = composition == .new && !layout.banner.isEmpty
    let pane = layout.messages
    let row = isOnRule ? layout.banner.row : pane.row + pane.rows - 1
    var place = (text: "", rect: Rect.none)
    for text in forms {
      let columns = min(pane.columns, TextWidth.columns(of: text))
      let room = pane.columns - columns
      for start in [room / 2, room, 0] {
        let rect = Rect(column: pane.column + start, row: row, columns: columns, rows: 1)
        if isOnRule || grid.isBlank(rect) { return (text, rect) }
        if start == room { place = (text, rect) }
      }
    }
    return place
  }

  /// Draws a short text in the middle of a pane.
  func draw(_ lines: [String?], in pane: Rect, _ theme: Theme, _ drawing: inout Drawing) {
    let lines = lines.compactMap(\.self).flatMap {
      Wrapping.lines(of: $0, columns: max(1, pane.columns - 2))
    }.prefix(pane.rows)
    for (index, line) in lines.enumerated() {
      let columns = TextWidth.columns(of: line)
      drawing.grid.write(
        line,
        at: Position(
          column: pane.column + max(0, (pane.columns - columns) / 2),
          row: pane.row + (pane.rows - lines.count) / 2 + index), theme.faint,
        columns: pane.columns)
    }
  }

  /// Returns the key of a command, if it has one.
  func label(_ command: Command, in context: Keymap.Context = .anywhere) -> String? {
    settings.keymap.label(of: command, in: context)
  }
}
