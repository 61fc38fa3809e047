import DequeModule

/// Work that waits for a thread, of which each user in turn gets the next: one who has handed over a lot waits for it, and the
/// others do not.
struct Turns<Work> {
  private var waiting: [String: Deque<Work>] = [:]
  /// The users who have work, the one whose turn it is first.
  private var users: Deque<String> = []

  var isEmpty: Bool { users.isEmpty }

  mutating func add(_ work: Work, of user: String) {
    if waiting[user] == nil { users.append(user) }
    waiting[user, default: []].append(work)
  }

  /// - Returns: `nil` if there is none.
  mutating func next() -> Work? {
    guard let user = users.popFirst() else { return nil }
    let work = waiting[user]?.popFirst()
    if waiting[user]?.isEmpty == false { users.append(user) } else { waiting[user] = nil }
    return work
  }

  /// Removes what `isRemoved` returns `true` for, and returns it.
  mutating func remove(where isRemoved: (Work) -> Bool) -> [Work] {
    var removed: [Work] = []
    for (user, work) in waiting {
      removed += work.filter(isRemoved)
      let rest = work.filter { !isRemoved($0) }
      waiting[user] = rest.isEmpty ? nil : Deque(rest)
    }
    users.removeAll { waiting[$0] == nil }
    return removed
  }
}
