import Terminal

/// Lays out the messages of a timeline, one by one.
struct MessageLayout {
  let chat: Chat
  let timeline: Timeline
  let theme: Theme
  let columns: Int
  /// Whether there are more than two participants, so that names are needed.
  let isRoom: Bool
  /// Whether there is room for a gap between the messages of different users.
  let isRoomy: Bool
  /// The search match that is selected.
  let currentMatch: Message.Key?
  let query: String
  let mentions: Mentions
  /// The selected messages, if they are several.
  let selection: Set<Message.Key>

  /// Messages of one user within five minutes form a group.
  private static let groupMilliseconds: Int64 = 5 * 60 * 1000

  init(_ chat: Chat, _ timeline: Timeline, _ theme: Theme, columns: Int) {
    self.chat = chat
    self.timeline = timeline
    self.theme = theme
    self.columns = columns
    isRoom = chat.conversations[timeline.room]?.peer == nil
    isRoomy = chat.size.rows >= 20
    let search = chat.search
    query = search?.query.text ?? ""
    mentions = chat.mentions
    selection = chat.isSelecting ? Set(chat.selection.map(\.key)) : []
    currentMatch = search.flatMap {
      $0.matches.indices.contains($0.selected) ? $0.matches[$0.selected] : nil
    }
  }

  func isSelected(_ message: Message) -> Bool {
    timeline.selected == message.key || selection.contains(message.key)
  }

  var isPlain: Bool { chat.settings.messages == .plain }
  /// Between a bubble's edge and its text.
  var padding: Int { isPlain || columns < 40 ? 0 : 1 }
  /// The maximum width of a text.
  var textColumns: Int {
    if isIRC { return max(1, columns - ircColumns.text - 1) }
    let room = columns - 4 - 2 * padding
    return max(1, min(room, max(48, columns * 3 / 4), 80))
  }

  func block(_ index: Int) -> MessageBlock {
    let message = timeline.messages[index]
    let before = index > 0 ? timeline.messages[index - 1] : nil
    var block = MessageBlock()
    if index == 0 { block.lines.append(centered(topText, theme.faint)) }
    let day = chat.localTime(message.at)
    let isNewDay = before.map { !Moment.isSameDay(chat.localTime($0.at), day) } ?? true
    let isUnread = isFirstUnread(message, after: before)
    let startsGroup =
      isNewDay || isUnread || before?.from != message.from || before?.isNotice != message.isNotice
      || message.at - (before?.at ?? 0) > MessageLayout.groupMilliseconds
    if startsGroup, isRoomy, !isIRC, index > 0 { block.lines.append(Line()) }
    if isNewDay { block.lines.append(rule(chat.moment(message.at).day, theme.faint)) }
    if isUnread { block.lines.append(rule("New", theme.unreadLine)) }
    let isFolded = isFolded(message)
    let showsName =
      startsGroup && isRoom && !message.isOwn && !isIRC && !message.isNotice && !isFolded
    block.above = block.lines.count + (showsName ? 1 : 0)
    if isFolded {
      block.lines.append(centered("a message of a blocked person", theme.faint))
    } else if message.isNotice {
      let text = Wrapping.lines(of: ShownText.line(message.text), columns: max(1, columns - 4))
      block.lines += text.map { centered(String($0), theme.faint) }
    } else if isIRC {
      appendIRC(message, to: &block)
    } else {
      append(message, named: showsName, to: &block)
    }
    if isSelected(message) {
      for row in block.above..<block.lines.count {
        block.lines[row].put("▌", at: 0, theme.accent)
      }
    }
    return block
  }

  /// Whether it is the message of a blocked person in a room, which is shown when it is selected.
  private func isFolded(_ message: Message) -> Bool {
    isRoom && !message.isNotice && chat.blocked.contains(message.from) && !isSelected(message)
      && currentMatch != message.key
  }

  /// Never empty, so that the messages do not move when it changes.
  private var topText: String {
    if timeline.isLoading { return "⋯ loading older messages" }
    return timeline.isComplete ? "the conversation begins here" : "⋯"
  }

