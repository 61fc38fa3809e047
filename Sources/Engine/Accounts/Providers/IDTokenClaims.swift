internal import Wire

/// The claims of an ID token whose signature is right (OpenID Connect Core 1.0 §3.1.3.7), and those that
/// userinfo adds.
struct IDTokenClaims {
  /// How far the clocks of the provider and of the relay may differ, in seconds.
  private static let leewaySeconds: Int64 = 60
  private static let subjectBytesLimit = 255

  private let provider: OIDCProvider
  private let token: JSONNode
  private let subject: String
  private var userinfo: JSONNode?

  /// - Parameters:
  ///   - json: the claims.
  ///   - now: milliseconds since 1970.
  init(
    _ json: [UInt8], for provider: OIDCProvider, nonce: String, now: Int64
  ) throws(OIDCFailure) {
    func require(_ holds: Bool, _ what: String, _ found: JSONNode?) throws(OIDCFailure) {
      if !holds {
        throw OIDCFailure(
          reason: "the ID token's \(what): it is \(shown(found?.string ?? found?.number))")
      }
    }
    guard let token = JSONNode(json), token.isObject else {
      throw OIDCFailure(reason: "the ID token has no claims")
    }
    let seconds = now / 1000
    try require(
      token["iss"]?.string == provider.issuer, "iss is not auth.oidc.issuer", token["iss"])
    // A token for another application of the same provider is none for the relay.
    let audience = token["aud"]?.string.map { [$0] } ?? OIDCMetadata.texts(token["aud"])
    let authorized = token["azp"]
    try require(
      audience.contains(provider.clientID), "aud does not name this client", token["aud"])
    try require(
      authorized.map { $0.string == provider.clientID } ?? (audience.count == 1),
      "azp is not this client", authorized)
    let expiry = Self.seconds(token["exp"])
    try require(
      expiry.map { $0 > seconds - Self.leewaySeconds } ?? false, "exp has passed", token["exp"])
    let issued = Self.seconds(token["iat"])
    try require(
      issued.map { $0 <= seconds + Self.leewaySeconds } ?? false,
      "iat is in the future; is a clock wrong?", token["iat"])
    // The token is of this sign-in, and not one that was taken from another.
    try require(
      !nonce.isEmpty && token["nonce"]?.string == nonce, "nonce is of another sign-in",
      token["nonce"])
    let subject = token["sub"]?.string ?? ""
    try require(
      (1...Self.subjectBytesLimit).contains(subject.utf8.count)
        && subject.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F },
      "sub names no person", token["sub"])
    self.provider = provider
    self.token = token
    self.subject = subject
  }

  /// Whether userinfo has to be asked for nothing.
  var isComplete: Bool {
    claim(provider.userClaim)?.string != nil
      && (provider.userClaim != "email" || token["email_verified"] != nil)
      && (provider.groups.isEmpty || claim(provider.groupsClaim) != nil)
  }

  /// Adds what userinfo says, which must be about the same person (OpenID Connect Core 1.0 §5.3.2).
  mutating func add(userinfo: JSONNode) throws(OIDCFailure) {
    guard userinfo["sub"]?.string == subject else {
      throw OIDCFailure(reason: "userinfo is about another person than the ID token")
    }
    self.userinfo = userinfo
  }

  /// Returns the person, if they may enter.
  func person() throws(OIDCFailure) -> ProviderPerson {
    if !provider.groups.isEmpty {
      guard let found = claim(provider.groupsClaim) else {
        throw OIDCFailure(
          failure: .notAMember,
          reason:
            "the provider gives no claim \(shown(provider.groupsClaim)) (auth.oidc.groups_claim)")
      }
      let groups = found.string.map { [$0] } ?? OIDCMetadata.texts(found)
      guard groups.contains(where: provider.groups.contains) else {
        throw OIDCFailure(
          failure: .notAMember, reason: "the person is in no group of auth.oidc.groups")
      }
    }
    guard let value = claim(provider.userClaim)?.string, !value.isEmpty else {
      throw OIDCFailure(
        reason:
          "the provider gives no claim \(shown(provider.userClaim)); set auth.oidc.user_claim to"
          + " one that it gives, such as preferred_username, nickname or email")
    }
    if provider.userClaim == "email" {
      // Some providers write it as a text.
      let verified = claim("email_verified")
      guard verified?.boolean == true || verified?.string == "true" else {
        throw OIDCFailure(reason: "the provider has not verified the person's e-mail address")
      }
    }
    let login = value.split(separator: "@").first.map(String.init) ?? value
    return ProviderPerson(
      binding: ProviderBinding(issuer: provider.issuer, subject: subject), login: login,
      name: claim("name")?.string,
      picture: PictureAddress.admitted(
        claim("picture")?.string, of: [OIDCMetadata.origin(of: provider.issuer)]))
  }

  private func claim(_ name: String) -> JSONNode? {
    for part in [token, userinfo] {
      if let value = part?.member(named: name), value.isPresent { return value }
    }
    return nil
  }

  /// A time in seconds since 1970, which some providers give as a fraction.
  private static func seconds(_ value: JSONNode?) -> Int64? {
    value?.number.flatMap(Double.init).flatMap { Int64(exactly: $0.rounded(.down)) }
  }
}

extension JSONNode {
  /// Whether it is a value that says something.
  fileprivate var isPresent: Bool {
    string != nil || elements != nil || boolean != nil || number != nil
  }
}
