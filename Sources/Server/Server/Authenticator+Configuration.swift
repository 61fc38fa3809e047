import Gateway
import Relay
internal import RelayConfiguration
import Wire

extension Authenticator {
  /// - Throws: why the key of `auth.mode: jwt` cannot be used. Reads the key with blocking calls.
  convenience init(_ configuration: Configuration) throws(ServerError) {
    let botUsers = Set(configuration.bots.map(\.user))
    self.init(
      verifier: try Self.key(configuration.auth).map { TokenVerifier(key: $0, reserved: botUsers) },
      botUsers: botUsers, banned: Set(configuration.auth.banned),
      operators: Set(configuration.auth.operators))
  }

  /// - Parameter verifier: `nil` in open mode.
  convenience init(
    verifier: TokenVerifier?, botUsers: Set<String>, banned: Set<String> = [],
    operators: Set<String> = []
  ) {
    var verify: Verification?
    if let verifier {
      verify = { token, wall, _ throws(WireError) in try verifier.verify(token, wall: wall) }
    }
    self.init(verify: verify, botUsers: botUsers, banned: banned, operators: operators)
  }

  private static func key(_ auth: Configuration.Auth) throws(ServerError) -> TokenKey? {
    switch auth.mode {
    case .open:
      // A secret may be in the environment of all commands, for `relay token`.
      guard auth.publicKey.isEmpty else {
        throw ServerError(
          "auth.public_key is set, but auth.mode is open, in which clients may claim any name. Set "
            + "auth.mode: jwt, or remove the key.")
      }
      return nil
    case .accounts: return nil
    case .jwt:
      return auth.secret.isEmpty
        ? try TokenKey(publicKey: auth.publicKey) : TokenKey(secret: auth.secret)
    }
  }
}
