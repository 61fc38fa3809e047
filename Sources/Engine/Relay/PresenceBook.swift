import Wire

/// Who is there, over all loops: what each loop's sessions of a user come to, taken together.
struct PresenceBook {
  private struct Loops {
    var online: Int32 = 0
    var away: Int32 = 0

    var presence: Presence { online > 0 ? .online : away > 0 ? .away : .offline }
  }
  /// Those who are not offline.
  private var users: [String: Loops] = [:]

  subscript(user: String) -> Presence { users[user]?.presence ?? .offline }

  /// Takes note of what a loop's sessions of a user come to.
  /// - Returns: how it was with the user before.
  mutating func shift(_ user: String, from: Presence, to: Presence) -> Presence {
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
    users[user] = loops.presence == .offline ? nil : loops
    return before
  }
}

/// When a user came or went.
struct Seen {
  /// Milliseconds since 1970.
  var at: Int64
  var isHere: Bool
}

extension Sequencer {
  private static let seenToRetryLimit = 100_000

  /// What of the batch the store is to know. Whether somebody is away it need not.
  mutating func noteSeen(_ batch: Batch) {
    for (user, before) in batch.presences
    where seenToRetry.count < Self.seenToRetryLimit || seenToRetry[user] != nil {
      let presence = presences[user]
      guard presence != before, presence == .offline || before == .offline else { continue }
      seenToRetry[user] = Seen(at: batch.now, isHere: presence != .offline)
    }
  }

  /// What watchers are told: nothing of who came and went within the batch.
  func presenceChanges(_ batch: Batch) -> [Commit.PresenceChange] {
    if batch.presences.isEmpty { return [] }
    return batch.presences.filter { presences[$0.key] != $0.value }.keys.sorted().map {
      Commit.PresenceChange(user: $0, presence: presences[$0], at: batch.now)
    }
  }
}
