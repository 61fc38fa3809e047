import Terminal

/// The list of keys, and the completions.
extension Chat {
  func draw(helpFrom line: Int, _ theme: Theme, _ drawing: inout Drawing) {
    let lines = helpLines
    let rows = min(lines.count, max(1, size.rows - 4))
    let (keyColumns, columns) = helpColumns
    let inner = panel("Keys", columns: columns, rows: rows, theme, &drawing)
    guard !inner.isEmpty else { return }
    let top = min(max(0, line), max(0, lines.count - inner.rows))
    for (offset, entry) in lines[top...].prefix(inner.rows).enumerated() {
      let place = Position(column: inner.column + 1, row: inner.row + offset)
      switch entry {
      case .section(let title):
        drawing.grid.write(fitting: title, at: place, theme.accent, columns: inner.columns - 2)
      case .keys(let keys, let what):
        let split = min(keyColumns, (inner.columns - 2) / 2)
        drawing.grid.write(fitting: keys, at: place, theme.panel, columns: split - 1)
        drawing.grid.write(
          fitting: what, at: Position(column: place.column + split, row: place.row), theme.faint,
          columns: inner.columns - 2 - split)
      case .text(let text):
        drawing.grid.write(
          fitting: text, at: place, theme.panelText, columns: inner.columns - 2)
      case .gap: break
      }
    }
    if top + inner.rows < lines.count {
      drawing.grid.write(
        " ↓ more ",
        at: Position(
          column: inner.column + max(0, inner.columns - 10), row: inner.row + inner.rows),
        theme.faint, columns: min(8, inner.columns))
    }
  }

  /// The keys, and the commands that are written.
  private var help: [(section: String, rows: [(keys: String, text: String)])] {
    let commands = SlashCommand.all.map { (keys: $0.usage, text: $0.text) }
    return settings.keymap.help + [("Commands", commands)]
  }

  /// The width of the widest keys, and of keys and descriptions together.
  private var helpColumns: (keys: Int, all: Int) {
    let rows = help.flatMap(\.rows)
    let keys = rows.reduce(0) { max($0, TextWidth.columns(of: $1.keys)) } + 2
    return (keys, keys + rows.reduce(0) { max($0, TextWidth.columns(of: $1.text)) } + 2)
  }

  /// The number of lines of the help; scrolling is limited to them.
  public var helpLineCount: Int { helpLines.count }

  private enum HelpLine {
    case text(String)
    case section(String)
    case keys(String, String)
    case gap
  }

  private var helpLines: [HelpLine] {
    var lines = conditionLines
    if !lines.isEmpty, !directoryLines.isEmpty { lines.append(.gap) }
    lines += directoryLines
    let columns = helpTextColumns
    let split = min(helpColumns.keys, columns / 2)
    for (section, rows) in help {
      if !lines.isEmpty { lines.append(.gap) }
      lines.append(.section(section))
      for row in rows {
        for (index, text) in Wrapping.lines(of: row.text, columns: columns - split).enumerated() {
          lines.append(.keys(index == 0 ? row.keys : "", String(text)))
        }
      }
    }
    return lines
  }

  /// The columns of a line, at the size of the screen.
  private var helpTextColumns: Int {
    max(20, min(helpColumns.all, size.columns - 4) - 2)
  }

  /// What is wrong, in full: the bar has room for a word.
  private var conditionLines: [HelpLine] {
    conditions.isEmpty
      ? []
      : [.section("What is wrong")]
        + conditions.sorted { $0.key < $1.key }.flatMap {
          Wrapping.lines(of: ShownText.line($0.value), columns: helpTextColumns)
            .map { .text(String($0)) }
        }
  }

  /// Why the directory of people cannot be read, in full: the list has room for its beginning only.
  private var directoryLines: [HelpLine] {
    guard case .failed(let reason) = directory else { return [] }
    let code = directoryCode.map { " (\($0))" } ?? ""
    let text =
      "\(ShownText.line(reason))\(code) It is tried again in "
      + "\(Moment.left(until: times.nextPeople, now: now))."
    return [.section("The directory of people")]
      + Wrapping.lines(of: text, columns: helpTextColumns).map { .text(String($0)) }
  }

  func draw(completion layout: Layout, _ theme: Theme, _ drawing: inout Drawing) {
    guard let completion, !completion.candidates.isEmpty, overlay == nil,
      !layout.composer.isEmpty, timeline != nil
    else { return }
    let count = completion.candidates.count
    let rows = min(Self.completionRows, layout.messages.rows)
    // The last row tells how many others there are, unless that leaves no room for a candidate.
    let hasOthers = count > rows && rows > 1
    let shown = min(rows - (hasOthers ? 1 : 0), count)
    guard shown > 0 else { return }
    let top = Chat.top(of: completion.selected, rows: shown)
    // As wide as the widest of all, so that it keeps its place while the selection moves.
    let labels = completion.candidates.map { ShownText.line($0.label) }
    let widest = labels.reduce(0) { max($0, TextWidth.columns(of: $1)) }
    var candidates = Array(labels[top..<top + shown])
    if hasOthers { candidates.append(Self.others(above: top, below: count - top - shown)) }
    let columns = min(widest + 2, layout.composer.columns)
    // Above the completed word, if there is room.
    let cursor = drawing.grid.cursor?.column ?? layout.composer.column
    let most = layout.composer.column + layout.composer.columns - columns
    let column = max(layout.composer.column, min(cursor - 1, most))
    for (offset, label) in candidates.enumerated() {
      let row = Rect(
        column: column, row: layout.composer.row - candidates.count + offset, columns: columns,
        rows: 1)
      let isCandidate = offset < shown
      let isSelected = isCandidate && top + offset == completion.selected
      let style = isSelected ? theme.selection : theme.panel
      drawing.grid.fill(row, with: style)
      drawing.grid.write(
        fitting: label, at: Position(column: column + 1, row: row.row),
        isCandidate ? style : theme.faint, columns: columns - 2)
      // Draws edges if no colour distinguishes it from its surroundings.
      if style == Style() {
        for edge in [column, column + columns - 1] {
          drawing.grid.write("│", at: Position(column: edge, row: row.row), theme.rule)
        }
      }
      if isCandidate { drawing.targets.append((row, .choice(top + offset))) }
    }
  }

  /// The rows of the completions, with the one that tells how many others there are.
  private static let completionRows = 9

  private static func others(above: Int, below: Int) -> String {
    [above > 0 ? "↑ \(above) more" : nil, below > 0 ? "↓ \(below) more" : nil]
      .compactMap(\.self).joined(separator: "   ")
  }
}
