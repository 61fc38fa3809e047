import Glibc
import Platform
import TestSupport
import Testing

@testable import Terminal

/// A pseudo-terminal: the side of its viewer.
final class Pseudoterminal {
  let master: Int32
  let slave: Int32
  let path: String

  init() throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    var size = winsize(ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
    guard unsafe openpty(&master, &slave, nil, nil, &size) == 0 else {
      throw SystemError.last("openpty")
    }
    self.master = master
    self.slave = slave
    path = unsafe String(cString: ttyname(slave))
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
  }

  deinit {
    close(master)
    close(slave)
  }

  /// The output to the terminal so far.
  func written() -> String {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe Glibc.read(master, &chunk, chunk.count)
      if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe Glibc.write(master, bytes, bytes.count)
  }

  /// The terminal's modes: enough to distinguish raw mode from the original one.
  var modes: [UInt32] {
    var modes = termios()
    _ = unsafe tcgetattr(slave, &modes)
    return [modes.c_iflag, modes.c_oflag, modes.c_cflag, modes.c_lflag]
  }
}

extension `The driver of a terminal` {
  static let screen = "\u{1B}[22;0t\u{1B}[?1049h\u{1B}[?7l\u{1B}[?1004h\u{1B}[?2004h"
  static let restored =
    "\u{1B}\\\u{1B}[?2026l\u{1B}[?2004l\u{1B}[?1004l\u{1B}[m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l\u{1B}[23;0t"

  /// Sets up a screen on the terminal of this name. Called in a process of its own.
  static func enter(_ path: String) -> TerminalDevice {
    do {
      let terminal = unsafe open(path, O_RDWR | O_NOCTTY)
      let device = try TerminalDevice(input: terminal, output: terminal)
      var output: [UInt8] = []
      try device.enter(into: &output)
      try device.write(&output)
      return device
    } catch {
      // No expected signal.
      kill(getpid(), SIGKILL)
      fatalError("\(error)")
    }
  }

  static func check(_ terminal: Pseudoterminal, wasLikeThis modes: [UInt32]) {
    #expect(terminal.written() == screen + restored)
    #expect(terminal.modes == modes)
  }
}

@Suite(.serialized) struct `The driver of a terminal` {
  @Test func `it sets up the screen, and restores the terminal`() throws {
    let terminal = try Pseudoterminal()
    let modes = terminal.modes
    let device = try TerminalDevice(input: terminal.slave, output: terminal.slave)
    for _ in 0..<2 {
      var output: [UInt8] = []
      try device.enter(into: &output)
      #expect(device.isEntered)
      #expect(terminal.modes != modes)
      try device.write(&output)
      #expect(output == [])
      #expect(terminal.written() == Self.screen)
      device.leave()
      device.leave()
      Self.check(terminal, wasLikeThis: modes, after: "")
    }
    #expect(fcntl(terminal.slave, F_GETFL) & O_NONBLOCK == 0)
  }

  static func check(_ terminal: Pseudoterminal, wasLikeThis modes: [UInt32], after: String) {
    #expect(terminal.written() == after + restored)
    #expect(terminal.modes == modes)
  }

  @Test func `it is restored when the value is destroyed`() throws {
    let terminal = try Pseudoterminal()
    let modes = terminal.modes
    do {
      let device = try TerminalDevice(input: terminal.slave, output: terminal.slave)
      var output: [UInt8] = []
      try device.enter(into: &output)
      try device.write(&output)
    }
    Self.check(terminal, wasLikeThis: modes)
  }

  @Test func `mouse and kitty's keyboard are enabled and disabled again`() throws {
    let terminal = try Pseudoterminal()
    let device = try TerminalDevice(
      input: terminal.slave, output: terminal.slave, usesMouse: true)
    var output: [UInt8] = []
    try device.enter(into: &output)
    try device.useKittyKeyboard(into: &output)
    try device.useKittyKeyboard(into: &output)
    try device.write(&output)
    let mouse = "\u{1B}[?1000h\u{1B}[?1002h\u{1B}[?1006h"
    #expect(terminal.written() == Self.screen + mouse + "\u{1B}[>5u")
    device.leave()
    let left = terminal.written()
    #expect(left.contains("\u{1B}[<u\u{1B}[?1006l\u{1B}[?1002l\u{1B}[?1000l"))
    try device.enter(into: &output)
    #expect(String(decoding: output, as: UTF8.self).hasSuffix("\u{1B}[>5u"))
    device.leave()
  }

