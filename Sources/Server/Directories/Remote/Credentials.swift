/// The source of a bearer token.
public enum TokenSource: Equatable, Sendable {
  /// Requests have no credentials.
  case none
  case fixed(String)
  /// The output of a shell command; run for the first request, and again when its token is refused.
  case command(String)

  /// Whether a text may be used in a header.
  package static func isToken(_ text: String) -> Bool {
    (1...4096).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

/// The credentials for a service, reused until the service refuses them.
protocol Credentials {
  /// Returns the token for a request; obtains one if necessary.
  mutating func token(_ exchange: Exchange) throws(FetchError) -> String?

  /// Records that the service refused the token.
  /// - Returns: whether a new one can be obtained.
  mutating func wasRefused() -> Bool
}
