import Relay
internal import RelayConfiguration
import Wire

/// Verifies JWTs and returns the user and rights that they grant; reads no clock. Thread-safe.
struct TokenVerifier: Sendable {
  /// Longer tokens are rejected: an HTTP request's head has no more bytes by default.
  static let tokenBytesLimit = 8192
  /// The maximum length and number of patterns: every requested room is matched against each.
  static let patternBytesLimit = RoomName.lengthLimit
  static let patternLimit = 128

  let key: TokenKey
  /// Users that a token may not name: the bots of the relay.
  let reserved: Set<String>

  /// Verifies a token, and returns its identity.
  /// - Parameter wall: the time, in milliseconds since 1970.
  /// - Throws: `token_expired` if nothing else is wrong with it, otherwise `unauthorized`, with the
  ///   reason as a sentence.
  func verify(_ token: String, wall: Int64) throws(WireError) -> Identity {
    guard token.utf8.count <= Self.tokenBytesLimit else {
      throw refusal("The token is longer than \(Self.tokenBytesLimit) bytes.")
    }
    let claims: JSONNode
    do throws(DecodedToken.Refusal) {
      claims = try DecodedToken(token, key: key).claims
    } catch {
      throw refusal(error.text)
    }
    let expires = try time("exp", in: claims)
    if let begins = try time("nbf", in: claims), begins - Identity.clockSkewMilliseconds > wall {
      throw refusal("The token is not valid yet.")
    }
    guard let user = claims["sub"]?.string, UserName.isValid(user) else {
      throw refusal("The token's sub must be a user name: 1 to 64 of a-z 0-9 . _ -, not . or ..")
    }
    guard !reserved.contains(user) else {
      throw refusal("\(user) is a bot of this relay; tokens for it are not accepted.")
    }
    let name = claims["name"]?.string.flatMap { ConfigurationRules.isTitle($0) ? $0 : nil }
    let rights = try rights(in: claims)
    // Last: a client renews an expired token and offers the new one, so nothing else may be wrong.
    if let expires, expires + Identity.clockSkewMilliseconds <= wall {
      throw WireError(.tokenExpired, "The token has expired.", re: .auth)
    }
    return Identity(user: user, name: name, rights: rights, expires: expires)
  }

  private func refusal(_ text: String) -> WireError { WireError(.unauthorized, text, re: .auth) }

  // MARK: - Claims

  /// Larger times are reduced to this number of seconds (the year 287396), so that they and a skew
  /// fit as milliseconds.
  private static let secondsLimit = 9_007_199_254_740.0

  /// Returns a NumericDate (RFC 7519 §2), which may have a fraction, in milliseconds; `nil` if
  /// absent.
  private func time(
    _ claim: StaticString, in claims: JSONNode
  ) throws(WireError) -> Int64? {
    guard let value = claims.member(claim) else { return nil }
    guard let seconds = value.number.flatMap({ Double($0) }) else {
      throw refusal("The token's \(claim) must be a number of seconds since 1970.")
    }
    return Int64((min(max(seconds, 0), Self.secondsLimit) * 1000).rounded(.down))
  }

  /// Returns the rights; rejects the whole token if it contains rights that are not understood.
  private func rights(in claims: JSONNode) throws(WireError) -> Rights {
    guard let rooms = claims.member("rooms") else { return .all }
    guard rooms.isObject else {
      throw refusal(#"The token's rooms must be an object such as {"join":["general"]}."#)
    }
    func patterns(_ name: StaticString) throws(WireError) -> [String]? {
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
