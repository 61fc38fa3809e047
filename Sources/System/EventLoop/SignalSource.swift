internal import CLinux
internal import Glibc
public import Platform

/// Turns signals into events of a loop: register `descriptor`, and call `next` when it is readable.
///
/// A handler writes to a pipe. A signalfd would need the signals blocked in every thread, also
/// those that are not ours, and programs that are started would inherit the blocked ones and not
/// end on `SIGTERM`. A signal has one source at a time in a process.
public struct SignalSource: ~Copyable, Sendable {
  /// What a server listens to: end (`SIGTERM`, `SIGINT`), and read the configuration again.
  public static let usual = [SIGTERM, SIGINT, SIGHUP]

  /// Readable when signals wait.
  public let descriptor: Int32
  private let pipe: Int32
  private let signals: [Int32]

  /// Catches these signals, in all threads, until the value goes; they then do again what the
  /// system does with them by default.
  public init(_ signals: [Int32] = usual) throws(SystemError) {
    var ends: (Int32, Int32) = (-1, -1)
    let code = unsafe withUnsafeMutablePointer(to: &ends) { ends in
      unsafe ends.withMemoryRebound(to: Int32.self, capacity: 2) {
        unsafe clinux_signal_pipe($0)
      }
    }
    if code < 0 { throw SystemError.last("pipe2") }
    descriptor = ends.0
    pipe = ends.1
    self.signals = signals
    for signal in signals {
      let code = clinux_catch_signal(signal, pipe)
      precondition(code == 0, "signal \(signal) cannot be caught")
    }
  }

  deinit {
    for signal in signals { _ = clinux_uncatch_signal(signal) }
    close(descriptor)
    close(pipe)
  }

  /// The next signal that waits, in the order in which they came; nil when there is none.
  public func next() -> Int32? {
    var number: UInt8 = 0
    while true {
      let count = unsafe Glibc.read(descriptor, &number, 1)
      if count == 1 { return Int32(number) }
      if count < 0, errno == EINTR { continue }
      return nil
    }
  }
}

/// Makes a write to a closed socket or pipe fail with `EPIPE` rather than end the process.
///
/// Sends here do so by themselves (`MSG_NOSIGNAL`); this is for libraries that write on their own,
/// and for pipes. Programs that are started get the default back.
public func ignoreSIGPIPE() {
  let code = clinux_ignore_sigpipe()
  precondition(code == 0, "sigaction refuses SIGPIPE")
}
