@testable import Terminal

/// A small terminal, to compare the output of the differ with the intended grid. It supports what
/// the differ may write, and nothing else: an unknown sequence is a failure. Like real terminals,
/// it may have other widths for clusters.
struct Screen {
  enum Widths: CaseIterable {
    /// The widths of `TextWidth`.
    case ours
    /// The width of each scalar by itself, as in a terminal without support for clusters.
    case scalars
    /// Clusters that terminals disagree about take one column.
    case narrow
  }

  private(set) var grid: Grid
  private(set) var complaints: [String] = []
  private(set) var isSynchronized = false
  /// The highest colour depth that was used.
  private(set) var deepest = ColorDepth.none
  private let widths: Widths
  private var cells: [[Cell]]
  /// The links of the cells: id and URL, or nothing.
  private(set) var links: [[String]]
  /// The link that is open.
  private(set) var link = ""
  private var column = 0
  private var row = 0
  private var isCursorShown = false
  private var style = Style()

  init(_ size: Size, widths: Widths = .ours, filledWith filling: Character = "#") {
    self.widths = widths
    grid = Grid(size)
    // It need not be empty at the start.
    let junk = Cell(character: filling, width: 1, style: Style(.palette(1), on: .palette(2)))
    cells = Array(repeating: Array(repeating: junk, count: size.columns), count: size.rows)
    links = Array(repeating: Array(repeating: "", count: size.columns), count: size.rows)
  }

  /// The columns of a cluster on this terminal.
  private func columns(of character: Character) -> [(Character, Int)] {
    let measure = TextWidth.measure(character)
    if measure.isCertain || widths == .ours { return [(character, measure.columns)] }
    if widths == .narrow { return [(character, 1)] }
    return character.unicodeScalars.map {
      (Character($0), TextWidth.columns(of: Character($0)))
    }.filter { $0.1 > 0 }
  }

