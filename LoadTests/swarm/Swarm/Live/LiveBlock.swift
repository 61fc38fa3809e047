import Terminal

/// The block of the live view on a terminal: the bytes that draw, move and erase it.
///
/// Log lines scroll above the block. Between two pieces of output the terminal is in its normal
/// state, so that nothing must be restored if the process dies, even by SIGKILL: the cursor is
/// hidden and wrapping is off only within a piece, which is one write(2).
struct LiveBlock {
  /// The displayed lines, without line breaks; the cursor is at the start of the line after them.
  private var lines: [String] = []
  private var columns = 0

  /// Synchronized output (DEC private mode 2026): a terminal that supports it shows only complete
  /// frames.
  private static let begin = "\u{1B}[?2026h\u{1B}[?25l"
  private static let end = "\u{1B}[?25h\u{1B}[?2026l"

  var isShown: Bool { !lines.isEmpty }

  /// Redraws the block in place.
  mutating func draw(_ lines: [String], columns: Int) -> [UInt8] {
    let text = Self.begin + home(columns) + show(lines, columns) + Self.end
    return Array(text.utf8)
  }

  /// Writes log lines above the block, or at the cursor if there is no block.
  mutating func log(_ text: String, columns: Int) -> [UInt8] {
    var logged = ""
    for line in text.split(separator: "\n") {
      logged += TerminalText.line(String(line)) + (isShown ? "\u{1B}[K" : "") + "\r\n"
    }
    guard isShown else { return Array(logged.utf8) }
    let block = lines
    let start = home(columns)
    // A long line wraps over the old block; the rest of the block is then erased.
    return Array((Self.begin + start + logged + show(block, columns) + Self.end).utf8)
  }

  /// Erases the block.
  mutating func clear(columns: Int) -> [UInt8] {
    guard isShown else { return [] }
    let start = home(columns)
    lines = []
    return Array((Self.begin + start + "\u{1B}[J" + Self.end).utf8)
  }

  /// Forgets the block after another process has written to the terminal: what is on the screen
  /// stays, and the next block begins below it.
  mutating func forget() { lines = [] }

  /// Returns the move to the block's first cell.
  private func home(_ columns: Int) -> String {
    // A terminal that has become narrower has wrapped the longer lines.
    let rows = lines.reduce(0) {
      $0 + (columns < self.columns ? max(1, (Self.cells($1) + columns - 1) / max(1, columns)) : 1)
    }
    return rows > 0 ? "\r\u{1B}[\(rows)A" : "\r"
  }

  private mutating func show(_ lines: [String], _ columns: Int) -> String {
    self.lines = lines
    self.columns = columns
    return "\u{1B}[?7l" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J\u{1B}[?7h"
  }

  /// Returns the width of a line; SGR sequences have none.
  private static func cells(_ line: String) -> Int {
    var count = 0
    var isSequence = false
    for scalar in line.unicodeScalars {
      switch scalar {
      case "\u{1B}": isSequence = true
      case "m" where isSequence: isSequence = false
      default: count += isSequence ? 0 : 1
      }
    }
    return count
  }
}
