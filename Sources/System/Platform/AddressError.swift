internal import CLinux

/// Why a text does not name an address.
public enum AddressError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Not of the form HOST:PORT.
  case malformed(String)
  /// No such host, or nobody to ask; `reason` is the resolver's own words.
  case unresolved(host: String, reason: String)

  /// One line for a person.
  public var description: String {
    switch self {
    case .malformed(let text):
      "\"\(text)\" is not HOST:PORT, as in 127.0.0.1:8080, [::1]:8080 or localhost:8080"
    case .unresolved(let host, let reason):
      "cannot find the host \(host): \(reason)"
    }
  }
}
