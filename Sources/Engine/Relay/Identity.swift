internal import Wire

/// An authenticated user with their rights and the time at which these expire, as stated by the
/// token if there is one.
public struct Identity: Equatable, Sendable {
  /// The tolerated difference between the clocks of a token's issuer and of the relay. Tokens are
  /// accepted this long before they begin and after they expire.
  public static let clockSkewMilliseconds: Int64 = 30_000

  public var user: String
  /// The display name; `nil` if unknown.
  public var name: String?
  public var rights: Rights
  /// Milliseconds since 1970; `nil` = never.
  public var expires: Int64?
  /// The device's session, which ends by itself; `nil` = the identity is not one of an account.
  public var device: String?
  /// The service by which the user of the account signs in; `""` = none.
  public var issuer = ""
  /// Whether the account is an operator's.
  public var isOperator = false
  /// Whether it is the relay itself: an operator on its machine, by the operator's socket.
  public private(set) var isRelay = false
  /// What `TokenRule` judges; `nil` if no token proves the identity.
  public var issuance: Issuance?

  public init(
    user: String, name: String? = nil, rights: Rights = .all, expires: Int64? = nil,
    issuance: Issuance? = nil
  ) {
    self.user = user
    self.name = name
    self.rights = rights
    self.expires = expires
    self.issuance = issuance
  }

  /// The operator on the relay's machine.
  public static var relay: Identity {
    var identity = Identity(user: UserName.relay)
    identity.isRelay = true
    return identity
  }
}
