import DequeModule

/// The commits whose entries are in the tails of rooms, oldest first, and their size.
struct RecentCommits {
  private var commits = Deque<Commit>()
  private(set) var bytes = 0
  /// The size that all tails of a loop may have together.
  let limitBytes: Int

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  mutating func append(_ commit: Commit) {
    commits.append(commit)
    bytes += commit.frames.bytes.count
  }

  mutating func removeAll() {
    commits = []
    bytes = 0
  }

  /// Removes the oldest commit if all together exceed the limit.
  mutating func popExcess() -> Commit? {
    guard bytes > limitBytes, let oldest = commits.popFirst() else { return nil }
    bytes -= oldest.frames.bytes.count
    return oldest
  }
}
