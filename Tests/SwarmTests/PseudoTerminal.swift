import Glibc
import TestSupport

/// A terminal whose screen this test sees (pty(7)).
final class PseudoTerminal {
  let columns: Int
  let rows: Int
  /// The output of programs can be read here.
  private var master: Int32
  private let path: String

  // Not visible in Glibc's module: <asm-generic/ioctls.h> and <spawn.h>.
  private static let unlock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430
  private static let startSession: Int16 = 0x80

  init(columns: Int, rows: Int) throws {
    (self.columns, self.rows) = (columns, rows)
    let master = unsafe Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard master >= 0 else { throw Unexpected("open /dev/ptmx: \(errno)") }
    var locked: Int32 = 0
    var number: Int32 = 0
    var size = winsize()
    (size.ws_col, size.ws_row) = (UInt16(columns), UInt16(rows))
    guard unsafe ioctl(master, Self.unlock, &locked) == 0,
      unsafe ioctl(master, Self.getNumber, &number) == 0,
      unsafe ioctl(master, UInt(TIOCSWINSZ), &size) == 0
    else {
      close(master)
      throw Unexpected("ioctl /dev/ptmx: \(errno)")
    }
    self.master = master
    path = "/dev/pts/\(number)"
  }

  deinit { if master >= 0 { close(master) } }

  /// The side that programs write to; to be closed.
  func open() throws -> Int32 {
    let descriptor = unsafe Glibc.open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unexpected("open \(path): \(errno)") }
    return descriptor
  }

  /// Closes the watching side.
  func hangUp() {
    close(master)
    master = -1
  }

  /// Starts a program as a shell does: this is its controlling terminal, and all its streams.
  func start(_ words: [String], environment: [String]) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, path, O_RDWR, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 1)
    unsafe posix_spawn_file_actions_adddup2(&actions, 0, 2)
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    // The threads that tests run on take no signals, and a child would inherit that.
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(
      &attributes, Self.startSession | Int16(POSIX_SPAWN_SETSIGMASK))
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
    defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
    var id = pid_t()
    let code = unsafe posix_spawn(&id, words[0], &actions, &attributes, &arguments, &variables)
    guard code == 0 else { throw Unexpected("start \(words[0]): \(code)") }
    return id
  }

  /// Types something.
  func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard unsafe write(master, bytes, bytes.count) == bytes.count else {
      throw Unexpected("write: \(errno)")
    }
  }

  /// The next output; `nil` when the last program has ended.
  func read() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe Glibc.read(master, &bytes, bytes.count)
    return count > 0 ? Array(bytes.prefix(count)) : nil
  }

  /// The pending output.
  func readNow() -> [UInt8] {
    var bytes: [UInt8] = []
    var poll = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    while unsafe Glibc.poll(&poll, 1, 0) > 0, let more = read() { bytes += more }
    return bytes
  }
}
