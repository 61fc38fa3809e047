internal import Glibc
internal import Platform

/// A terminal with a live view at its bottom. Confined to the thread of the run that it shows.
///
/// It never blocks during a run: output that the terminal does not accept is queued, and frames
/// that are drawn meanwhile are skipped.
public final class LiveDisplay {
  /// Replaces the scenario's name at the start of the title, for example with the number of the
  /// try.
  public var caption: String?

  /// The interval between frames.
  static let frameMilliseconds = 200

  private let descriptor: Int32
  private let colour: Bool
  private var block = LiveBlock()
  /// Output that the terminal has not accepted yet.
  private(set) var pending: [UInt8] = []

  /// Beyond this much queued output, log lines are dropped; the report contains them.
  private static let pendingLimitBytes = 1 << 20
  /// Used if the terminal does not report its size.
  private static let usualSize = (columns: 80, rows: 24)

  /// Returns `nil` if the descriptor is not a terminal that can be drawn on.
  ///
  /// - Parameter descriptor: Reopened, because `O_NONBLOCK` would otherwise affect other users of
  ///   this terminal, such as the shell.
  public convenience init?(on descriptor: Int32) {
    self.init(on: descriptor) { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
  }

  init?(on descriptor: Int32, environment: (String) -> String?) {
    guard isatty(descriptor) == 1, let kind = environment("TERM"), !["", "dumb"].contains(kind)
    else { return nil }
    let own = unsafe open(
      "/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard own >= 0 else { return nil }
    self.descriptor = own
    // no-color.org: any value that is not empty.
    colour = (environment("NO_COLOR") ?? "").isEmpty
  }

  deinit {
    finish()
    close(descriptor)
  }

  /// Writes lines above the view.
  public func log(_ text: String) {
    leaveIfInBackground()
    put(block.log(text, columns: size.columns))
  }

  /// Draws the current state of the run.
  public func draw(_ figures: LiveFigures) {
    var figures = figures
    if let caption { figures.title = caption }
    leaveIfInBackground()
    flush()
    guard pending.isEmpty, isInForeground else { return }
    let (columns, rows) = size
    let lines = LiveView.frame(of: figures, columns: columns, colour: colour)
    // One row is the cursor's; the least important lines are cut off.
    put(block.draw(Array(lines.prefix(max(1, rows - 1))), columns: columns))
  }

  /// Forgets the view after the process was stopped: the shell has written meanwhile.
  public func wasContinued() { block.forget() }

  /// Erases the view, and waits until the terminal has accepted all output.
  public func finish() {
    put(block.clear(columns: size.columns))
    while !pending.isEmpty {
      var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard unsafe Glibc.poll(&poll, 1, -1) >= 0 || errno == EINTR else { return }
      if !flush() { return }
    }
  }

  // MARK: The terminal

  private var size: (columns: Int, rows: Int) {
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return Self.usualSize }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// True also if it is not a controlling terminal.
  private var isInForeground: Bool {
    let group = tcgetpgrp(descriptor)
    return group < 0 || group == getpgrp()
  }

  private func leaveIfInBackground() {
    if block.isShown, !isInForeground { block.forget() }
  }

  private func put(_ bytes: [UInt8]) {
    guard pending.count + bytes.count <= Self.pendingLimitBytes else { return }
    pending += bytes
    flush()
  }

  /// - Returns: False if the terminal is gone; the output is then dropped.
  @discardableResult
  private func flush() -> Bool {
    while !pending.isEmpty {
      let count = unsafe pending.withUnsafeBufferPointer {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN { return true }
      guard count > 0 else {
        pending = []
        return false
      }
      pending.removeFirst(count)
    }
    return true
  }
}
