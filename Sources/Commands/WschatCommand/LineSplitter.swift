/// Splits a stream of bytes into numbered lines.
struct LineSplitter {
  /// A line without its line break (LF or CR LF).
  enum Line {
    case text(String)
    case notUTF8
    case tooLong
  }

  /// Longer than any line that a relay accepts; longer lines are discarded.
  static let lineLimitBytes = 1 << 20

  private var partial: [UInt8] = []
  private var isTooLong = false
  /// The number of the last line that was returned, from 1.
  private(set) var number = 0

  mutating func feed(_ bytes: ArraySlice<UInt8>, _ body: (Line, Int) -> Void) {
    var rest = bytes
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      keep(rest[..<end])
      finishLine(body)
      rest = rest[rest.index(after: end)...]
    }
    keep(rest)
  }

  /// Ends the input: text after the last line break is a line, too.
  mutating func finish(_ body: (Line, Int) -> Void) {
    if !partial.isEmpty || isTooLong { finishLine(body) }
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) {
    if isTooLong { return }
    if partial.count + bytes.count > Self.lineLimitBytes {
      isTooLong = true
      partial = []
    } else {
      partial.append(contentsOf: bytes)
    }
  }

  private mutating func finishLine(_ body: (Line, Int) -> Void) {
    number += 1
    defer {
      partial.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if isTooLong { return body(.tooLong, number) }
    if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
    guard let text = String(validating: partial, as: UTF8.self) else {
      return body(.notUTF8, number)
    }
    body(.text(text), number)
  }
}