  private func isFirstUnread(_ message: Message, after before: Message?) -> Bool {
    guard let mark = timeline.unreadAfter, let seq = message.seq, seq > mark, !message.isOwn
    else { return false }
    guard let before else { return true }
    return (before.seq ?? .max) <= mark
  }

  /// Appends the bubble, then the lines below it.
  private func append(_ message: Message, named: Bool, to block: inout MessageBlock) {
    let isSelected = isSelected(message)
    let look =
      isSelected ? theme.selected : isPlain ? open : message.isOwn ? theme.own : theme.other
    var rows: [Row] = []
    if named {
      let name = ShownText.fit(ShownText.line(chat.name(of: message.from)), columns: textColumns)
      rows.append(Row(name, Style(theme.color(of: message.from), .bold)))
    }
    rows += content(of: message, look)
    let width = rows.reduce(1) { max($0, $1.columns) }
    // Edge, padding, text, padding, edge; the first and the last column of the pane stay empty.
    let start = message.isOwn ? max(2 + padding, columns - width - 2 - padding) : 2 + padding
    for row in rows { block.lines.append(line(row, at: start, width, look, message)) }
    for row in reactions(of: message) + failure(of: message) {
      var line = Line()
      let column = message.isOwn ? max(1, columns - row.columns - 2 - padding) : start
      for piece in row.pieces { line.put(piece.text, at: column + piece.column, piece.style) }
      block.lines.append(line)
    }
  }

  private func line(
    _ row: Row, at start: Int, _ width: Int, _ look: Theme.Bubble, _ message: Message
  ) -> Line {
    var line = Line()
    let isSelected = isSelected(message)
    if !isPlain || isSelected {
      if look.fill != Style() {
        line.fill = Line.Fill(
          column: start - padding, columns: width + 2 * padding, style: look.fill)
      }
      if !isPlain {
        line.put(String(look.edges.left), at: start - padding - 1, look.edge)
        line.put(String(look.edges.right), at: start + width + padding, look.edge)
      }
    }
    for piece in row.pieces {
      line.put(piece.text, at: start + piece.column, piece.style, link: piece.link)
    }
    line.strip = row.strip.map { ($0, start) }
    let shift = start + width - row.trailingColumns
    for piece in row.trailing { line.put(piece.text, at: shift + piece.column, piece.style) }
    return line
  }

  /// The style of plain messages: that of the screen.
  var open: Theme.Bubble {
    var open = theme.other
    (open.fill, open.text, open.faint) = (Style(), theme.text, theme.faint)
    return open
  }

  private func centered(_ text: String, _ style: Style) -> Line {
    var line = Line()
    let text = ShownText.fit(text, columns: columns)
    line.put(text, at: max(0, (columns - TextWidth.columns(of: text)) / 2), style)
    return line
  }

  /// Returns a text in a line from edge to edge.
  private func rule(_ text: String, _ style: Style) -> Line {
    var line = Line()
    let text = ShownText.fit(text, columns: columns - 4)
    let width = TextWidth.columns(of: text)
    let left = max(0, (columns - width - 2) / 2)
    let ruleStyle = style == theme.faint ? theme.rule : style
    if left > 1 { line.put(String(repeating: "─", count: left - 1), at: 1, ruleStyle) }
    line.put(text, at: left + 1, style)
    let right = left + width + 2
    if columns - right > 1 {
      line.put(String(repeating: "─", count: columns - right - 1), at: right, ruleStyle)
    }
    return line
  }

  /// One row of a bubble's content, from the left; `trailing` is aligned to the right.
  struct Row {
    var pieces: [Line.Piece] = []
    var columns = 0
    var trailing: [Line.Piece] = []
    var trailingColumns = 0
    /// Instead of pieces.
    var strip: PictureStrip?

    init() {}

    init(_ text: some StringProtocol, _ style: Style) { append(text, style) }

    mutating func append(_ text: some StringProtocol, _ style: Style, link: Grid.Link? = nil) {
      pieces.append(Line.Piece(column: columns, text: Substring(text), style: style, link: link))
      columns += TextWidth.columns(of: text)
    }
  }
}
