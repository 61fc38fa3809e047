/// An operator has banned a user from the relay, or lets them in again.
public struct BanChange: Equatable, Sendable {
  public var user: String
  public var isBanned: Bool
  /// When it ends, in milliseconds since 1970; `nil` = for good.
  public var until: Int64?

  public init(user: String, isBanned: Bool, until: Int64? = nil) {
    self.user = user
    self.isBanned = isBanned
    self.until = until
  }
}

/// What the log tells of bans.
public struct BanNews: Sendable {
  /// Whether there are no other bans than these.
  public var isWhole = false
  public var changes: [BanChange] = []

  public init(isWhole: Bool = false, changes: [BanChange] = []) {
    self.isWhole = isWhole
    self.changes = changes
  }
}