  @Test func `a link that was cut off is closed`() throws {
    let terminal = try Pseudoterminal()
    let device = try TerminalDevice(
      input: terminal.slave, output: terminal.slave, usesLinks: true)
    var output: [UInt8] = []
    try device.enter(into: &output)
    try device.write(&output)
    _ = terminal.written()
    output = Array("\u{1B}]8;id=1;http://a".utf8)
    try device.write(&output)
    device.leave()
    #expect(
      terminal.written().hasPrefix(
        "\u{1B}]8;id=1;http://a\u{1B}\\\u{1B}[?2026l\u{1B}]8;;\u{1B}\\"))
  }

  @Test func `what another program has left of the modes is undone before it is entered again`()
    throws
  {
    let terminal = try Pseudoterminal()
    let modes = terminal.modes
    let device = try TerminalDevice(input: terminal.slave, output: terminal.slave)
    var output: [UInt8] = []
    try device.enter(into: &output)
    try device.write(&output)
    device.reclaim()
    #expect(terminal.modes != modes, "an entered one stays as it is")
    device.leave()
    _ = terminal.written()
    var spoiled = termios()
    _ = unsafe tcgetattr(terminal.slave, &spoiled)
    unsafe cfmakeraw(&spoiled)
    _ = unsafe tcsetattr(terminal.slave, TCSANOW, &spoiled)
    #expect(terminal.modes != modes)
    device.reclaim()
    #expect(terminal.modes == modes)
    let undone = terminal.written()
    for mode in [1000, 1002, 1003, 1006, 2004, 1004, 1, 1049] {
      #expect(undone.contains("\u{1B}[?\(mode)l"))
    }
    try device.enter(into: &output)
    device.leave()
    #expect(terminal.modes == modes)
  }

  @Test func `typed bytes are read unchanged, and none if there are none`() throws {
    let terminal = try Pseudoterminal()
    let device = try TerminalDevice(input: terminal.slave, output: terminal.slave)
    var output: [UInt8] = []
    try device.enter(into: &output)
    #expect(try device.read() == [])
    terminal.type("a\u{3}\u{11}\r")
    #expect(becomes(POLLIN, device.descriptor))
    #expect(try device.read() == [0x61, 0x03, 0x11, 0x0D])
    device.leave()
  }

  @Test func `a terminal that is closed reads as gone`() throws {
    var terminal: Pseudoterminal? = try Pseudoterminal()
    let slave = dup(try #require(terminal).slave)
    defer { close(slave) }
    let device = try TerminalDevice(input: slave, output: slave)
    var output: [UInt8] = []
    try device.enter(into: &output)
    terminal = nil
    #expect(try device.read() == nil)
    #expect(throws: SystemError.self) { try device.write(&output) }
    device.leave()
  }

  @Test func `a terminal that does not read accepts what it can, and the rest later`() throws {
    let terminal = try Pseudoterminal()
    let device = try TerminalDevice(input: terminal.slave, output: terminal.slave)
    let all = (0..<1_000_000).map { UInt8(0x61 + $0 % 26) }
    var output: [UInt8] = []
    try device.enter(into: &output)
    try device.write(&output)
    _ = terminal.written()
    output = all
    try device.write(&output)
    #expect(output.count > 0)
    #expect(output.count < all.count)
    var seen = ""
    while seen.utf8.count < all.count {
      #expect(becomes(POLLIN, terminal.master))
      seen += terminal.written()
      try device.write(&output)
    }
    #expect(Array(seen.utf8) == all)
    // Full again: the driver waits for the output at the end, but not for ever.
    output = all
    try device.write(&output)
    device.leave()
    #expect(!device.isEntered)
  }

  @Test func `the size is that of the terminal`() throws {
    let terminal = try Pseudoterminal()
    let device = try TerminalDevice(input: terminal.slave, output: terminal.slave)
    #expect(try device.size() == Size(columns: 100, rows: 30))
    var size = winsize(ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0)
    _ = unsafe ioctl(terminal.master, UInt(TIOCSWINSZ), &size)
    #expect(try device.size() == Size(columns: 80, rows: 24))
  }

  @Test func `a descriptor that is not a terminal is refused with an error`() throws {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    defer { ends.forEach { close($0) } }
    let error = #expect(throws: SystemError.self) {
      try TerminalDevice(input: ends[0], output: ends[1])
    }
    #expect(error?.description == "standard input: Inappropriate ioctl for device")
    let (one, other) = (try Pseudoterminal(), try Pseudoterminal())
    #expect(throws: SystemError.self) {
      try TerminalDevice(input: one.slave, output: other.slave)
    }
  }

  @Test func `it is restored when a fault ends the process`() async throws {
    let terminal = try Pseudoterminal()
    let (modes, path) = (terminal.modes, terminal.path)
    await #expect(processExitsWith: .signal(SIGSEGV)) { [path = path as String] in
      let device = `The driver of a terminal`.enter(path)
      // A real fault: the address is not mapped.
      let nowhere = unsafe UnsafeMutablePointer<Int>(bitPattern: 8)
      unsafe nowhere?.pointee = 1
      device.leave()
    }
    Self.check(terminal, wasLikeThis: modes)
  }

  @Test func `it is restored when the process aborts`() async throws {
    let terminal = try Pseudoterminal()
    let (modes, path) = (terminal.modes, terminal.path)
    await #expect(processExitsWith: .signal(SIGABRT)) { [path = path as String] in
      let device = `The driver of a terminal`.enter(path)
      withExtendedLifetime(device) { abort() }
    }
    Self.check(terminal, wasLikeThis: modes)
  }

  @Test func `it is restored when a precondition fails`() async throws {
    let terminal = try Pseudoterminal()
    let (modes, path) = (terminal.modes, terminal.path)
    await #expect(processExitsWith: .failure) { [path = path as String] in
      let device = `The driver of a terminal`.enter(path)
      withExtendedLifetime(device) { preconditionFailure("on purpose") }
    }
    Self.check(terminal, wasLikeThis: modes)
  }

  @Test func `it is restored when a fault's signal is sent from outside`() async throws {
    let terminal = try Pseudoterminal()
    let (modes, path) = (terminal.modes, terminal.path)
    await #expect(processExitsWith: .signal(SIGBUS)) { [path = path as String] in
      let device = `The driver of a terminal`.enter(path)
      kill(getpid(), SIGBUS)
      while true { pause() }
      device.leave()
    }
    Self.check(terminal, wasLikeThis: modes)
  }

  @Test func `it is restored by exit`() async throws {
    let terminal = try Pseudoterminal()
    let (modes, path) = (terminal.modes, terminal.path)
    await #expect(processExitsWith: .exitCode(3)) { [path = path as String] in
      let device = `The driver of a terminal`.enter(path)
      withExtendedLifetime(device) { exit(3) }
    }
    Self.check(terminal, wasLikeThis: modes)
  }
}
