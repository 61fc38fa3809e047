internal import Glibc
internal import Platform

/// A terminal with a live view at its bottom. Confined to the thread of the run that it shows.
///
/// Nothing here waits while a run is on: what the terminal does not take at once waits its turn, and
/// frames that come meanwhile are left out.
public final class LiveDisplay {
  /// What the title begins with instead of the scenario's name: which try of several, say.
  public var caption: String?

  /// So often a run draws.
  static let frameMilliseconds = 200

  private let descriptor: Int32
  private let colour: Bool
  private var block = LiveBlock()
  /// What the terminal has not taken yet.
  private(set) var pending: [UInt8] = []

  /// A terminal that takes nothing for so long loses lines of the log; the report has them.
  private static let pendingLimitBytes = 1 << 20
  /// Where a terminal does not say.
  private static let usualSize = (columns: 80, rows: 24)

  /// `nil` where there is no terminal that can be drawn on: then lines are all there is.
  ///
  /// - Parameter descriptor: opened anew, since `O_NONBLOCK` would otherwise reach whoever else
  ///   writes to this terminal, such as the shell afterwards.
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
    // no-color.org: whatever its value, unless it is empty.
    colour = (environment("NO_COLOR") ?? "").isEmpty
  }

  deinit {
    finish()
    close(descriptor)
  }

  /// Puts lines above the view.
  public func log(_ text: String) {
    leaveIfInBackground()
    put(block.log(text, columns: size.columns))
  }

  /// Shows how the run is now.
  public func draw(_ figures: LiveFigures) {
    var figures = figures
    if let caption { figures.title = caption }
    leaveIfInBackground()
    flush()
    guard pending.isEmpty, isInForeground else { return }
    let (columns, rows) = size
    let lines = LiveView.frame(of: figures, columns: columns, colour: colour)
    // One row is the cursor's; what does not fit is the least important.
    put(block.draw(Array(lines.prefix(max(1, rows - 1))), columns: columns))
  }

  /// This process was stopped, and the shell has written meanwhile.
  public func wasContinued() { block.forget() }

  /// Erases the view, and waits until the terminal has taken everything.
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

  /// Also where it is nobody's controlling terminal.
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

  /// - Returns: false if the terminal is gone, and with it what was to be shown.
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
