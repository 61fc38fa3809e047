internal import EventLoop
import Glibc
import Platform
internal import Terminal

/// The screen of `relay top`: takes the whole terminal until `q` or Ctrl+C.
struct TopScreen: ~Copyable {
  private let device: TerminalDevice
  private let signals: SignalSource
  private var differ: Differ
  private var output: [UInt8]

  init() throws(SystemError) {
    let signals = try SignalSource([SIGTERM, SIGINT, SIGHUP, SIGWINCH])
    let device = try TerminalDevice()
    var output: [UInt8] = []
    try device.enter(into: &output)
    self.signals = signals
    self.device = device
    self.output = output
    differ = Differ(depth: .colors16)
  }

  /// Shows lines, each after its heading, below a title.
  mutating func show(
    _ title: String, _ lines: [(heading: String, text: String)]
  ) throws(SystemError) {
    let size = try device.size()
    var grid = Grid(size)
    let width = 13
    var (bar, dim) = (Style(), Style())
    bar.attributes = .inverse
    dim.attributes = .dim
    grid.fill(Rect(column: 0, row: 0, columns: size.columns, rows: 1), with: bar)
    grid.write(" \(title)", at: Position(column: 0, row: 0), bar)
    var row = 2
    for (heading, text) in lines {
      if row >= size.rows - 1 { break }
      grid.write(heading, at: Position(column: 1, row: row), dim)
      for part in Self.wrapped(text, to: size.columns - width - 2) {
        if row >= size.rows - 1 { break }
        grid.write(part, at: Position(column: width + 1, row: row), Style())
        row += 1
      }
    }
    grid.write(
      " q quits", at: Position(column: 0, row: size.rows - 1), dim)
    differ.frame(grid, into: &output)
    try device.write(&output)
  }

  /// Waits until it is time for the next frame.
  /// - Returns: whether the person wants to see it.
  mutating func wait(until end: Instant) throws(SystemError) -> Bool {
    while true {
      let left = Instant.now() < end ? end.milliseconds(since: .now()) + 1 : 0
      guard left > 0 else { return true }
      let writing = output.isEmpty ? 0 : Int16(POLLOUT)
      var polled = [
        pollfd(fd: device.descriptor, events: Int16(POLLIN) | writing, revents: 0),
        pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      _ = unsafe poll(&polled, 2, Int32(clamping: left))
      while let signal = signals.next() {
        if signal != SIGWINCH { return false }
        differ.forget()
        return true
      }
      if polled[0].revents != 0 {
        guard let keys = try device.read() else { return false }
        if keys.contains(where: { $0 == UInt8(ascii: "q") || $0 == 3 }) { return false }
        if !output.isEmpty { try device.write(&output) }
      }
    }
  }

  /// Breaks a text at spaces.
  private static func wrapped(_ text: String, to columns: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      if lines[lines.count - 1].isEmpty {
        lines[lines.count - 1] = String(word)
      } else if lines[lines.count - 1].count + 1 + word.count <= columns {
        lines[lines.count - 1] += " \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
