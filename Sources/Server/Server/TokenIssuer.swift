internal import CJWT
internal import COpenSSL
internal import Glibc
public import RelayConfiguration
internal import Wire

/// Signs tokens with the secret that the relay verifies them with.
public struct TokenIssuer: Sendable {
  /// The claims of a token.
  public struct Claims: Equatable, Sendable {
    /// The user that it is issued to.
    public var user: String
    /// The display name.
    public var name: String?
    /// Patterns of rooms that the user may join and read; `nil` = all.
    public var join: [String]?
    /// Patterns of rooms that the user may send to; `nil` = all.
    public var send: [String]?
    /// Its lifetime in seconds.
    public var seconds: Int

    /// Claims of a user without restrictions.
    public init(user: String, seconds: Int) {
      self.user = user
      self.seconds = seconds
    }
  }

  private let secret: [UInt8]
  /// The name of the secret, for the header; `nil` = none.
  private let kid: String?
  private let auth: Configuration.Auth
  private let verifier: TokenVerifier

  /// - Parameter kid: the secret of `auth.keys` that signs; `nil` = `auth.secret`, or the only one.
  /// - Throws: why no token can be signed with this configuration, and what to do.
  public init(_ configuration: Configuration, kid: String? = nil) throws(ServerError) {
    auth = configuration.auth
    let signing = try Self.signingKey(auth, kid)
    self.kid = signing.kid
    secret = Array(signing.secret.utf8)
    var own = configuration
    own.auth = Configuration().auth
    // Only this key, since the others may be files and URLs that this machine cannot read.
    (own.auth.issuer, own.auth.audience) = (auth.issuer, auth.audience)
    (own.auth.userClaim, own.auth.notBefore) = (auth.userClaim, auth.notBefore)
    let key = NamedTokenKey(name: signing.kid, key: TokenKey(secret: signing.secret))
    verifier = TokenVerifier(try TokenSettings(own), fetched: [key])
  }

  private static func signingKey(
    _ auth: Configuration.Auth, _ kid: String?
  ) throws(ServerError) -> (secret: String, kid: String?) {
    let secrets = auth.keys.filter { !$0.secret.isEmpty }
    let names = secrets.map(\.kid).joined(separator: ", ")
    if let kid {
      guard let key = secrets.first(where: { $0.kid == kid }) else {
        throw ServerError(
          "auth.keys has no secret of this name. "
            + (secrets.isEmpty ? "It has none at all." : "Its secrets are: \(names)."))
      }
      return (key.secret, kid)
    }
    if !auth.secret.isEmpty { return (auth.secret, nil) }
    if secrets.count == 1 { return (secrets[0].secret, secrets[0].kid) }
    guard secrets.isEmpty else {
      throw ServerError("auth.keys has several secrets; choose one with --kid: \(names).")
    }
    let verifying = [
      ("auth.public_key", !auth.publicKey.isEmpty), ("auth.keys", !auth.keys.isEmpty),
      ("auth.jwks", !auth.jwks.isEmpty),
    ].first { $0.1 }
    if let verifying {
      throw ServerError(
        "\(verifying.0) is set, so this relay verifies tokens but cannot sign them. Sign with the "
          + "private key: RS256 or ES256, with the claims sub, exp and optionally name and "
          + "rooms.")
    }
    throw ServerError(
      "auth.secret is not set. Create one with \"openssl rand -hex 32\" and set it, in the file "
        + "given by --config or as RELAY_AUTH_SECRET, together with auth.mode: jwt."
    )
  }

  /// - Parameter now: seconds since 1970.
  /// - Throws: why the relay would not accept such a token.
  public func sign(_ claims: Claims, now: Int) throws(ServerError) -> String {
    guard let token = encode(claims, now: now) else {
      throw ServerError("The token cannot be signed; check that its contents are valid UTF-8.")
    }
    if let name = claims.name, !ConfigurationRules.isTitle(name) {
      throw ServerError("The name must be \(ConfigurationRules.expectedTitle).")
    }
    // The relay would make another name of it.
    guard UserName.isValid(claims.user) else {
      throw ServerError(
        "The token's \(auth.userClaim) must be a user name: 1 to 64 of a-z 0-9 . _ -, not . or ..")
    }
    do throws(TokenVerifier.Refusal) {
      _ = try verifier.verify(token, wall: Int64(now) * 1000)
    } catch {
      throw ServerError("The relay would refuse this token. \(error.error.message)")
    }
    return token
  }

  private func encode(_ claims: Claims, now: Int) -> String? {
    defer { ERR_clear_error() }
    var made: OpaquePointer?
    guard unsafe jwt_new(&made) == 0, let token = unsafe made else { return nil }
    defer { unsafe jwt_free(token) }
    var results = unsafe [
      jwt_set_alg(token, JWT_ALG_HS256, secret, Int32(secret.count)),
      jwt_add_grant(token, auth.userClaim, claims.user),
      jwt_add_grant_int(token, "iat", now),
      jwt_add_grant_int(token, "exp", now + claims.seconds),
    ]
    if let kid { unsafe results.append(jwt_add_header(token, "kid", kid)) }
    for (claim, value) in [("iss", auth.issuer), ("aud", auth.audience)] where !value.isEmpty {
      unsafe results.append(jwt_add_grant(token, claim, value))
    }
    if let name = claims.name { unsafe results.append(jwt_add_grant(token, "name", name)) }
    if claims.join != nil || claims.send != nil {
      unsafe results.append(jwt_add_grants_json(token, Self.rooms(claims)))
    }
    guard results.allSatisfy({ $0 == 0 }), let text = unsafe jwt_encode_str(token) else {
      return nil
    }
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  private static func rooms(_ claims: Claims) -> String {
    let lists = [("join", claims.join), ("send", claims.send)].compactMap { name, patterns in
      patterns.map { "\"\(name)\":[\($0.map(quoted).joined(separator: ","))]" }
    }
    return "{\"rooms\":{\(lists.joined(separator: ","))}}"
  }

  /// Returns a JSON string.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}
