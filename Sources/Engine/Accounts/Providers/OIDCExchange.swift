internal import Wire

/// Exchanges a code for an ID token, checks it, and reads who has signed in.
struct OIDCExchange: ProviderExchange {
  private enum Asked {
    case nothing, metadata, token, keys, newKeys, userinfo
  }

  /// Keys change without notice. An ID token that they do not verify is a reason to fetch them again, but not
  /// for each such token.
  private static let (keysSeconds, newKeysSeconds) = (86_400, 30)
  private static let tokenBytesLimit = 65_536

  let provider: OIDCProvider
  let code: String
  /// Who the browser says that it comes from.
  let returnIssuer: String?
  let attempt: ProviderAttempt
  /// Milliseconds since 1970.
  let now: Int64
  private var asked = Asked.nothing
  private var metadata: OIDCMetadata?
  private var idToken = ""
  private var accessToken: String?
  private var claims: IDTokenClaims?

  init(
    provider: OIDCProvider, code: String, returnIssuer: String?, attempt: ProviderAttempt,
    now: Int64
  ) {
    self.provider = provider
    self.code = code
    self.returnIssuer = returnIssuer
    self.attempt = attempt
    self.now = now
  }

  mutating func next(_ answer: ProviderAnswer?) -> ProviderStep {
    do throws(OIDCFailure) {
      guard let answer else {
        asked = .metadata
        return .request(provider.metadataRequest)
      }
      guard asked == .metadata || metadata != nil else { return .failed(.providerRefused) }
      switch asked {
      case .nothing: return .failed(.providerRefused)
      case .metadata:
        let metadata = try OIDCMetadata(answer, of: provider)
        try checkReturn(metadata)
        self.metadata = metadata
        asked = .token
        return .request(tokenRequest(metadata))
      case .token:
        try readTokens(answer)
        return keysRequest(.keys)
      case .keys, .newKeys: return try check(answer)
      case .userinfo:
        try claims?.add(userinfo: Self.content(answer, of: "userinfo"))
        return try person()
      }
    } catch {
      return .failed(error.failure, error.reason)
    }
  }

  /// An answer of another provider must not be taken for one of this (RFC 9207 §2.4).
  private func checkReturn(_ metadata: OIDCMetadata) throws(OIDCFailure) {
    guard returnIssuer == nil ? !metadata.namesIssuer : returnIssuer == provider.issuer else {
      throw OIDCFailure(
        reason: "the browser came back from the issuer \(shown(returnIssuer)) instead of"
          + " \(shown(provider.issuer))")
    }
  }

  private func tokenRequest(_ metadata: OIDCMetadata) -> ProviderRequest {
    var fields = [
      ("grant_type", "authorization_code"), ("code", code),
      ("redirect_uri", attempt.redirectURI), ("code_verifier", attempt.verifier),
    ]
    var request = ProviderRequest(url: metadata.token, headers: ["Accept: application/json"])
    switch metadata.proof {
    case .none: fields.append(("client_id", provider.clientID))
    case .post:
      fields += [("client_id", provider.clientID), ("client_secret", provider.clientSecret)]
    case .basic:
      // Both are encoded before (RFC 6749 §2.3.1): they may contain a colon.
      request.basic =
        "\(FormText.escaped(provider.clientID)):\(FormText.escaped(provider.clientSecret))"
    }
    request.content = FormText.encode(fields)
    return request
  }

  private mutating func readTokens(_ answer: ProviderAnswer) throws(OIDCFailure) {
    let json = try Self.content(answer, of: "the token endpoint")
    guard let token = json["id_token"]?.string, token.utf8.count <= Self.tokenBytesLimit else {
      throw OIDCFailure(reason: "the token endpoint gave no ID token")
    }
    idToken = token
    accessToken = json["access_token"]?.string.flatMap { token in
      let isToken = token.utf8.allSatisfy { 0x21...0x7E ~= $0 }
      return isToken && (1...Self.tokenBytesLimit).contains(token.utf8.count) ? token : nil
    }
  }

  private mutating func keysRequest(_ asked: Asked) -> ProviderStep {
    self.asked = asked
    return .request(
      ProviderRequest(
        url: metadata?.keys ?? "", headers: ["Accept: application/jwk-set+json, application/json"],
        maxAgeSeconds: asked == .keys ? Self.keysSeconds : Self.newKeysSeconds))
  }

  private mutating func check(_ answer: ProviderAnswer) throws(OIDCFailure) -> ProviderStep {
    guard answer.status == 200 else { throw .unavailable }
    switch provider.check(idToken, answer.body) {
    case .refused(let reason):
      guard asked == .keys else {
        throw OIDCFailure(reason: "the ID token is refused: \(reason)")
      }
      return keysRequest(.newKeys)
    case .claims(let json):
      let claims = try IDTokenClaims(json, for: provider, nonce: attempt.nonce, now: now)
      self.claims = claims
      if claims.isComplete { return try person() }
      guard let userinfo = metadata?.userinfo, let accessToken else { return try person() }
      asked = .userinfo
      return .request(
        ProviderRequest(
          url: userinfo,
          headers: ["Authorization: Bearer \(accessToken)", "Accept: application/json"]))
    }
  }

  private func person() throws(OIDCFailure) -> ProviderStep {
    guard let claims else { return .failed(.providerRefused) }
    return .finished(.person(try claims.person()))
  }

  /// Returns the object in an answer.
  private static func content(
    _ answer: ProviderAnswer, of what: String
  ) throws(OIDCFailure) -> JSONNode {
    if answer.isUnavailable { throw .unavailable }
    let json = JSONNode(answer.body)
    guard answer.status == 200, let json, json.isObject else {
      let error = json?["error"]?.string
      let detail = json?["error_description"]?.string
      throw OIDCFailure(
        reason: "\(what) answered with the error \(shown(error))"
          + (detail.map { ", \(shown($0))" } ?? ""))
    }
    return json
  }
}
