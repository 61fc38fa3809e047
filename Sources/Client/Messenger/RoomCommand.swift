public import Client
public import Wire

/// A command that changes a room or what a user is in it. The screen and the line mode share it.
public enum RoomCommand: Equatable, Sendable {
  case create, title, topic
  case invite, kick, ban, unban, mute, unmute, op, deop, role

  /// What it asks the relay for.
  public enum Request: Equatable, Sendable {
    case settings(RoomSettings.Change)
    case member(MemberChange)

    public func send(to room: String, id: String) -> ClientMessage.Send {
      switch self {
      case .settings(let change): .init(room: room, id: id, settings: change)
      case .member(let change): .init(room: room, id: id, member: change)
      }
    }
  }

  /// Why a command cannot be carried out: a sentence.
  public struct Problem: Error, Equatable, Sendable { public var text: String }

  static let muteMilliseconds: Int64 = 3_600_000

  /// Whether a user with this role may use it at all.
  func isAllowed(for role: Role?) -> Bool {
    switch self {
    case .create: true
    case .op, .deop, .role: role == .owner
    default: (role?.rank ?? 0) >= Role.moderator.rank
    }
  }

  /// Reads the argument, and checks it against what is known of the room.
  /// - Parameter now: Milliseconds since 1970.
  public func request(
    _ argument: String, in room: Membership, at now: Int64
  ) throws(Problem) -> Request {
    switch self {
    case .create, .title, .topic: return .settings(try settings(argument))
    default: break
    }
    var rest = argument[...]
    let user = try Self.user(&rest, for: "\(self)")
    var change = MemberChange(user: user, role: try newRole(&rest))
    try check(change, room)
    if self == .ban || self == .mute {
      var words = rest
      if let milliseconds = Self.milliseconds(Self.word(&words)) {
        change.until = now + milliseconds
        rest = words
      } else if self == .mute {
        change.until = now + Self.muteMilliseconds
      }
    }
    if !rest.isEmpty { change.reason = String(rest) }
    return .member(change)
  }

  private func settings(_ argument: String) throws(Problem) -> RoomSettings.Change {
    var change = RoomSettings.Change()
    if self == .topic {
      change.topic = argument == "-delete" ? "" : argument
      return change
    }
    guard !argument.isEmpty else { throw Problem(text: "A title is missing: write /\(self) Tea.") }
    change.title = argument
    if self == .create { change.access = .private }
    return change
  }

  private func newRole(_ rest: inout Substring) throws(Problem) -> Role {
    switch self {
    case .kick, .unban: return .none
    case .ban: return .banned
    case .mute: return .muted
    case .op: return .moderator
    case .role:
      let role = Role(rawValue: Self.word(&rest).lowercased())
      guard let role, role.isMember, role != .muted else {
        throw Problem(text: "Write /role bo owner, /role bo moderator or /role bo member.")
      }
      return role
    default: return .member
    }
  }

  /// A role is given whatever the user was before: an invitation would make a member of a moderator.
  private func check(_ change: MemberChange, _ room: Membership) throws(Problem) {
    guard let members = room.members else { return }
    let (user, role) = (change.user, members[change.user])
    let isPrivate = room.settings?.access == .private
    switch (self, role) {
    case (.invite, let role?):
      throw Problem(text: role == .member ? "\(user) is a member." : "\(user) is \(role.noun).")
    case (.unban, _?): throw Problem(text: "\(user) is not banned.")
    case (.invite, nil), (.unban, nil), (.ban, nil): break
    case (_, nil) where isPrivate:
      throw Problem(text: "\(user) is no member: /invite \(user) lets them in.")
    case (.unmute, let role?) where role != .muted: throw Problem(text: "\(user) is not muted.")
    case (.op, let role?) where role.rank >= Role.moderator.rank:
      throw Problem(text: "\(user) is \(role.noun).")
    case (.deop, let role?) where role != .moderator:
      throw Problem(text: "\(user) is no moderator.")
    default: break
    }
  }

  /// Removes a user's name from the front of an argument.
  static func user(_ rest: inout Substring, for command: String) throws(Problem) -> String {
    let name = word(&rest)
    let user = (name.first == "@" ? name.dropFirst() : name).lowercased()
    guard UserName.isValid(user) else {
      throw Problem(
        text: name.isEmpty
          ? "A user's name is missing: write /\(command) bo."
          : "\(name) is no user's name: a name has only a-z 0-9 . _ -, as in /\(command) bo.")
    }
    return user
  }

  /// Removes the first word of a text, and the white space after it.
  static func word(_ text: inout Substring) -> Substring {
    let word = text.prefix { !$0.isWhitespace }
    text = text.dropFirst(word.count).drop(while: \.isWhitespace)
    return word
  }

  /// Returns a duration as people write it: `30` (minutes), `90s`, `30m`, `2h`, `7d`.
  private static func milliseconds(_ text: Substring) -> Int64? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard 1...5 ~= digits.count, let number = Int64(digits), number > 0 else { return nil }
    switch text.dropFirst(digits.count).lowercased() {
    case "s": return number * 1000
    case "", "m", "min": return number * 60_000
    case "h": return number * 3_600_000
    case "d": return number * 86_400_000
    default: return nil
    }
  }
}

extension Role {
  /// With its article: "an owner".
  public var noun: String {
    self == .owner ? "an owner" : self == .muted ? "muted" : "a \(rawValue)"
  }
}
