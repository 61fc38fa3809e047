internal import CTerminal
internal import Glibc
public import Platform

/// A real terminal: opens it, makes a screen of it, and gives it back as it was.
///
/// It has an open file description of its own, which does not block; the shell's is left as it is. The
/// terminal is restored by `leave()`, when the value goes, by `exit`, and by a fault (SIGSEGV, SIGABRT
/// and their like). The signals that ask a process to end (SIGTERM, SIGHUP, SIGINT) are the
/// application's: it is to call `leave()`. To be used from one thread; one at a time in a process can
/// be entered.
public final class TerminalDevice {
  /// For a loop to wait on: readable when something was typed, writable when more can be written.
  public let descriptor: Int32
  /// Whether clicks and the wheel are told; otherwise the terminal selects text with them.
  public let usesMouse: Bool
  /// Whether the terminal is a screen now.
  public private(set) var isEntered = false

  private var given = termios()
  private var hasKittyKeyboard = false

  /// Opens the terminal that both descriptors are.
  /// - Throws: `ENOTTY` if one of them is none.
  public init(
    input: Int32 = 0, output: Int32 = 1, usesMouse: Bool = false
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
  }

  deinit {
    leave()
    close(descriptor)
  }

  /// Makes the terminal a screen: raw, on the alternate screen, with pastes in brackets and its focus
  /// told. Also after `leave()`, to resume.
  /// - Parameter output: what is to be written to the terminal before anything else is appended here.
  public func enter(into output: inout [UInt8]) throws(SystemError) {
    if isEntered { return }
    // Each time: meanwhile the shell may have changed them.
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
    // xterm's control sequences: the title is kept, the alternate screen, no wrapping, focus, paste.
    output.append(ascii: "\u{1B}[22;0t\u{1B}[?1049h\u{1B}[?7l\u{1B}[?1004h\u{1B}[?2004h")
    if usesMouse { output.append(ascii: "\u{1B}[?1000h\u{1B}[?1002h\u{1B}[?1006h") }
    if hasKittyKeyboard { output.append(ascii: Self.pushKeyboard) }
  }

  /// What asks a terminal what it can do (`Capabilities.refine`): DEC mode 2026, the kitty keyboard
  /// protocol, the background's colour, and at last DA1, which every terminal answers.
  public static let questions: [UInt8] = Array(
    "\u{1B}[?2026$p\u{1B}[?u\u{1B}]11;?\u{1B}\\\u{1B}[c".utf8)

  /// Turns the kitty keyboard protocol on, once the terminal has said that it knows it: keys that are
  /// otherwise the same are told apart (Shift+Enter), and what is printed on them is told.
  public func useKittyKeyboard(into output: inout [UInt8]) throws(SystemError) {
    guard isEntered, !hasKittyKeyboard else { return }
    hasKittyKeyboard = true
    cterminal_disarm()
    try arm()
    output.append(ascii: Self.pushKeyboard)
  }

  /// Flags 1 and 4: disambiguate, and report alternate keys.
  private static let pushKeyboard: StaticString = "\u{1B}[>5u"

  /// Gives the terminal back as it was found. What has not been written yet is to be dropped. Waits for a
  /// terminal that does not read, for half a second at most.
  public func leave() {
    guard isEntered else { return }
    isEntered = false
    cterminal_disarm()
    let bytes = restoring
    unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe cterminal_restore(descriptor, &given, bytes.baseAddress, bytes.count)
    }
  }

  /// Stops the process, and what it was started with, as Ctrl+Z does; comes back when it is continued.
  /// Then `enter` again and draw all. To be called on the main thread.
  public func suspend() {
    leave()
    // Of a process's threads Linux gives it to the main one, so it stops before this returns.
    kill(0, SIGTSTP)
  }

  /// The size of the screen now; SIGWINCH tells when to ask again. 80×24 where nobody knows.
  public func size() throws(SystemError) -> Size {
    var (columns, rows): (Int32, Int32) = (0, 0)
    if unsafe cterminal_size(descriptor, &columns, &rows) < 0 {
      throw SystemError.last("size of the terminal")
    }
    if columns == 0 || rows == 0 { return Size(columns: 80, rows: 24) }
    return Size(columns: Int(columns), rows: Int(rows))
  }

  /// What was typed, at most 4 KiB of it; empty when there is nothing, nil when the terminal is gone.
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

  /// Writes what the terminal takes at once, as a whole if it can, and takes it from the front of
  /// `bytes`: when something is left, wait for the descriptor to be writable.
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
    if code < 0 { throw SystemError.last("keep how the terminal was") }
  }

  /// First of all an end of whatever sequence was cut off, and of a frame.
  private var restoring: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ascii: "\u{1B}\\\u{1B}[?2026l")
    // The alternate screen has a stack of its own.
    if hasKittyKeyboard { bytes.append(ascii: "\u{1B}[<u") }
    if usesMouse { bytes.append(ascii: "\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l") }
    bytes.append(
      ascii:
        "\u{1B}[?2004l\u{1B}[?1004l\u{1B}[m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l\u{1B}[23;0t")
    return bytes
  }
}
