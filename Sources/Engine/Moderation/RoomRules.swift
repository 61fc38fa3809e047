public import Wire

/// Who may do what in a room. Each decision depends on the settings and on at most two users' standings, so
/// it costs the same in a room of ten members and of ten thousand. Reads no clock: each decision is about a place in
/// the log and the time of the entry there. Direct messages and the relay's own rooms have no rules.
public struct RoomRules: Equatable, Sendable {
  public private(set) var settings = RoomSettings()
  public private(set) var counts = Counts()

  /// A room that no entry has settings or members for.
  public init() {}

  public init(_ settings: RoomSettings, _ counts: Counts) {
    self.settings = settings
    self.counts = counts
  }

  /// How many users the room's `member` entries have named, by what they have made of them.
  public struct Counts: Equatable, Sendable {
    /// A room without one takes no settings, but from an operator of the relay.
    public var owners = 0
    /// With the owners. In an open room others may take part, too.
    public var members = 0
    /// Banned, or muted and not a member; also those whose term is over.
    public var barred = 0

    public init(owners: Int = 0, members: Int = 0, barred: Int = 0) {
      self.owners = owners
      self.members = members
      self.barred = barred
    }

    /// Counts all users that entries have named.
    public init(_ standings: some Sequence<Standing>) {
      self.init()
      for standing in standings { count(standing, 1) }
    }

    mutating func count(_ standing: Standing, _ number: Int) {
      if standing.base == .owner { owners += number }
      if standing.base.rank > 0 {
        members += number
      } else if standing.ban != nil || standing.mute != nil {
        barred += number
      }
    }
  }

  /// The user whose request is decided.
  public struct Actor: Sendable {
    public var user: String
    public var standing: Standing
    /// Operators of the relay are owners everywhere.
    public var isOperator: Bool

    public init(_ user: String, _ standing: Standing, isOperator: Bool = false) {
      self.user = user
      self.standing = standing
      self.isOperator = isOperator
    }

    func role(_ now: Int64) -> Role { isOperator ? .owner : standing.role(now) }
  }

  /// Why a request is refused.
  public enum Refusal: Error, Equatable, Sendable {
    /// The room does not exist, for this user.
    case noSuchRoom
    /// - until: when the restriction ends that is the reason, if it does.
    case forbidden(until: Int64? = nil, reason: Reason)
    /// - milliseconds: until the user may send the next text.
    case tooEarly(milliseconds: Int64)
  }

  public enum Reason: Equatable, Sendable {
    case banned
    case muted
    /// Only moderators post here.
    case mayNotPost
    case notAnOwner
    case notAModerator
    /// The other user has the same role, or a higher one.
    case notBelow
    /// The room would have no owner.
    case lastOwner
    /// A user may leave, and come back to an open room, and not choose another role.
    case ownRole
    /// The room has as many members, or as many banned users, as it may have.
    case full
  }

  // MARK: - Reading

  /// Returns the first `seq` that a user may read; `nil` = none: the room does not exist for them, or they are
  /// banned.
  public func firstReadable(by actor: Actor, now: Int64) -> Int64? {
    if actor.isOperator { return 1 }
    let role = actor.standing.role(now)
    if role == .banned || (settings.access == .private && role.rank == 0) { return nil }
    return settings.history == .joined ? max(1, actor.standing.since) : 1
  }

  /// Checks whether a user may join or read the room.
  public func checkReading(by actor: Actor, now: Int64) throws(Refusal) {
    guard firstReadable(by: actor, now: now) == nil else { return }
    // That a private room exists is not told even to users that it bans.
    throw settings.access == .private
      ? .noSuchRoom : .forbidden(until: actor.standing.until(now), reason: .banned)
  }

  // MARK: - Sending

  /// What an entry does to the room, for its rights.
  public enum Deed: Sendable {
    /// A text.
    case text
    /// Other content of its own: data, a file.
    case content
    /// An edit of the user's own entry, or a reaction.
    case change
    case deletion
  }

