/// What the tokens of one issuer have in common: all that `TokenRule` judges except the user and the
/// time. Shared by the identities that they prove, so that a connection holds only a reference.
///
/// Issuers and audiences are bytes, since `String` compares by Unicode's canonical equivalence.
public final class TokenOrigin: Hashable, Sendable {
  /// The thumbprint of the key that signed the token.
  public let key: [UInt8]
  /// `iss` (RFC 7519 §4.1.1).
  public let issuer: [UInt8]?
  /// `aud` (RFC 7519 §4.1.3).
  public let audiences: [[UInt8]]
  /// The claim that named the user.
  public let userClaim: String

  public init(key: [UInt8], issuer: [UInt8]?, audiences: [[UInt8]], userClaim: String) {
    self.key = key
    self.issuer = issuer
    self.audiences = audiences
    self.userClaim = userClaim
  }

  public static func == (one: TokenOrigin, other: TokenOrigin) -> Bool {
    one === other
      || one.key == other.key && one.issuer == other.issuer && one.audiences == other.audiences
        && one.userClaim == other.userClaim
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(key)
    hasher.combine(issuer)
    hasher.combine(audiences)
    hasher.combine(userClaim)
  }
}

/// The origin and the time of a token: kept with a connection instead of the token.
public struct Issuance: Equatable, Sendable {
  public let origin: TokenOrigin
  /// `iat` in milliseconds since 1970; `unknownTime` without one.
  public let time: Int64

  /// The time of a token without `iat`: earlier than any other. An optional would take 8 bytes more of
  /// each connection.
  public static let unknownTime = Int64.min

  public init(origin: TokenOrigin, time: Int64) {
    self.origin = origin
    self.time = time
  }
}

/// The operator's conditions for tokens whose signature is valid. They can change at runtime, so they
/// are applied when a token is verified, and again to the open connections.
public struct TokenRule: Equatable, Sendable {
  /// The thumbprints of the accepted keys.
  public var keys: Set<[UInt8]> = []
  /// The required `iss`; `nil` = unchecked.
  public var issuer: [UInt8]?
  /// The value that `aud` must be or contain; `nil` = unchecked.
  public var audience: [UInt8]?
  /// The claim that names the user.
  public var userClaim = "sub"
  /// Tokens of these users must not be older: milliseconds since 1970.
  public var notBefore: [String: Int64] = [:]

  public init() {}

  /// Returns why an identity is not accepted, as a sentence; `nil` if it is, or if no token proves it.
  public func refusal(of identity: Identity) -> String? {
    guard let issuance = identity.issuance else { return nil }
    let origin = issuance.origin
    guard keys.contains(origin.key) else {
      return "The token is signed by a key that this relay no longer accepts."
    }
    if let issuer, origin.issuer != issuer {
      return "The token's iss is not the issuer that this relay accepts."
    }
    if let audience, !origin.audiences.contains(audience) {
      return "The token's aud does not name this relay."
    }
    guard origin.userClaim == userClaim else {
      return "The token's user is now named by \(userClaim), no longer by \(origin.userClaim)."
    }
    if let begin = notBefore[identity.user], issuance.time < begin {
      let what = issuance.time == Issuance.unknownTime ? "no iat" : "an earlier iat"
      return "Tokens of \(identity.user) are accepted from \(begin / 1000) s since 1970 on, and "
        + "this one has \(what)."
    }
    return nil
  }
}
