internal import Glibc

/// A failed system call: the call, its target, and its errno.
///
/// Prints as `bind 127.0.0.1:80: Permission denied`.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The errno, as in `EADDRINUSE`.
  public var code: Int32
  /// The call and its target: `bind 127.0.0.1:80`.
  public var call: String

  /// Creates an error with a known errno.
  public init(_ call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// Returns the error of the call that has just failed on this thread, from `errno`.
  ///
  /// Must be called before any other system call.
  public static func last(_ call: String) -> SystemError {
    SystemError(call, code: errno)
  }

  /// The error as one line.
  public var description: String {
    "\(call): \(reason)"
  }

  /// What the errno means.
  public var reason: String {
    // strerror is thread-safe since glibc 2.32.
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
  }
}
