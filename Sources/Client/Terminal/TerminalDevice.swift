internal import CTerminal
internal import Glibc
public import Platform

/// The terminal: opens it, switches it to full-screen mode, and restores it.
///
/// It has a non-blocking open file description of its own; the shell's is not changed. The terminal
/// is restored by `leave()`, by deinitialization, by `exit`, and by a fault (SIGSEGV, SIGABRT and
/// the like). On signals that ask the process to end (SIGTERM, SIGHUP, SIGINT) the application must
/// call `leave()`. Confined to one thread; only one device of a process can be entered at a time.
public final class TerminalDevice {
  /// For an event loop: readable if there is input, writable if more output is accepted.
  public let descriptor: Int32
  /// Whether clicks and the wheel are reported; otherwise the terminal selects text with them.
  public let usesMouse: Bool
  /// Whether links are written, of which one may be open where output was cut off.
  public let usesLinks: Bool
  /// Whether the terminal is in full-screen mode.
  public private(set) var isEntered = false

  private var given = termios()
  private var hasKittyKeyboard = false

  /// Opens the terminal to which both descriptors refer.
  /// - Throws: `ENOTTY` if one of them is not a terminal.
  public init(
    input: Int32 = 0, output: Int32 = 1, usesMouse: Bool = false, usesLinks: Bool = false
  ) throws(SystemError) {
    guard isatty(input) == 1 else { throw SystemError.last("standard input") }
    guard isatty(output) == 1 else { throw SystemError.last("standard output") }
    var (one, other) = (stat(), stat())
    guard unsafe fstat(input, &one) == 0, unsafe fstat(output, &other) == 0,
      one.st_rdev == other.st_rdev
    else {
      throw SystemError("input and output are different terminals", code: EINVAL)
    }
    let opened = cterminal_open(output)
    if opened < 0 { throw SystemError.last("open the terminal") }
    descriptor = opened
    self.usesMouse = usesMouse
    self.usesLinks = usesLinks
  }

  deinit {
    leave()
    close(descriptor)
  }

  /// Switches the terminal to full-screen mode: raw, on the alternate screen, with bracketed pastes
  /// and focus events. Also used after `leave()`, to resume.
  /// - Parameter output: Receives the bytes that must be written to the terminal before any others.
  public func enter(into output: inout [UInt8]) throws(SystemError) {
    if isEntered { return }
    // Read each time, because the shell may have changed them meanwhile.
    if unsafe tcgetattr(descriptor, &given) < 0 { throw SystemError.last("tcgetattr") }
    try arm()
    var raw = given
    unsafe cfmakeraw(&raw)
    if unsafe tcsetattr(descriptor, TCSANOW, &raw) < 0 {
      let error = SystemError.last("tcsetattr")
      cterminal_disarm()
      throw error
    }
    isEntered = true
    // xterm's control sequences: save the title, alternate screen, no wrapping, focus, paste.
    output.append(ascii: "\u{1B}[22;0t\u{1B}[?1049h\u{1B}[?7l\u{1B}[?1004h\u{1B}[?2004h")
    if usesMouse { output.append(ascii: "\u{1B}[?1000h\u{1B}[?1002h\u{1B}[?1006h") }
    if hasKittyKeyboard { output.append(ascii: Self.pushKeyboard) }
  }

  /// The queries for the terminal's capabilities (`Capabilities.refine`): DEC mode 2026, the kitty
  /// keyboard protocol, the background colour, and finally DA1, which every terminal answers.
  public static let questions: [UInt8] = Array(
    "\u{1B}[?2026$p\u{1B}[?u\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8)

  /// Enables the kitty keyboard protocol after the terminal has reported support for it: it
  /// distinguishes keys that otherwise send the same bytes (Shift+Enter), and reports what is
  /// printed on them.
  public func useKittyKeyboard(into output: inout [UInt8]) throws(SystemError) {
    guard isEntered, !hasKittyKeyboard else { return }
    hasKittyKeyboard = true
    cterminal_disarm()
    try arm()
    output.append(ascii: Self.pushKeyboard)
  }

  /// Flags 1 and 4: disambiguate, and report alternate keys.
  private static let pushKeyboard: StaticString = "\u{1B}[>5u"

  /// Restores the terminal. The caller must drop unwritten output. Waits at most half a second for
  /// a terminal that does not read.
  public func leave() {
    guard isEntered else { return }
    isEntered = false
    cterminal_disarm()
    let bytes = restoring
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe cterminal_restore(descriptor, &given, bytes.baseAddress, bytes.count)
    }
  }

