/// The operator's settings for accounts. A limit of 0 means no limit.
public struct AccountSettings: Sendable {
  /// Where browsers find the relay, without a slash at the end: `https://chat.example.org`.
  public var publicURL: String
  /// Whether every user may invite, not only operators.
  public var everyoneInvites = false
  /// A session ends after this number of days without use.
  public var sessionDays = 90
  /// Attempts to sign in per minute and address.
  public var signInsPerMinute = 30
  /// The names of the bots, which no account gets.
  public var bots: Set<String> = []
  /// Where people may sign in, besides by invitations.
  public var providers: [any SignInProvider] = []

  public init(publicURL: String) { self.publicURL = publicURL }

  /// How long an invitation lasts without `ttl_s`, and at most, in seconds.
  static let invitationSeconds: Int64 = 604_800
  static let longestInvitationSeconds: Int64 = 31_536_000
  /// How often an invitation may be opened at most.
  static let usesLimit: Int64 = 1000
  /// How many rooms it may name.
  package static let roomsLimit = 32
  /// How many open invitations a user may have.
  static let invitationsLimit = 100
  /// How many of a user that cannot be opened any more are kept, to be shown.
  static let keptInvitations = 100
  /// How many devices an account may have; the one that was used longest ago makes room.
  static let devicesLimit = 50
  /// The length of a device's and of a person's name, in bytes.
  static let deviceBytes = 100
  static let nameBytes = 200
  /// The length of a picture's address, in bytes.
  static let pictureBytes = 512
  /// How long a device's code lasts, and how often it may ask, in seconds (RFC 8628 §3.2).
  static let deviceCodeSeconds: Int64 = 600
  static let deviceIntervalSeconds = 5
  /// How many devices may wait at once.
  static let deviceCodesLimit = 10_000
  /// Wrong codes of devices per minute: of an account, and of an address.
  static let wrongCodesPerMinute = 5
  /// Changes of the name of an account per minute.
  static let renamesPerMinute = 10
  /// How long a browser may take at a provider, in seconds, and how many may be there at once; the one that has been
  /// there longest makes room.
  static let attemptSeconds: Int64 = 600
  static let attemptsLimit = 10_000
  /// How often a provider is asked whether a person may still sign in: thrice a day, so that one question that is
  /// lost does not make it longer than a day.
  static let confirmMilliseconds: Int64 = 28_800_000
  /// How long it is until the next question after one without an answer, and how long sessions last without one.
  static let confirmAgainMilliseconds: Int64 = 3_600_000
  static let unconfirmedMilliseconds: Int64 = 259_200_000
  /// The use of a session is recorded at most this often.
  public static let useMilliseconds: Int64 = 60_000
  /// How long changes and expired invitations are kept.
  static let keepMilliseconds: Int64 = 2_592_000_000
}

/// What accounts need from the rest of the relay. Called on the accounts' thread.
public struct AccountEnvironment: Sendable {
  /// SHA-256.
  public var hash: @Sendable ([UInt8]) -> SecretHash
  /// Returns random bytes that cannot be guessed.
  public var random: @Sendable (Int) -> [UInt8]
  /// Returns a QR code as rows of 0 and 1, without a margin; empty if the text is too long.
  public var qrCode: @Sendable (String) -> [String]
  /// Whether the directory has a person of this name, or the configuration mentions it as an
  /// operator's or a banned user's.
  public var isReserved: @Sendable (String) -> Bool
  /// Whether the configuration makes an operator of a user.
  public var isOperator: @Sendable (String) -> Bool
  /// Whether a user is banned from the relay, at a time in milliseconds since 1970.
  public var isBanned: @Sendable (_ user: String, _ now: Int64) -> Bool
  /// Returns the user name that the directory has for a person of a provider, if it is a list of that
  /// provider's people and the configuration does not mention the name.
  public var directoryName: @Sendable (ProviderBinding) -> String?
  /// Whether a user of this name is known from before there were accounts.
  public var isKnown: @Sendable (String) throws(AccountError) -> Bool
  /// Whether a user of this name has done something, and not only been written to, as people of the directory
  /// are before they have an account.
  public var hasTakenPart: @Sendable (String) throws(AccountError) -> Bool

  public init(
    hash: @escaping @Sendable ([UInt8]) -> SecretHash,
    random: @escaping @Sendable (Int) -> [UInt8],
    qrCode: @escaping @Sendable (String) -> [String],
    isReserved: @escaping @Sendable (String) -> Bool,
    isOperator: @escaping @Sendable (String) -> Bool = { _ in false },
    isBanned: @escaping @Sendable (_ user: String, _ now: Int64) -> Bool = { _, _ in false },
    directoryName: @escaping @Sendable (ProviderBinding) -> String? = { _ in nil },
    isKnown: @escaping @Sendable (String) throws(AccountError) -> Bool,
    hasTakenPart: @escaping @Sendable (String) throws(AccountError) -> Bool
  ) {
    self.hash = hash
    self.random = random
    self.qrCode = qrCode
    self.isReserved = isReserved
    self.isOperator = isOperator
    self.isBanned = isBanned
    self.directoryName = directoryName
    self.isKnown = isKnown
    self.hasTakenPart = hasTakenPart
  }
}
