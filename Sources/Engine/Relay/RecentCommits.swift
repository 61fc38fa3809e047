import DequeModule

/// The commits whose entries are in the tails of rooms, oldest first, and their size.
struct RecentCommits {
  struct Element {
    var commit: Commit
    /// The room of each of its spans.
    var rooms: [Handle<Room>]
  }

  private var elements = Deque<Element>()
  private(set) var bytes = 0
  /// The size that all tails of a loop may have together.
  let limitBytes: Int

  init(limitBytes: Int) { self.limitBytes = limitBytes }

  mutating func append(_ element: consuming Element) {
    bytes += element.commit.frames.bytes.count
    elements.append(element)
  }

  mutating func removeAll() {
    elements = []
    bytes = 0
  }

  /// Removes the oldest commit if all together exceed the limit.
  mutating func popExcess() -> Element? {
    guard bytes > limitBytes, let oldest = elements.popFirst() else { return nil }
    bytes -= oldest.commit.frames.bytes.count
    return oldest
  }
}
