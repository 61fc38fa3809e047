import Relay
package import Wire

/// What a node tells the others besides its batches, in the row of the feed.
package struct NodeNews: Sendable {
  package var spending: [Spending] = []
  /// The presence of users in the sessions of this node.
  package var presences: [(user: String, presence: Presence)] = []
  /// Whether `presences` are all of this node's, so that others forget what they know of it.
  package var hasAllPresences = false
  /// Whether the node has just started, and has to be told the presence of all users.
  package var asksForPresences = false

  package init() {}

  package var isEmpty: Bool {
    spending.isEmpty && presences.isEmpty && !hasAllPresences && !asksForPresences
  }
}

/// The presence of users by node. Each node tells the others of its own users' changes, with its
/// batches.
struct NodePresences {
  /// The presence in the sessions of this node.
  private var own = PresenceBook()
  /// The users of this node who are not offline.
  private var present: Set<String> = []
  /// Users whose presence has changed since the others were told.
  private var untold: Set<String> = []
  /// Whether the others have to be told everything.
  private var tellsAll = false
  /// Whether the others are asked to tell everything.
  private var asks = false
  /// The presence in the sessions of the other nodes.
  private var others: [Int64: [String: Presence]] = [:]

  /// Applies a change of the presence of a user on one loop of this node.
  mutating func shift(_ user: String, from: Presence, to: Presence) {
    let before = own.shift(user, from: from, to: to)
    guard own[user] != before else { return }
    untold.insert(user)
    if own[user] == .offline { present.remove(user) } else { present.insert(user) }
  }

  /// Announces all presences of this node in the next batch, and asks the other nodes for theirs.
  mutating func introduce() {
    tellsAll = true
    asks = true
  }

  /// Announces all presences of this node in the next batch: the others may have taken it for dead.
  mutating func tellAll() { tellsAll = true }

  /// Forgets all other nodes, and introduces this one again.
  /// - Returns: the users who were present there.
  mutating func startAgain() -> [PresenceBook.Shift] {
    introduce()
    return others.keys.sorted().flatMap { forget($0) }
  }

  /// Whether the others have to be told something.
  var hasNews: Bool { tellsAll || asks || !untold.isEmpty }

  /// What the others have to be told.
  var news: NodeNews {
    var news = NodeNews()
    let users = tellsAll ? present : untold
    news.presences = users.sorted().map { ($0, own[$0]) }
    news.hasAllPresences = tellsAll
    news.asksForPresences = asks
    return news
  }

  /// Records that a batch with this news was stored.
  mutating func recordTold(_ news: NodeNews) {
    if news.hasAllPresences { tellsAll = false }
    if news.asksForPresences { asks = false }
    untold = []
  }

  /// Applies the news of another node.
  /// - Returns: the changes of its users' presence.
  mutating func apply(_ news: NodeNews, of node: Int64) -> [PresenceBook.Shift] {
    if news.asksForPresences { tellsAll = true }
    guard news.hasAllPresences || !news.presences.isEmpty else { return [] }
    var users = others[node] ?? [:]
    var changes: [PresenceBook.Shift] = []
    if news.hasAllPresences {
      let named = Set(news.presences.map(\.user))
      for user in users.keys.sorted() where !named.contains(user) {
        changes.append((user, users[user] ?? .offline, .offline))
        users[user] = nil
      }
    }
    for (user, presence) in news.presences {
      let before = users[user] ?? .offline
      if before != presence { changes.append((user, before, presence)) }
      users[user] = presence == .offline ? nil : presence
    }
    others[node] = users.isEmpty ? nil : users
    return changes
  }

  /// Forgets a node that has ended.
  /// - Returns: the users who were present there.
  mutating func forget(_ node: Int64) -> [PresenceBook.Shift] {
    let users = others.removeValue(forKey: node) ?? [:]
    return users.sorted { $0.key < $1.key }.map { ($0.key, $0.value, .offline) }
  }
}
