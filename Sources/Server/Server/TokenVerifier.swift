import Relay
internal import RelayConfiguration
import Wire
internal import YAML

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
    guard let decoded = DecodedToken(token, key: key.bytes),
      decoded.algorithm == key.algorithm.rawValue
    else {
      throw refusal("The token is not signed with \(key.algorithm.rawValue) by the right key.")
    }
    guard !decoded.hasCriticalExtensions else {
      throw refusal("The token requires extensions (crit), which this relay does not support.")
    }
    let expires = try time("exp", in: decoded)
    if let begins = try time("nbf", in: decoded), begins - Identity.clockSkewMilliseconds > wall {
      throw refusal("The token is not valid yet.")
    }
    guard let user = decoded.string("sub"), UserName.isValid(user) else {
      throw refusal("The token's sub must be a user name: 1 to 64 of a-z 0-9 . _ -, not . or ..")
    }
    guard !reserved.contains(user) else {
      throw refusal("\(user) is a bot of this relay; tokens for it are not accepted.")
    }
    let name = decoded.string("name").flatMap { ConfigurationRules.isTitle($0) ? $0 : nil }
    let rights = try rights(in: decoded)
    // Last: a client renews an expired token and offers the new one, so nothing else may be wrong.
    if let expires, expires + Identity.clockSkewMilliseconds <= wall {
      throw WireError(.tokenExpired, "The token has expired.", re: "auth")
    }
    return Identity(user: user, name: name, rights: rights, expires: expires)
  }

  private func refusal(_ text: String) -> WireError { WireError(.unauthorized, text, re: "auth") }

  // MARK: - Claims

  /// Larger times are reduced to this number of seconds (the year 287396), so that they and a skew
  /// fit as milliseconds.
  private static let secondsLimit = 9_007_199_254_740.0

  /// Returns a NumericDate (RFC 7519 §2), which may have a fraction, in milliseconds; `nil` if
  /// absent.
  private func time(_ claim: String, in token: borrowing DecodedToken) throws(WireError) -> Int64? {
    guard let json = token.json(claim) else { return nil }
    // Strings and literals begin with other characters, and "inf" is not JSON.
    guard let first = json.utf8.first, first == UInt8(ascii: "-") || (48...57).contains(first),
      let seconds = Double(json)
    else { throw refusal("The token's \(claim) must be a number of seconds since 1970.") }
    return Int64((min(max(seconds, 0), Self.secondsLimit) * 1000).rounded(.down))
  }

  /// Returns the rights; rejects the whole token if it contains rights that are not understood.
  private func rights(in token: borrowing DecodedToken) throws(WireError) -> Rights {
    guard token.json("rooms") != nil else { return .all }
    guard let tree = token.tree("rooms"), case .mapping(let pairs) = tree.content else {
      throw refusal(#"The token's rooms must be an object such as {"join":["general"]}."#)
    }
    func patterns(_ name: String) throws(WireError) -> [String]? {
      guard let pair = pairs.first(where: { $0.key == name }) else { return nil }
      guard case .list(let elements) = pair.value.content, elements.count <= Self.patternLimit
      else {
        throw refusal(
          "The token's rooms.\(name) must be a list of at most \(Self.patternLimit) patterns.")
      }
      let patterns = elements.compactMap { element -> String? in
        guard case .scalar(let text, isPlain: false) = element.content,
          text.utf8.count <= Self.patternBytesLimit
        else { return nil }
        return text
      }
      guard patterns.count == elements.count else {
        throw refusal(
          "The token's rooms.\(name) must hold strings of at most \(Self.patternBytesLimit) bytes.")
      }
      return patterns
    }
    return Rights(join: try patterns("join"), send: try patterns("send"))
  }
}
