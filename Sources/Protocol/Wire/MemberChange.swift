/// What a `member` entry makes of a user in a room.
public enum Role: String, CaseIterable, Sendable {
  case owner, moderator, member
  /// A member who may read, and not send.
  case muted
  /// Left, or was removed.
  case none
  case banned

  /// The higher one may act on the lower one.
  package var rank: Int {
    switch self {
    case .owner: 3
    case .moderator: 2
    case .member, .muted: 1
    case .none, .banned: 0
    }
  }

  /// Whether a user with this role belongs to the room.
  public var isMember: Bool { rank > 0 }
}

/// A `member` entry: the role of a user in a room from there on.
public struct MemberChange: Equatable, Sendable {
  public var user: String
  public var role: Role
  /// When the restriction ends, in milliseconds since 1970; `nil` = it does not, or the role is none.
  public var until: Int64?
  /// For people.
  public var reason: String?

  public init(user: String, role: Role, until: Int64? = nil, reason: String? = nil) {
    self.user = user
    self.role = role
    self.until = until
    self.reason = reason
  }

  /// In characters, as Unicode scalars.
  static let reasonLimit = 500

  /// Its JSON members without braces, as in the body of an entry.
  public var body: [UInt8] {
    var body: [UInt8] = []
    body.append(member: "\"user\":", user)
    body.append(member: ",\"role\":", role.rawValue)
    if let until { body.append(member: ",\"until\":", until) }
    if let reason { body.append(member: ",\"reason\":", reason) }
    return body
  }

  /// Reads the body of an entry; `nil` if this relay does not know the role.
  init?(_ reader: ObjectReader, _ json: Span<UInt8>) {
    guard let user = reader.optionalString(.user, json),
      let role = Role(rawValue: reader.optionalString(.role, json) ?? "")
    else { return nil }
    self.init(
      user: user, role: role, until: json.jsonSequence(reader.fields[.until]),
      reason: reader.optionalString(.reason, json))
  }
}
