/// Where a bearer token comes from.
public enum TokenSource: Equatable, Sendable {
  /// Nothing is shown.
  case none
  case fixed(String)
  /// What a shell command prints; run at first, and again when its token is refused.
  case command(String)

  /// Whether it may stand in a header.
  package static func isToken(_ text: String) -> Bool {
    (1...4096).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

/// What a service is shown, kept for as long as it is accepted.
protocol Credentials {
  /// The token for a request; asked for if there is none yet.
  mutating func token(_ exchange: Exchange) throws(FetchError) -> String?

  /// The service refuses the token.
  /// - Returns: whether another one can be had.
  mutating func wasRefused() -> Bool
}
