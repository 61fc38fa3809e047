internal import CLinux
internal import Glibc
internal import Synchronization

/// The descriptors 0 to 2 of a command.
public enum StandardStreams {
  /// Opens those with which the command was started closed: otherwise the next file or socket would
  /// be one of them, and receive what is meant for the user. Must be called before anything else is
  /// opened.
  ///
  /// Standard input is then empty, writing to standard output fails (`EBADF`), and what goes to
  /// standard error is lost. Writing to a pipe without a reader becomes an error as well (`EPIPE`)
  /// instead of a signal.
  public static func open() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_RDONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY),
    ] where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free descriptor is this one.
      guard unsafe Glibc.open("/dev/null", mode) == descriptor else {
        _exit(ExitStatus.environment)
      }
    }
    _ = clinux_ignore_sigpipe()
  }
}

/// Standard error.
public enum StandardError {
  /// Writes the whole text; ignores errors.
  public static func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes all bytes; ignores errors.
  public static func write(_ bytes: [UInt8]) {
    _ = WholeFile.write(bytes.span, to: STDERR_FILENO)
  }
}

/// Standard output.
public enum StandardOutput {
  private static let firstFailure = Mutex<SystemError?>(nil)

  /// Why something could not be written; nothing is written after that.
  public static var failure: SystemError? { firstFailure.withLock { $0 } }

  /// Writes the whole text, or sets `failure`.
  public static func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes all bytes, or sets `failure`.
  public static func write(_ bytes: [UInt8]) {
    firstFailure.withLock { failure in
      guard failure == nil, !WholeFile.write(bytes.span, to: STDOUT_FILENO) else { return }
      failure = SystemError.last("write standard output")
    }
  }
}
