/// A person who may sign in. Times are in milliseconds since 1970.
public struct Account: Equatable, Sendable {
  /// The name in the protocol; it never changes.
  public var user: String
  /// The display name.
  public var name: String
  /// What the account is bound to at a provider; `nil` = it came by an invitation.
  public var binding: ProviderBinding?
  /// The address of the person's picture, as the provider had it at the last sign-in.
  public var picture: String?
  /// Whether the person operates the relay.
  public var isOperator: Bool
  /// Whether no device of the account may connect.
  public var isDisabled: Bool
  public var createdAt: Int64

  public init(
    user: String, name: String, binding: ProviderBinding? = nil, picture: String? = nil,
    isOperator: Bool = false, isDisabled: Bool = false, createdAt: Int64
  ) {
    self.user = user
    self.name = name
    self.binding = binding
    self.picture = picture
    self.isOperator = isOperator
    self.isDisabled = isDisabled
    self.createdAt = createdAt
  }
}

/// What stays the same of a person at a provider while names change (OpenID Connect Core §5.7).
public struct ProviderBinding: Hashable, Sendable {
  public var issuer: String
  public var subject: String

  public init(issuer: String, subject: String) {
    self.issuer = issuer
    self.subject = subject
  }
}

/// A signed-in device. Times are in milliseconds since 1970.
public struct DeviceSession: Equatable, Sendable {
  /// Names the session; no secret.
  public var id: String
  /// The hash of the token.
  public var hash: SecretHash
  public var user: String
  /// What the device is called, such as `Firefox on Linux`.
  public var device: String
  public var createdAt: Int64
  /// Correct to a minute.
  public var usedAt: Int64
  /// Where it was last used from: an IPv4 address, or an IPv6 network.
  public var address: String

  public init(
    id: String, hash: SecretHash, user: String, device: String, createdAt: Int64, usedAt: Int64,
    address: String
  ) {
    self.id = id
    self.hash = hash
    self.user = user
    self.device = device
    self.createdAt = createdAt
    self.usedAt = usedAt
    self.address = address
  }
}

/// A link that lets people in. Times are in milliseconds since 1970.
public struct Invitation: Equatable, Sendable {
  /// Names the invitation; no secret.
  public var id: String
  /// The hash of the code in the link.
  public var hash: SecretHash
  /// The user who made it; empty for the link of a start without an account.
  public var by: String
  /// Whether its maker may give a name that is taken, and a further device to an account.
  public var isByOperator: Bool
  /// Whether it makes its opener an operator.
  public var makesOperator: Bool
  /// The name that the opener gets; `nil` = of the opener's choice.
  public var user: String?
  /// The display name that is proposed.
  public var name: String?
  /// The rooms that the opener becomes a member of.
  public var rooms: [String]
  public var uses: Int
  /// The users who have opened it, in order.
  public var usedBy: [String]
  public var createdAt: Int64
  public var expiresAt: Int64

  public init(
    id: String, hash: SecretHash, by: String, isByOperator: Bool, makesOperator: Bool = false,
    user: String? = nil, name: String? = nil, rooms: [String] = [], uses: Int = 1,
    usedBy: [String] = [], createdAt: Int64, expiresAt: Int64
  ) {
    self.id = id
    self.hash = hash
    self.by = by
    self.isByOperator = isByOperator
    self.makesOperator = makesOperator
    self.user = user
    self.name = name
    self.rooms = rooms
    self.uses = uses
    self.usedBy = usedBy
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }

  func isOpen(_ now: Int64) -> Bool { usedBy.count < uses && now < expiresAt }
}

/// A device that waits until a signed-in user confirms its code (RFC 8628). Times are in
/// milliseconds since 1970.
public struct DeviceCode: Equatable, Sendable {
  /// The hash of the code that the device polls with.
  public var hash: SecretHash
  /// The hash of the code that a person types.
  public var userHash: SecretHash
  public var device: String
  public var address: String
  public var decision = Decision.pending
  /// The seconds that the device has to wait between two polls.
  public var intervalSeconds: Int
  public var polledAt: Int64
  public var expiresAt: Int64

  public enum Decision: Equatable, Sendable {
    case pending
    case denied
    /// By the user that the device becomes.
    case allowed(String)
  }

  public init(
    hash: SecretHash, userHash: SecretHash, device: String, address: String, intervalSeconds: Int,
    polledAt: Int64, expiresAt: Int64
  ) {
    self.hash = hash
    self.userHash = userHash
    self.device = device
    self.address = address
    self.intervalSeconds = intervalSeconds
    self.polledAt = polledAt
    self.expiresAt = expiresAt
  }
}

/// A sign-in that a provider has been asked for, until the browser comes back. Times are in
/// milliseconds since 1970.
public struct SignInAttempt: Equatable, Sendable {
  /// The hash of `state` (RFC 6749 §10.12).
  public var hash: SecretHash
  /// The hash of the secret that only the browser has.
  public var browserHash: SecretHash
  public var method: String
  /// The verifier of PKCE (RFC 7636 §4.1).
  public var verifier: String
  /// What the ID token has to repeat (OpenID Connect Core §3.1.2.1).
  public var nonce: String
  /// The path of the relay to return to.
  public var returnPath: String
  public var expiresAt: Int64

  public init(
    hash: SecretHash, browserHash: SecretHash, method: String, verifier: String, nonce: String,
    returnPath: String, expiresAt: Int64
  ) {
    self.hash = hash
    self.browserHash = browserHash
    self.method = method
    self.verifier = verifier
    self.nonce = nonce
    self.returnPath = returnPath
    self.expiresAt = expiresAt
  }
}

/// What a provider is asked with, from time to time, whether a person may still sign in. Times are in
/// milliseconds since 1970.
public struct ProviderToken: Equatable, Sendable {
  public var user: String
  /// What the relay was registered as when the provider gave the token, which says nothing to another client.
  public var clientID: String
  /// A secret that cannot be a hash.
  public var token: String
  /// When the provider is to be asked again.
  public var askAt: Int64
  /// When the provider first gave no answer, if it has given none since.
  public var failingSince: Int64?

  public init(
    user: String, clientID: String, token: String, askAt: Int64, failingSince: Int64? = nil
  ) {
    self.user = user
    self.clientID = clientID
    self.token = token
    self.askAt = askAt
    self.failingSince = failingSince
  }
}
