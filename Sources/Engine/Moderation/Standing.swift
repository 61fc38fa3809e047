public import Wire

/// What a user is in a room, as the `member` entries up to some entry of its log have it. Times are in
/// milliseconds since 1970.
public struct Standing: Equatable, Sendable {
  /// A restriction, which ends at a time or lasts for good.
  public struct Term: Equatable, Sendable {
    /// `nil` = for good.
    public var until: Int64?

    public init(until: Int64? = nil) { self.until = until }

    func isOver(_ now: Int64) -> Bool { until.map { $0 <= now } ?? false }
  }

  /// Without restrictions: `owner`, `moderator`, `member` or `none`.
  public private(set) var base: Role
  public private(set) var ban: Term?
  /// It outlasts leaving, which would otherwise lift it.
  public private(set) var mute: Term?
  /// The `seq` of the `member` entry that let the user in; 0 = none did.
  public private(set) var since: Int64
  /// Who sent that entry, until the user first takes part in the room.
  public private(set) var inviter: String?

  /// A user that no entry names.
  public static let unnamed = Standing(base: .none, since: 0)

  /// Creates a standing from what a store keeps of it.
  public init(
    base: Role, ban: Term? = nil, mute: Term? = nil, since: Int64, inviter: String? = nil
  ) {
    self.base = base
    self.ban = ban
    self.mute = mute
    self.since = since
    self.inviter = inviter
  }

  /// The role at a time: a restriction ends without an entry.
  public func role(_ now: Int64) -> Role {
    if let ban, !ban.isOver(now) { return .banned }
    if base == .member, let mute, !mute.isOver(now) { return .muted }
    return base
  }

  /// When the restriction ends that the user is under; `nil` = it does not, or there is none.
  public func until(_ now: Int64) -> Int64? {
    switch role(now) {
    case .banned: ban?.until
    case .muted, .none: isMuted(now) ? mute?.until : nil
    default: nil
    }
  }

  /// Whether a mute holds: in an open room also for one who has left since.
  public func isMuted(_ now: Int64) -> Bool {
    guard base == .member || base == .none, let mute else { return false }
    return !mute.isOver(now)
  }

  /// Whether the user is let in. In an open room everyone else may read, too.
  public func isMember(_ now: Int64) -> Bool { role(now).rank > 0 }

  /// The standing from the user's first join or send on.
  public var accepted: Standing {
    var accepted = self
    accepted.inviter = nil
    return accepted
  }

  /// Returns the standing after an entry.
  /// - Parameter other: who sent it; `nil` = the user.
  func changed(to role: Role, _ term: Term, by other: String?, at seq: Int64, _ now: Int64)
    -> Standing
  {
    func entered(_ base: Role, mute: Term? = nil) -> Standing {
      isMember(now)
        ? Standing(base: base, mute: mute, since: since, inviter: inviter)
        : Standing(base: base, mute: mute, since: seq, inviter: other)
    }
    return switch role {
    case .owner, .moderator: entered(role)
    case .member: entered(.member, mute: other == nil ? mute : nil)
    case .muted: entered(.member, mute: term)
    case .none: Standing(base: .none, mute: mute, since: 0)
    case .banned: Standing(base: .none, ban: term, mute: mute, since: 0)
    }
  }
}
