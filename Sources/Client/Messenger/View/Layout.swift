public import Terminal

/// The positions of the parts of the screen. A part without room is empty.
public struct Layout: Equatable, Sendable {
  /// The left pane: its header, its filter and its rows.
  public var list = Rect.none
  public var listHeader = Rect.none
  public var filter = Rect.none
  public var listRows = Rect.none
  /// Below the rows: the state of the directory.
  public var listFoot = Rect.none
  /// The number of screen rows per row of the list.
  public var rowHeight = 1
  /// Between the panes.
  public var divider = Rect.none
  public var title = Rect.none
  public var messages = Rect.none
  public var search = Rect.none
  /// Above the composer: the message that is being replied to or edited, or else a thin line.
  public var banner = Rect.none
  /// The composer, including the prompt.
  public var composer = Rect.none
  public var status = Rect.none

  /// The width of the prompt.
  static let promptColumns = 2

  /// Whether the list has room for the headings of its sections.
  var hasHeadings: Bool { listRows.rows >= 8 }
}

extension Chat {
  /// Whether only one pane is shown at a time. Computed without the layout, which wraps the
  /// composer's text: it is needed for every entry that arrives.
  var isNarrow: Bool { (1..<70).contains(size.columns) && size.rows > 0 }

  /// Whether the list covers the conversation.
  var isConversationHidden: Bool { isNarrow && pane == .list }

  /// Whether the conversation has the list's place as well.
  var isListHidden: Bool {
    pane != .list && timeline != nil && (isNarrow || !settings.hasSidebar)
  }

  /// The layout for the size and the content of the screen.
  public var layout: Layout {
    var layout = Layout()
    let columns = max(0, size.columns)
    var rows = max(0, size.rows)
    guard columns > 0, rows > 0 else { return layout }
    if rows >= 5 {
      rows -= 1
      layout.status = Rect(column: 0, row: rows, columns: columns, rows: 1)
    }
    let whole = Rect(column: 0, row: 0, columns: columns, rows: rows)
    if isNarrow {
      if isListHidden {
        place(conversation: whole, in: &layout)
      } else {
        place(list: whole, in: &layout)
      }
      return layout
    }
    if isListHidden {
      place(conversation: whole, in: &layout)
      return layout
    }
    let left = min(42, max(24, columns * 28 / 100))
    place(list: Rect(column: 0, row: 0, columns: left, rows: rows), in: &layout)
    layout.divider = Rect(column: left, row: 0, columns: 1, rows: rows)
    place(
      conversation: Rect(column: left + 1, row: 0, columns: columns - left - 1, rows: rows),
      in: &layout)
    return layout
  }

  private func place(list pane: Rect, in layout: inout Layout) {
    layout.list = pane
    layout.rowHeight = pane.rows >= 15 && settings.list == .full ? 2 : 1
    var rest = pane
    func takeRow() -> Rect {
      guard rest.rows > 1 else { return .none }
      let line = rest.line(0)
      rest.row += 1
      rest.rows -= 1
      return line
    }
    layout.listHeader = takeRow()
    if isFiltering { layout.filter = takeRow() }
    if directory != .complete, directory != .partial, rest.rows > 1 {
      rest.rows -= 1
      layout.listFoot = Rect(
        column: rest.column, row: rest.row + rest.rows, columns: rest.columns, rows: 1)
    }
    layout.listRows = rest
  }

  private func place(conversation pane: Rect, in layout: inout Layout) {
    // The composer has priority over the messages, but at least one line of messages is shown.
    let most = max(1, pane.rows / 3)
    let written = composer.rows(wrappedAt: composerColumns(in: pane.columns)).count
    let composer = min(written, most, pane.rows)
    var bottom = pane.row + pane.rows
    func takeRows(_ rows: Int) -> Rect {
      bottom -= rows
      return Rect(column: pane.column, row: bottom, columns: pane.columns, rows: rows)
    }
    layout.composer = takeRows(composer)
    var left = pane.rows - composer
    if left >= 3 {
      layout.title = pane.line(0)
      left -= 1
    }
    if composition != .new || open?.isRequest == true ? left >= 2 : left >= 8 {
      layout.banner = takeRows(1)
      left -= 1
    }
    if search != nil, left >= 2 {
      layout.search = takeRows(1)
      left -= 1
    }
    layout.messages = Rect(
      column: pane.column, row: bottom - left, columns: pane.columns, rows: left)
  }

  /// The width at which the composer's text is wrapped; the last column is reserved for the cursor
  /// after a full line.
  public var composerColumns: Int { composerColumns(in: layout.composer.columns) }

  func composerColumns(in columns: Int) -> Int {
    max(1, columns - Layout.promptColumns - 1)
  }
}
