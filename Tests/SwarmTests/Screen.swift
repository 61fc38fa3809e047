/// A minimal terminal (ECMA-48): the look of a program's output, and the state that it leaves.
/// A sequence that it does not know is an error of the program.
struct Screen {
  private(set) var rows: [[Character]] = [[]]
  private(set) var row = 0
  private(set) var column = 0
  /// The lines that have left the screen at its top.
  private(set) var history: [String] = []
  private var columns: Int
  private let height: Int
  private var modes: Set<String> = ["?25", "?7"]
  private var isWrapPending = false
  private var rest: [Character] = []
  /// Sequences that it does not know.
  private(set) var strange: [String] = []

  init(columns: Int, rows: Int) {
    self.columns = columns
    height = rows
  }

  /// Whether the cursor is shown, lines wrap, and no frame is open.
  var isUsual: Bool { modes == ["?25", "?7"] && rest.isEmpty && strange.isEmpty }

  /// Down to the last line with content.
  var lines: [String] {
    var lines = rows.map { String($0) }
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  mutating func take(_ bytes: [UInt8]) {
    // By scalars: Swift takes CR LF for one character.
    var input = rest + String(decoding: bytes, as: UTF8.self).unicodeScalars.map(Character.init)
    rest = []
    while !input.isEmpty {
      let character = input.removeFirst()
      switch character {
      case "\r": (column, isWrapPending) = (0, false)
      case "\n": lineFeed()
      case "\u{1B}":
        guard let end = input.firstIndex(where: { $0.isLetter }), input.first == "[" else {
          rest = [character] + input
          return
        }
        sequence(String(input[1..<end]), input[end])
        input.removeFirst(end + 1)
      default: put(character)
      }
    }
  }

  /// Wraps like terminals that keep what no longer fits.
  mutating func narrow(to columns: Int) {
    var wrapped: [[Character]] = []
    for (index, line) in rows.enumerated() {
      if index == row { row = wrapped.count }
      var line = line
      repeat {
        wrapped.append(Array(line.prefix(columns)))
        line.removeFirst(min(columns, line.count))
      } while !line.isEmpty
    }
    rows = wrapped
    self.columns = columns
  }

  private mutating func put(_ character: Character) {
    if isWrapPending, modes.contains("?7") {
      column = 0
      lineFeed()
    }
    isWrapPending = false
    while rows[row].count <= column { rows[row].append(" ") }
    rows[row][column] = character
    if column == columns - 1 { isWrapPending = true } else { column += 1 }
  }

  private mutating func lineFeed() {
    isWrapPending = false
    row += 1
    if row == rows.count { rows.append([]) }
    if rows.count > height {
      history.append(String(rows.removeFirst()))
      row -= 1
    }
  }

  private mutating func sequence(_ parameters: String, _ final: Character) {
    isWrapPending = false
    switch (final, parameters) {
    case ("A", _): row = max(0, row - (Int(parameters) ?? 1))
    case ("K", ""): rows[row] = Array(rows[row].prefix(column))
    case ("J", ""):
      rows[row] = Array(rows[row].prefix(column))
      rows.removeSubrange((row + 1)...)
    case ("h", "?25"), ("h", "?7"), ("h", "?2026"): modes.insert(parameters)
    case ("l", "?25"), ("l", "?7"), ("l", "?2026"): modes.remove(parameters)
    case ("m", _): break
    default: strange.append("\(parameters)\(final)")
    }
  }
}
