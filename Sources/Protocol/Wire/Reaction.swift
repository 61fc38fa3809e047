/// An emoji that an entry has been given, and the users who give it.
public struct Reaction: Equatable, Sendable {
  public var emoji: String
  /// In the order in which they gave it; where there are very many, the first of them.
  public var users: [String]
  /// How many there are besides.
  public var more: Int64

  public init(emoji: String, users: [String] = [], more: Int64 = 0) {
    self.emoji = emoji
    self.users = users
    self.more = more
  }

  /// How many emoji of one entry are shown. Where it has more, it is those whose UTF-8 comes first.
  public static let emojiLimit = 64

  /// Divides what the users of one entry's reactions may take in JSON among its emoji, so that an
  /// entry stays small beside a page of history however many react to it.
  public struct Budget: Sendable {
    /// For the users of all emoji together. Each emoji has room for three of the longest names.
    public static let limitBytes = 16_384

    private var left = Budget.limitBytes
    private var emojiLeft: Int
    private var share = 0

    /// - Parameter emoji: how many there are.
    public init(emoji: Int) { emojiLeft = emoji }

    /// Goes on to the next emoji, in the order in which they are shown. What the earlier ones did not
    /// need is divided among the rest.
    public mutating func begin() {
      share = left / max(1, emojiLeft)
      emojiLeft -= 1
    }

    /// Whether the user is named.
    public mutating func take(_ user: String) -> Bool {
      let bytes = user.utf8.count + 3
      guard bytes <= share else { return false }
      share -= bytes
      left -= bytes
      return true
    }
  }

  /// The reactions that are left after these changes: each emoji in the order of the oldest that it
  /// has, the users of each in theirs.
  static func listed(of changes: [Entry]) -> [Reaction] {
    var givers: [String: [(user: String, place: Int)]] = [:]
    // The last word of each user on each emoji counts, and stands where the first of a run stood.
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
