package import Wire

/// The presence of users over all loops, combined from that of their sessions on each loop.
package struct PresenceBook {
  /// A change of the presence of a user at one place: on a loop, or in another process.
  package typealias Shift = (user: String, from: Presence, to: Presence)

  /// The numbers of places where a user has this presence.
  private struct Loops {
    var online: Int16 = 0
    var away: Int16 = 0

    var presence: Presence { online > 0 ? .online : away > 0 ? .away : .offline }
  }
  /// The users who are not offline.
  private var users: CompactDictionary<String, Loops> = [:]

  package init() {}

  package subscript(user: String) -> Presence { users[user]?.presence ?? .offline }

  /// Applies a change of the presence of a user at one place.
  /// - Returns: the user's presence before.
  package mutating func shift(_ user: String, from: Presence, to: Presence) -> Presence {
    var loops = users[user] ?? Loops()
    let before = loops.presence
    switch from {
    case .online: loops.online -= 1
    case .away: loops.away -= 1
    case .offline: break
    }
    switch to {
    case .online: loops.online += 1
    case .away: loops.away += 1
    case .offline: break
    }
    assert(loops.online >= 0 && loops.away >= 0, "a presence ends where it began")
    users[user] = loops.presence == .offline ? nil : loops
    return before
  }
}

/// When users last came or went, if that is not stored yet.
struct UnstoredSeen {
  /// A time in milliseconds since 1970.
  private typealias Seen = (at: Int64, isOnline: Bool)

  /// Beyond it further users are not recorded.
  private static let limit = 100_000
  /// How many of them a batch stores.
  static let perBatch = 512

  private var users: [String: Seen] = [:]
  private var hasDepartures = false

  var isEmpty: Bool { users.isEmpty }
  /// Whether all of them are online: then others are not shown when they were last seen.
  var mayWait: Bool { !hasDepartures }
  /// What the next batch stores.
  var next: [(user: String, at: Int64, isOnline: Bool)] {
    users.prefix(Self.perBatch).map { (user: $0.key, at: $0.value.at, isOnline: $0.value.isOnline) }
  }

  /// Removes what a batch has stored.
  mutating func remove(_ stored: [String]) {
    for user in stored { users[user] = nil }
    if users.isEmpty { self = UnstoredSeen() }
  }

  mutating func record(_ user: String, at: Int64, isOnline: Bool) {
    guard users.count < Self.limit || users[user] != nil else { return }
    users[user] = (at, isOnline)
    if !isOnline { hasDepartures = true }
  }
}

extension Sequencer {
  mutating func shiftPresence(
    of user: String, from: Presence, to: Presence, _ batch: inout Batch
  ) {
    let before = presences.shift(user, from: from, to: to)
    if batch.presences[user] == nil { batch.presences[user] = before }
  }

  /// Records when users came or went, for the store; it does not record whether a user is away.
  mutating func recordSeen(_ batch: borrowing Batch) {
    for (user, before) in batch.presences {
      let presence = presences[user]
      guard presence != before, presence == .offline || before == .offline else { continue }
      unstoredSeen.record(user, at: batch.now, isOnline: presence != .offline)
    }
  }

  /// Returns the changes to publish, without users who came and went within the batch.
  func presenceChanges(_ batch: borrowing Batch) -> [Commit.PresenceChange] {
    if batch.presences.isEmpty { return [] }
    return batch.presences.filter { presences[$0.key] != $0.value }.keys.sorted().map {
      Commit.PresenceChange(user: $0, presence: presences[$0], at: batch.now)
    }
  }
}
