import OrderedCollections

/// The users with subscriptions to a room, over all loops, and the number of each user's
/// subscriptions: almost always one.
struct Subscribers {
  /// Ordered because that takes less memory, as in `CompactDictionary`.
  private var users: OrderedSet<String> = []
  /// The numbers that are not one.
  private var counts: [String: Int] = [:]

  /// The number of users.
  var count: Int { users.count }
  var isEmpty: Bool { users.isEmpty }

  mutating func add(_ user: String) {
    if !users.append(user).inserted { counts[user, default: 1] += 1 }
  }

  /// Removes one subscription of a user, if there is any.
  mutating func remove(_ user: String) {
    if let count = counts[user] {
      counts[user] = count > 2 ? count - 1 : nil
    } else if let place = users.firstIndex(of: user) {
      // The last user takes the place, so that the cost does not depend on their number.
      users.swapAt(place, users.count - 1)
      users.removeLast()
    }
  }
}
