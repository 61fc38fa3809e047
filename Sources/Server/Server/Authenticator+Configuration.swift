import Gateway
import Logging
internal import RelayConfiguration
import Wire

extension Authenticator {
  /// - Parameter authority: what verifies tokens; `nil` in open mode.
  convenience init(_ configuration: Configuration, _ authority: TokenAuthority?) {
    var verify: Verification?
    if let authority {
      verify = { token, wall, _ throws(WireError) in try authority.verify(token, wall: wall) }
    }
    self.init(
      verify: verify, botUsers: Set(configuration.bots.map(\.user)),
      banned: Set(configuration.auth.banned), operators: Set(configuration.auth.operators))
  }
}

extension TokenAuthority {
  /// Returns `nil` in open mode.
  /// - Throws: why a key of `auth.mode: jwt` cannot be used. Reads keys with blocking calls.
  static func open(_ configuration: Configuration, _ logger: Logger) throws(ServerError)
    -> TokenAuthority?
  {
    switch configuration.auth.mode {
    case .open:
      // A secret may be in the environment of all commands, for `relay token`.
      guard configuration.auth.publicKey.isEmpty else {
        throw ServerError(
          "auth.public_key is set, but auth.mode is open, in which clients may claim any name. Set "
            + "auth.mode: jwt, or remove the key.")
      }
      return nil
    case .accounts: return nil
    case .jwt: return try TokenAuthority(configuration, logger: logger)
    }
  }
}