  /// Restores the terminal from whatever another program has left that was given it after `leave`,
  /// also one that crashed: the modes, the foreground, the mouse, pastes, and the kinds of keys.
  public func reclaim() {
    guard !isEntered else { return }
    cterminal_foreground(descriptor)
    var bytes: [UInt8] = []
    bytes.append(
      ascii: """
        \u{1B}\\\u{1B}[?2026l\u{1B}[?1003l\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l\u{1B}[?2004l\
        \u{1B}[?1004l\u{1B}[?1l\u{1B}>\u{1B}[r\u{1B}(B\u{1B}[m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l
        """)
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe cterminal_restore(descriptor, &given, bytes.baseAddress, bytes.count)
    }
  }

  /// Stops the process and its process group, like Ctrl+Z; returns when it is continued. Then call
  /// `enter` again and redraw everything. Must be called on the main thread.
  public func suspend() {
    leave()
    // Linux delivers the signal to the main thread, so the process stops before this returns.
    kill(0, SIGTSTP)
  }

  /// Returns the current size of the screen; ask again after SIGWINCH. 80×24 if it is unknown.
  public func size() throws(SystemError) -> Size {
    var (columns, rows): (Int32, Int32) = (0, 0)
    if unsafe cterminal_size(descriptor, &columns, &rows) < 0 {
      throw SystemError.last("size of the terminal")
    }
    if columns == 0 || rows == 0 { return Size(columns: 80, rows: 24) }
    return Size(columns: Int(columns), rows: Int(rows))
  }

  /// Returns the pixels of a cell; nil if the terminal does not tell, or more than `cellLimit`.
  public func cellSize() -> (width: Int, height: Int)? {
    var (width, height): (Int32, Int32) = (0, 0)
    guard unsafe cterminal_cell(descriptor, &width, &height) == 0,
      1...Self.cellLimit ~= Int(width), 1...Self.cellLimit ~= Int(height)
    else { return nil }
    return (Int(width), Int(height))
  }

  /// The most pixels of a side of a cell.
  public static let cellLimit = 64

  /// Returns the input, at most 4 KiB; empty if there is none, nil if the terminal is gone.
  public func read() throws(SystemError) -> [UInt8]? {
    var failure: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      let result = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      count = max(0, result)
      if result < 0 { failure = SystemError.last("read from the terminal") }
      // The other side has closed.
      if result == 0 { failure = SystemError("read from the terminal", code: EIO) }
    }
    guard let failure else { return bytes }
    switch failure.code {
    case EAGAIN, EINTR: return []
    case EIO: return nil
    default: throw failure
    }
  }

  /// Writes as much as the terminal accepts, in one call if possible, and removes it from the front
  /// of `bytes`: if something is left, wait until the descriptor is writable.
  public func write(_ bytes: inout [UInt8]) throws(SystemError) {
    var taken = 0
    while taken < bytes.count {
      let result = unsafe bytes.withUnsafeBytes {
        unsafe Glibc.write(
          descriptor, $0.baseAddress.map { unsafe $0 + taken }, $0.count - taken)
      }
      if result > 0 {
        taken += result
        continue
      }
      if result < 0, errno == EINTR { continue }
      if result == 0 || errno == EAGAIN { break }
      let error = SystemError.last("write to the terminal")
      bytes.removeFirst(taken)
      throw error
    }
    bytes.removeFirst(taken)
  }

  private func arm() throws(SystemError) {
    let bytes = restoring
    let code = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe cterminal_arm(descriptor, &given, bytes.baseAddress, bytes.count)
    }
    if code < 0 { throw SystemError.last("save the terminal's settings") }
  }

  /// Begins with the end of any interrupted sequence, and of a frame.
  private var restoring: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ascii: "\u{1B}\\\u{1B}[?2026l")
    if usesLinks { bytes.append(ascii: Pen.linkEnd) }
    // The alternate screen has its own stack of keyboard modes.
    if hasKittyKeyboard { bytes.append(ascii: "\u{1B}[<u") }
    if usesMouse { bytes.append(ascii: "\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l") }
    bytes.append(
      ascii:
        "\u{1B}[?2004l\u{1B}[?1004l\u{1B}[m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l\u{1B}[23;0t")
    return bytes
  }
}
