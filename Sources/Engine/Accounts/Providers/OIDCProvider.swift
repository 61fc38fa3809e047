/// A provider of OpenID Connect (https://openid.net/specs/openid-connect-core-1_0.html, by the
/// authorization code flow), found by its discovery document
/// (https://openid.net/specs/openid-connect-discovery-1_0.html).
public struct OIDCProvider: SignInProvider {
  /// What another part has found out about the signature of an ID token.
  public enum CheckedToken: Sendable {
    /// It is right; the claims, as JSON.
    case claims([UInt8])
    /// By these keys it is not, which may be too old.
    case refused(String)
  }

  public let method = "oidc"
  public let title: String
  /// Byte for byte as the provider has it.
  public let issuer: String
  public let clientID: String
  /// Empty = a public client.
  let clientSecret: String
  /// The claim that proposes a user name.
  let userClaim: String
  /// Only their members enter; empty = everyone.
  let groups: [String]
  let groupsClaim: String
  /// Checks the signature of a token by a JWK Set, of a length that the provider chooses.
  let check: @Sendable (_ token: String, _ keys: [UInt8]) -> CheckedToken

  public init(
    title: String, issuer: String, clientID: String, clientSecret: String, userClaim: String,
    groups: [String], groupsClaim: String,
    check: @escaping @Sendable (_ token: String, _ keys: [UInt8]) -> CheckedToken
  ) {
    self.title = title
    self.issuer = issuer
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.userClaim = userClaim
    self.groups = groups
    self.groupsClaim = groupsClaim
    self.check = check
  }

  public func begin(_ attempt: ProviderAttempt) -> any ProviderExchange {
    OIDCRedirect(provider: self, attempt: attempt)
  }

  public func exchange(
    _ code: String, from issuer: String?, _ attempt: ProviderAttempt, now: Int64
  ) -> any ProviderExchange {
    OIDCExchange(provider: self, code: code, returnIssuer: issuer, attempt: attempt, now: now)
  }

  /// Kept for a day: it hardly ever changes.
  var metadataRequest: ProviderRequest {
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    return ProviderRequest(
      url: "\(base)/.well-known/openid-configuration", headers: ["Accept: application/json"],
      maxAgeSeconds: 86_400)
  }
}

/// Why a sign-in fails, and the reason for the operator.
struct OIDCFailure: Error {
  var failure = SignInFailure.providerRefused
  var reason: String

  static let unavailable = Self(failure: .providerUnavailable, reason: "")
}

/// Sends the browser to the provider.
struct OIDCRedirect: ProviderExchange {
  let provider: OIDCProvider
  let attempt: ProviderAttempt

  mutating func next(_ answer: ProviderAnswer?) -> ProviderStep {
    guard let answer else { return .request(provider.metadataRequest) }
    do throws(OIDCFailure) {
      let metadata = try OIDCMetadata(answer, of: provider)
      return .finished(.browser(to: url(metadata)))
    } catch {
      return .failed(error.failure, error.reason)
    }
  }

  private func url(_ metadata: OIDCMetadata) -> String {
    var scope = "openid profile email"
    if !provider.groups.isEmpty, metadata.scopes.contains("groups") { scope += " groups" }
    let query = FormText.encode([
      ("response_type", "code"), ("client_id", provider.clientID),
      ("redirect_uri", attempt.redirectURI), ("scope", scope), ("state", attempt.state),
      ("nonce", attempt.nonce), ("code_challenge", attempt.challenge),
      ("code_challenge_method", "S256"),
    ])
    // The address may have a query already (RFC 6749 §3.1).
    let separator = metadata.authorization.contains("?") ? "&" : "?"
    return metadata.authorization + separator + query
  }
}
