/// A token from the configuration, or from the configured command.
struct ConfiguredToken: Credentials {
  private let source: TokenSource
  private var current: String?

  init(_ source: TokenSource) { self.source = source }

  mutating func token(_ exchange: Exchange) throws(FetchError) -> String? {
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
