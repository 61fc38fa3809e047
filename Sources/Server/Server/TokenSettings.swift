internal import Relay
internal import RelayConfiguration

/// What a configuration says about tokens, with the keys that it contains or that files hold.
struct TokenSettings: Sendable {
  var keys: [NamedTokenKey] = []
  /// Without the keys.
  var rule = TokenRule()
  /// Users that a token may not name: the bots of the relay.
  var reserved: Set<String>
  /// The URL of further keys; `nil` = none.
  var url: String?
  /// What was left out of a file and why, as sentences for the operator.
  var notes: [String] = []

  /// Reads files with blocking calls.
  /// - Throws: every fault of every key.
  init(_ configuration: Configuration) throws(ServerError) {
    let auth = configuration.auth
    reserved = Set(configuration.bots.map(\.user))
    rule.issuer = auth.issuer.isEmpty ? nil : Array(auth.issuer.utf8)
    rule.audience = auth.audience.isEmpty ? nil : Array(auth.audience.utf8)
    rule.userClaim = auth.userClaim
    rule.notBefore = auth.notBefore.mapValues { $0 * 1000 }
    var faults: [String] = []
    func add(_ name: String?, _ read: () throws(ServerError) -> TokenKey) {
      do throws(ServerError) {
        keys.append(NamedTokenKey(name: name, key: try read()))
      } catch {
        faults.append(error.description)
      }
    }
    if !auth.secret.isEmpty { add(nil) { TokenKey(secret: auth.secret) } }
    if !auth.publicKey.isEmpty {
      add(nil) { () throws(ServerError) in try TokenKey(publicKey: auth.publicKey) }
    }
    for (index, key) in auth.keys.enumerated() {
      add(key.kid) { () throws(ServerError) in
        guard key.secret.isEmpty else { return TokenKey(secret: key.secret) }
        return try TokenKey(publicKey: key.publicKey, named: "auth.keys[\(index)].public_key")
      }
    }
    if auth.jwksIsURL {
      url = auth.jwks
    } else if !auth.jwks.isEmpty {
      do throws(ServerError) {
        let set = try Self.readSet(auth.jwks)
        keys += set.keys
        notes = set.notes
      } catch {
        faults.append(error.description)
      }
    }
    guard faults.isEmpty else { throw ServerError(faults.joined(separator: "\n")) }
  }

  private static func readSet(_ file: String) throws(ServerError) -> JSONWebKeySet {
    let document: [UInt8]
    do throws(ConfigurationFile.Failure) {
      document = try ConfigurationFile.read(file)
    } catch {
      throw ServerError("auth.jwks (\(file)) \(error.found); \(error.expected).")
    }
    do throws(JSONWebKeySet.Unusable) {
      return try JSONWebKeySet(document, allowsSecrets: true)
    } catch {
      throw ServerError(
        "auth.jwks (\(file)) \(error.found) It is the file of the keys that an issuer of tokens publishes."
      )
    }
  }
}
