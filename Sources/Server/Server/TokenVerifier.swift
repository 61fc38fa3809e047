import Relay
internal import RelayConfiguration
import Synchronization
import Wire

/// Verifies JWTs and returns the user and rights that they grant; reads no clock. Thread-safe.
struct TokenVerifier: Sendable {
  /// Longer tokens are rejected: an HTTP request's head has no more bytes by default.
  static let tokenBytesLimit = 8192
  /// The maximum length and number of patterns: every requested room is matched against each.
  static let patternBytesLimit = RoomName.lengthLimit
  static let patternLimit = 128

  /// Why a token is not accepted.
  struct Refusal: Error {
    var error: WireError
    /// Whether it may be signed by a key that is not known here yet.
    var isKeyUnknown = false
  }

  let keys: KeySet
  /// The operator's conditions, with the thumbprints of the keys.
  let rule: TokenRule
  /// Users that a token may not name: the bots of the relay.
  let reserved: Set<String>
  private let origins = SharedOrigins()

  init(keys: KeySet, rule: TokenRule = TokenRule(), reserved: Set<String>) {
    self.keys = keys
    var rule = rule
    rule.keys = keys.thumbprints
    self.rule = rule
    self.reserved = reserved
  }

  /// - Parameter fetched: keys in addition to those of the settings.
  init(_ settings: TokenSettings, fetched: [NamedTokenKey]) {
    self.init(
      keys: KeySet(settings.keys + fetched), rule: settings.rule, reserved: settings.reserved)
  }

  /// A verifier with one key, which has no name.
  init(key: TokenKey, reserved: Set<String>) {
    self.init(keys: KeySet([NamedTokenKey(key: key)]), reserved: reserved)
  }

  /// Verifies a token, and returns its identity.
  /// - Parameter wall: the time, in milliseconds since 1970.
  /// - Throws: `token_expired` if nothing else is wrong with it, otherwise `unauthorized`, with the
  ///   reason as a sentence.
  func verify(_ token: String, wall: Int64) throws(Refusal) -> Identity {
    guard token.utf8.count <= Self.tokenBytesLimit else {
      throw refusal("The token is longer than \(Self.tokenBytesLimit) bytes.")
    }
    let decoded: DecodedToken
    do throws(DecodedToken.Refusal) {
      decoded = try DecodedToken(token, keys: keys)
    } catch {
      throw refusal(error.text, isKeyUnknown: error.isKeyUnknown)
    }
    let claims = decoded.claims
    let expires = try time("exp", in: claims)
    if let begins = try time("nbf", in: claims), begins - Identity.clockSkewMilliseconds > wall {
      throw refusal("The token is not valid yet.")
    }
    let user = try user(in: claims)
    let name = claims["name"]?.string.flatMap { ConfigurationRules.isTitle($0) ? $0 : nil }
    let identity = Identity(
      user: user, name: name, rights: try rights(in: claims), expires: expires,
      issuance: issuance(of: decoded))
    if let text = rule.refusal(of: identity) { throw refusal(text) }
    // Last: a client renews an expired token and offers the new one, so nothing else may be wrong.
    if let expires, expires + Identity.clockSkewMilliseconds <= wall {
      throw Refusal(error: WireError(.tokenExpired, "The token has expired.", re: .auth))
    }
    return identity
  }

  private func refusal(_ text: String, isKeyUnknown: Bool = false) -> Refusal {
    Refusal(error: WireError(.unauthorized, text, re: .auth), isKeyUnknown: isKeyUnknown)
  }

  // MARK: - Claims

  /// Larger times are reduced to this number of seconds (the year 287396), so that they and a skew
  /// fit as milliseconds.
  private static let secondsLimit = 9_007_199_254_740.0

  /// Returns a NumericDate (RFC 7519 §2), which may have a fraction, in milliseconds; `nil` if
  /// absent.
  private func time(
    _ claim: StaticString, in claims: JSONNode
  ) throws(Refusal) -> Int64? {
    guard let value = claims.member(claim) else { return nil }
    guard let seconds = value.number.flatMap({ Double($0) }) else {
      throw refusal("The token's \(claim) must be a number of seconds since 1970.")
    }
    return Int64((min(max(seconds, 0), Self.secondsLimit) * 1000).rounded(.down))
  }

  /// Returns the user that a claim names.
  private func user(in claims: JSONNode) throws(Refusal) -> String {
    guard let value = claims.member(named: rule.userClaim)?.string, !value.isEmpty else {
      throw refusal("The token's \(rule.userClaim) must be a text that names the user.")
    }
    let user = FoldedName.of(value)
    guard !reserved.contains(user) else {
      throw refusal("\(user) is a bot of this relay; tokens for it are not accepted.")
    }
    return user
  }

  /// Returns what the operator's conditions are about. A claim of a wrong type is as none.
  private func issuance(of token: DecodedToken) -> Issuance {
    let claims = token.claims
    let audience = claims["aud"]
    let audiences =
      audience?.elements?.compactMap(\.string) ?? [audience?.string].compactMap(\.self)
    let origin = TokenOrigin(
      key: token.key.thumbprint, issuer: claims["iss"]?.string.map { Array($0.utf8) },
      audiences: audiences.map { Array($0.utf8) }, userClaim: rule.userClaim)
    let issued = (try? time("iat", in: claims)) ?? Issuance.unknownTime
    return Issuance(origin: origins.shared(origin), time: issued)
  }

  /// Returns the rights; rejects the whole token if it contains rights that are not understood.
  private func rights(in claims: JSONNode) throws(Refusal) -> Rights {
    guard let rooms = claims.member("rooms") else { return .all }
    guard rooms.isObject else {
      throw refusal(#"The token's rooms must be an object such as {"join":["general"]}."#)
    }
    func patterns(_ name: StaticString) throws(Refusal) -> [String]? {
      guard let value = rooms.member(name) else { return nil }
      guard let elements = value.elements, elements.count <= Self.patternLimit else {
        throw refusal(
          "The token's rooms.\(name) must be a list of at most \(Self.patternLimit) patterns.")
      }
      let patterns = elements.compactMap(\.string)
      guard patterns.count == elements.count,
        patterns.allSatisfy({ $0.utf8.count <= Self.patternBytesLimit })
      else {
        throw refusal(
          "The token's rooms.\(name) must hold strings of at most \(Self.patternBytesLimit) bytes.")
      }
      return patterns
    }
    return Rights(join: try patterns("join"), send: try patterns("send"))
  }
}

/// The origins of tokens, so that equal ones take memory once.
private final class SharedOrigins: Sendable {
  /// An issuer may give each user an audience of its own; origins beyond these are not shared.
  private static let limit = 256

  private let known = Mutex<Set<TokenOrigin>>([])

  func shared(_ origin: TokenOrigin) -> TokenOrigin {
    known.withLock { known in
      if known.count < Self.limit { return known.insert(origin).memberAfterInsert }
      return known.firstIndex(of: origin).map { known[$0] } ?? origin
    }
  }
}