  /// Checks whether a user may send an entry.
  /// - Parameter lastTextAt: when the user last sent a text to the room; `nil` = never, or it was long ago.
  public func checkSending(
    _ deed: Deed, by actor: Actor, lastTextAt: Int64?, now: Int64
  ) throws(Refusal) {
    try checkReading(by: actor, now: now)
    let role = actor.role(now)
    if role.rank >= Role.moderator.rank { return }
    if case .deletion = deed { return }
    if actor.standing.isMuted(now) {
      throw .forbidden(until: actor.standing.until(now), reason: .muted)
    }
    if case .change = deed { return }
    if settings.posting == .moderators { throw .forbidden(reason: .mayNotPost) }
    if case .text = deed, let lastTextAt {
      let wait = lastTextAt + settings.slowSeconds * 1000 - now
      if wait > 0 { throw .tooEarly(milliseconds: wait) }
    }
  }

  /// Checks whether a user may delete another user's entry.
  public func checkDeleting(
    entryOf author: Standing, by actor: Actor, now: Int64
  ) throws(Refusal) {
    try checkReading(by: actor, now: now)
    let role = actor.role(now)
    guard role.rank >= Role.moderator.rank else { throw .forbidden(reason: .notAModerator) }
    if role == .owner { return }
    guard author.role(now).rank < role.rank else { throw .forbidden(reason: .notBelow) }
  }

  // MARK: - Settings and members

  /// Makes the sender of the first `settings` of a room the owner.
  /// - Parameter seq: of that entry.
  public static func created(
    with change: RoomSettings.Change, at seq: Int64, _ now: Int64
  ) -> (rules: RoomRules, owner: Standing) {
    var rules = RoomRules()
    rules.settings.apply(change)
    let owner = Standing.unnamed.changed(
      to: .owner, Standing.Term(), by: nil, at: seq, now)
    rules.counts.count(owner, 1)
    return (rules, owner)
  }

  /// Applies a `settings` entry, if its sender may send it.
  public mutating func change(
    _ change: RoomSettings.Change, by actor: Actor, now: Int64
  ) throws(Refusal) {
    try checkReading(by: actor, now: now)
    let role = actor.role(now)
    guard role.rank >= Role.moderator.rank else { throw .forbidden(reason: .notAModerator) }
    guard role == .owner || (change.access == nil && change.history == nil) else {
      throw .forbidden(reason: .notAnOwner)
    }
    settings.apply(change)
  }

  /// Stops counting a user, who is `Standing.unnamed` then. A room without an owner belongs to the operators of
  /// the relay.
  public mutating func forget(_ standing: Standing) { counts.count(standing, -1) }

  /// Applies a `member` entry, if its sender may send it.
  /// - Parameters:
  ///   - target: the standing of the user that it names: that of `actor`, if they name themselves.
  ///   - takesPart: whether that user belongs to the room, by an entry or by joining it.
  ///   - limit: how many members the room may have, and how many banned users; 0 = no limit.
  ///   - seq: of the entry.
  /// - Returns: the standing of that user after it.
  public mutating func setRole(
    of user: String, _ target: Standing, to role: Role, _ term: Standing.Term = Standing.Term(),
    by actor: Actor, takesPart: Bool = true, limit: Int = 0, at seq: Int64, now: Int64
  ) throws(Refusal) -> Standing {
    try checkReading(by: actor, now: now)
    let byThemselves = user == actor.user
    let own = actor.role(now)
    let before = target.role(now)
    if byThemselves, own != .owner {
      // In a private room whoever gets here is a member already.
      guard role == .none || (role == .member && own.rank <= Role.member.rank) else {
        throw .forbidden(until: actor.standing.until(now), reason: .ownRole)
      }
    } else {
      guard own.rank >= Role.moderator.rank else { throw .forbidden(reason: .notAModerator) }
      guard own == .owner || (before.rank < own.rank && role.rank < own.rank) else {
        throw .forbidden(reason: .notBelow)
      }
    }
    let after = target.changed(
      to: role, term, by: byThemselves ? nil : actor.user, at: seq, now)
    // Such an entry would only be a text, for users who may send none.
    let changes = after.role(now) != before || (role == .none && takesPart)
    guard !byThemselves || own == .owner || changes else {
      throw .forbidden(until: actor.standing.until(now), reason: .ownRole)
    }
    var counts = counts
    counts.count(target, -1)
    counts.count(after, 1)
    guard counts.owners > 0 || self.counts.owners == 0 else { throw .forbidden(reason: .lastOwner) }
    let isFull =
      limit > 0
      && (counts.members > max(limit, self.counts.members)
        || counts.barred > max(limit, self.counts.barred))
    guard !isFull else { throw .forbidden(reason: .full) }
    self.counts = counts
    return after
  }
}