  mutating func show(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\u{1B}":
        let kind = rest.popFirst()
        if kind == "]" {
          rest = open(rest)
          continue
        }
        guard kind == "[" else { return complain("not a control sequence") }
        let parameters = rest.prefix { !("@"..."~").contains($0) }
        rest = rest.dropFirst(parameters.count)
        guard let final = rest.popFirst() else { return complain("cut off") }
        obey(final, String(parameters))
      case "\r":
        if !link.isEmpty { complain("a movement within a link") }
        column = 0
      case "\n", "\r\n", "\t": complain("a control character")
      default:
        for (cluster, width) in columns(of: character) { put(cluster, width) }
      }
    }
  }

  private mutating func complain(_ what: String) { complaints.append(what) }

  /// Obeys OSC 8, of which the first characters are gone.
  private mutating func open(_ text: Substring) -> Substring {
    guard text.hasPrefix("8;"), let end = text.firstRange(of: "\u{1B}\\") else {
      complain("OSC \(text.prefix(20))")
      return text
    }
    let parameters = text[..<end.lowerBound].dropFirst(2)
    link = parameters == ";" ? "" : String(parameters)
    if !link.isEmpty, !link.hasPrefix("id=") { complain("a link without an id") }
    return text[end.upperBound...]
  }

  private mutating func put(_ character: Character, _ width: Int) {
    if width == 0 { return complain("no width: \(character.unicodeScalars.map(\.value))") }
    let end = cells[row].count
    // Without wrapping, a cluster that does not fit is put into the last columns.
    let start = min(column, end - width)
    if start < 0 { return }
    for index in start..<start + width { clear(index) }
    cells[row][start] = Cell(character: character, width: UInt8(width), style: style)
    for index in start..<start + width { links[row][index] = link }
    if width == 2 { cells[row][start + 1] = Cell(character: " ", width: 0, style: style) }
    column = min(end - 1, start + width)
  }

  /// Erases the other half of an overwritten wide cluster.
  private mutating func clear(_ index: Int) {
    if cells[row][index].width == 0 { cells[row][index - 1] = .blank(cells[row][index - 1].style) }
    if cells[row][index].width == 2 { cells[row][index + 1] = .blank(cells[row][index + 1].style) }
    cells[row][index] = .blank(style)
    links[row][index] = ""
  }

  private mutating func obey(_ final: Character, _ parameters: String) {
    let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) }
    let first = numbers.first.flatMap { $0 } ?? 1
    if final != "m", !link.isEmpty { complain("CSI \(parameters)\(final) within a link") }
    switch (final, parameters) {
    case ("h", "?2026"): isSynchronized = true
    case ("l", "?2026"): isSynchronized = false
    case ("h", "?25"): isCursorShown = true
    case ("l", "?25"): isCursorShown = false
    case ("H", _):
      row = min(first, cells.count) - 1
      column = min(numbers.count > 1 ? numbers[1] ?? 1 : 1, grid.size.columns) - 1
    case ("C", _): column = min(column + first, grid.size.columns - 1)
    case ("G", _): column = min(first, grid.size.columns) - 1
    case ("J", "2"):
      for index in cells.indices {
        cells[index] = Array(repeating: .blank(style), count: grid.size.columns)
        links[index] = Array(repeating: "", count: grid.size.columns)
      }
    case ("K", ""):
      for index in column..<grid.size.columns { clear(index) }
    case ("m", _): render(numbers.map { $0 ?? 0 })
    default: complain("CSI \(parameters)\(final)")
    }
  }

  private mutating func render(_ codes: [Int]) {
    var codes = codes[...]
    while let code = codes.popFirst() {
      if code >= 30, code % 10 < 8 { deepest = max(deepest, .colors16) }
      switch code {
      case 0: style = Style()
      case 1: style.attributes.insert(.bold)
      case 2: style.attributes.insert(.dim)
      case 3: style.attributes.insert(.italic)
      case 4: style.attributes.insert(.underline)
      case 7: style.attributes.insert(.inverse)
      case 9: style.attributes.insert(.strikethrough)
      case 30...37: style.foreground = .palette(UInt8(code - 30))
      case 90...97: style.foreground = .palette(UInt8(code - 82))
      case 40...47: style.background = .palette(UInt8(code - 40))
      case 100...107: style.background = .palette(UInt8(code - 92))
      case 39: style.foreground = .standard
      case 49: style.background = .standard
      case 38, 48:
        let kind = codes.popFirst()
        let parts = (0..<(kind == 5 ? 1 : 3)).map { _ in UInt8(codes.popFirst() ?? 0) }
        let color = kind == 5 ? Color.palette(parts[0]) : .rgb(parts[0], parts[1], parts[2])
        deepest = max(deepest, kind == 5 ? .colors256 : .trueColor)
        if code == 38 { style.foreground = color } else { style.background = color }
      default: complain("SGR \(code)")
      }
    }
  }

  var cursor: Position? { isCursorShown ? Position(column: column, row: row) : nil }

  /// Returns the first difference from the intended grid; colours as on a terminal of that depth.
  /// - Parameter certainOnly: whether clusters that terminals disagree about are skipped.
  func difference(from meant: Grid, depth: ColorDepth = .trueColor, certainOnly: Bool = false)
    -> String?
  {
    if cursor != meant.cursor { return "cursor at \(cursor as Any), not \(meant.cursor as Any)" }
    for row in 0..<meant.size.rows {
      for (column, wanted) in meant[row: row].enumerated() {
        let shown = cells[row][column]
        if certainOnly, wanted.width == 0 || !TextWidth.isCertain(wanted.character) {
          // If it is drawn narrow, no earlier content may remain beside it.
          if widths == .narrow, wanted.width == 0, shown.character != " " {
            return "row \(row), column \(column): \(shown) was left"
          }
          continue
        }
        if Self.seen(shown, .trueColor) != Self.seen(wanted, depth) {
          return "row \(row), column \(column): \(shown), not \(wanted)"
        }
      }
    }
    return nil
  }

  /// The visible attributes of a blank.
  private static func seen(_ cell: Cell, _ depth: ColorDepth) -> Cell {
    var cell = cell
    cell.style.link = 0
    cell.style.foreground = cell.style.foreground.lowered(to: depth)
    cell.style.background = cell.style.background.lowered(to: depth)
    if cell.character == " ",
      cell.style.attributes.isDisjoint(with: [.underline, .inverse, .strikethrough])
    {
      cell.style = Style(on: cell.style.background)
    }
    return cell
  }
}
