/// An emoji on an entry, and the users who gave it.
public struct Reaction: Equatable, Sendable {
  public var emoji: String
  /// In the order in which they gave it; only the first ones if there are very many.
  public var users: [String]
  /// The number of further users.
  public var more: Int64

  public init(emoji: String, users: [String] = [], more: Int64 = 0) {
    self.emoji = emoji
    self.users = users
    self.more = more
  }

  /// The maximum number of emoji that are shown of one entry. If it has more, those whose UTF-8
  /// sorts first are shown.
  public static let emojiLimit = 64

  /// Divides the space for the users of one entry's reactions among its emoji, so that an entry
  /// stays small in a page of history, however many users react to it.
  public struct Budget: Sendable {
    /// The space for the users of all emoji in JSON. Each emoji has room for three of the longest
    /// names.
    public static let limitBytes = 16_384

    private var left = Budget.limitBytes
    private var emojiLeft: Int
    private var share = 0

    /// - Parameter emoji: the number of emoji.
    public init(emoji: Int) { emojiLeft = emoji }

    /// Begins the next emoji, in the order in which they are shown. Space that earlier ones did not
    /// need is divided among the rest.
    public mutating func begin() {
      share = left / max(1, emojiLeft)
      emojiLeft -= 1
    }

    /// Returns whether there is space to list the user.
    public mutating func take(_ user: String) -> Bool {
      let bytes = user.utf8.count + 3
      guard bytes <= share else { return false }
      share -= bytes
      left -= bytes
      return true
    }
  }

  /// Returns the reactions after these changes: the emoji in the order of the oldest current
  /// reaction of each, and the users of each likewise.
  static func listed(of changes: [Entry]) -> [Reaction] {
    var givers: [String: [(user: String, place: Int)]] = [:]
    // The last change of each user for each emoji counts; repeated ones keep the place of the
    // first.
    for (place, change) in changes.enumerated() where change.kind == .react {
      guard let (emoji, isOn) = change.reaction else { continue }
      let index = givers[emoji]?.firstIndex { $0.user == change.from }
      if isOn, index == nil {
        givers[emoji, default: []].append((change.from, place))
      } else if !isOn, let index {
        givers[emoji]?.remove(at: index)
        if givers[emoji]?.isEmpty == true { givers[emoji] = nil }
      }
    }
    var shown = givers.map { (emoji: $0.key, givers: $0.value) }
    if shown.count > emojiLimit {
      shown.sort { $0.emoji.utf8.lexicographicallyPrecedes($1.emoji.utf8) }
      shown.removeLast(shown.count - emojiLimit)
    }
    shown.sort { $0.givers[0].place < $1.givers[0].place }
    var budget = Budget(emoji: shown.count)
    return shown.map { emoji, givers in
      budget.begin()
      let users = givers.map(\.user).prefix { budget.take($0) }
      return Reaction(
        emoji: emoji, users: Array(users), more: Int64(givers.count - users.count))
    }
  }

  static func append(_ reactions: [Reaction], to body: inout [UInt8]) {
    guard !reactions.isEmpty else { return }
    body.append(",\"reactions\":{")
    for (place, reaction) in reactions.enumerated() {
      if place > 0 { body.append(",") }
      body.append(jsonString: reaction.emoji)
      body.append(":[")
      for (index, user) in reaction.users.enumerated() {
        if index > 0 { body.append(",") }
        body.append(jsonString: user)
      }
      body.append("]")
    }
    body.append("}")
    let long = reactions.filter { $0.more > 0 }
    guard !long.isEmpty else { return }
    body.append(",\"reactions_more\":{")
    for (place, reaction) in long.enumerated() {
      if place > 0 { body.append(",") }
      body.append(jsonString: reaction.emoji)
      body.append(member: ":", reaction.more)
    }
    body.append("}")
  }
}
