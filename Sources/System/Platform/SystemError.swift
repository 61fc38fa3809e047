internal import Glibc

/// A refusal of the system: which call, on what, and its errno.
///
/// Prints as `bind 127.0.0.1:80: Permission denied`.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The errno, as in `EADDRINUSE`.
  public var code: Int32
  /// The call and what it was about: `bind 127.0.0.1:80`.
  public var call: String

  /// A refusal with a known errno.
  public init(_ call: String, code: Int32) {
    self.call = call
    self.code = code
  }

  /// What the call that has just failed on this thread left in `errno`.
  ///
  /// To be called before anything else that could call the system.
  public static func last(_ call: String) -> SystemError {
    SystemError(call, code: errno)
  }

  /// One line for a person.
  public var description: String {
    // strerror is safe between threads since glibc 2.32.
    let reason = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
    return "\(call): \(reason)"
  }
}
