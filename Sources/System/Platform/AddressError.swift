internal import CLinux

/// Why a text is not an address.
public enum AddressError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not of the form HOST:PORT.
  case malformed(String)
  /// The name cannot be resolved; `reason` is the resolver's message.
  case unresolved(host: String, reason: String)

  /// The error as one line.
  public var description: String {
    switch self {
    case .malformed(let text):
      "\"\(text)\" is not HOST:PORT, as in 127.0.0.1:8080, [::1]:8080 or localhost:8080"
    case .unresolved(let host, let reason):
      "cannot find the host \(host): \(reason)"
    }
  }
}
