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
  mutating func token(_ exchange: Exchange) throws(Setback) -> String?

  /// The service refuses the token.
  /// - Returns: whether another one can be had.
  mutating func wasRefused() -> Bool
}

/// A token from the configuration, or from a command of it.
struct ConfiguredToken: Credentials {
  private let source: TokenSource
  private var current: String?

  init(_ source: TokenSource) { self.source = source }

  mutating func token(_ exchange: Exchange) throws(Setback) -> String? {
    if let current { return current }
    switch source {
    case .none: break
    case .fixed(let token): current = token
    case .command(let command): current = try TokenCommand.run(command, exchange.stop)
    }
    return current
  }

  mutating func wasRefused() -> Bool {
    guard case .command = source else { return false }
    current = nil
    return true
  }
}
