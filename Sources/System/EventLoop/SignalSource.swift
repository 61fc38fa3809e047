internal import CLinux
internal import Glibc
public import Platform

/// Converts signals to events of a loop: register `descriptor`, and call `next` when it is
/// readable.
///
/// A signal handler writes to a pipe. A signalfd would require the signals to be blocked in every
/// thread, including foreign ones, and child programs would inherit the blocked mask and not
/// end on `SIGTERM`. A signal has one source at a time in a process.
public struct SignalSource: ~Copyable, Sendable {
  /// The signals of a server: shut down (`SIGTERM`, `SIGINT`), and reload the configuration
  /// (`SIGHUP`).
  public static let usual = [SIGTERM, SIGINT, SIGHUP]

  /// Readable when signals are pending.
  public let descriptor: Int32
  private let pipe: Int32
  private let signals: [Int32]

  /// Catches these signals in all threads until the value is deinitialized, which restores their
  /// default actions.
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

  /// Returns the next pending signal, in order of arrival; nil if there is none.
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

/// Makes a write to a closed socket or pipe fail with `EPIPE` instead of ending the process.
///
/// Sends in this module do so anyway (`MSG_NOSIGNAL`); this is for libraries with their own
/// sockets, and for pipes. Child programs start with the default action.
public func ignoreSIGPIPE() {
  let code = clinux_ignore_sigpipe()
  precondition(code == 0, "sigaction rejected SIGPIPE")
}
