/// The users with subscriptions to a room, over all loops.
struct Subscribers {
  /// The number of each user's subscriptions: almost always one.
  private var subscriptions: CompactDictionary<String, Int32> = [:]

  /// The number of users.
  var count: Int { subscriptions.count }
  var isEmpty: Bool { subscriptions.isEmpty }
  var users: [String] { Array(subscriptions.keys) }

  mutating func add(_ user: String) {
    subscriptions[user] = (subscriptions[user] ?? 0) + 1
  }

  /// Removes one subscription of a user, if there is any.
  mutating func remove(_ user: String) {
    guard let count = subscriptions[user] else { return }
    subscriptions[user] = count > 1 ? count - 1 : nil
  }
}
