public import Wire

/// What is known of a room with members: its settings, the user's role in it, and its members.
///
/// ``Client/membership(of:)`` has it for each joined room, up to the last entry that was delivered.
public struct Membership: Equatable, Sendable {
  /// `nil` for a room without settings of its own. Title, topic and access are complete; the others
  /// are those that delivered entries have set.
  public private(set) var settings: RoomSettings.Change?
  /// What the user is in the room; `nil` if no entry has named the user.
  public private(set) var role: Role?
  /// The members, with the user, and their roles; `nil` in a room of more than 50 members. Whoever
  /// only joined an open room counts as `member`. A restriction that has ended by its time is seen
  /// at the next join.
  public private(set) var members: [String: Role]?
  /// The last `joined` has told what the entries up to this one have made of the room.
  private var knownTo: Int64 = 0

  /// A room of which nothing is known.
  public init() {}

  /// Begins with what the relay says of a room at a join.
  public mutating func begin(_ joined: ServerMessage.Joined) {
    var settings = joined.about.map { about in
      let isSameLog = joined.resume == .ok || joined.resume == .truncated
      return isSameLog ? self.settings ?? RoomSettings.Change() : RoomSettings.Change()
    }
    settings?.title = joined.about?.title
    settings?.topic = joined.about?.topic
    settings?.access = joined.about?.access
    self.settings = settings
    role = joined.about?.role
    members = joined.members.map { members in
      Dictionary(members.map { ($0.user, $0.role ?? .member) }) { $1 }
    }
    knownTo = joined.head
  }

  /// Takes the next entry of the room, of any kind.
  /// - Parameter user: The client's own user.
  public mutating func take(_ entry: Entry, user: String) {
    if let change = entry.settings { take(change, entry, user) }
    if let change = entry.member { take(change, at: entry.seq, user) }
  }

  private mutating func take(_ change: RoomSettings.Change, _ entry: Entry, _ user: String) {
    var settings = self.settings ?? RoomSettings.Change()
    settings.history = change.history ?? settings.history
    settings.posting = change.posting ?? settings.posting
    settings.slowSeconds = change.slowSeconds ?? settings.slowSeconds
    if entry.seq > knownTo {
      settings.title = change.title ?? settings.title
      settings.topic = change.topic ?? settings.topic
      settings.access = change.access ?? settings.access ?? .open
    }
    self.settings = settings
    // Whoever makes a room owns it.
    if entry.seq == 1 { take(MemberChange(user: entry.from, role: .owner), at: 1, user) }
  }

  private mutating func take(_ change: MemberChange, at seq: Int64, _ user: String) {
    guard seq > knownTo else { return }
    if change.user == user { role = change.role }
    members?[change.user] = change.role.isMember ? change.role : nil
  }
}
