internal import DequeModule

/// What an avatar cache holds: pictures, failures, and who waits. Values only.
struct AvatarCacheState: Sendable {
  enum Outcome {
    case known(Avatar?)
    /// A fetch is under way already.
    case waits
    /// Whoever asked has to see to it.
    case fetch
  }

  private struct Entry {
    var url: String
    var avatar: Avatar?
    /// Milliseconds since 1970.
    var expires: Int64 = 0
    var isFetched = false
    var waiters: [AvatarCache.Completion] = []
    /// Of its last use.
    var tick: UInt64 = 0
  }

  private let options: AvatarCache.Options
  private var entries: [String: Entry] = [:]
  /// Uses in their order; one that is not its entry's last is of no account.
  private var uses = Deque<(user: String, tick: UInt64)>()
  private var tick: UInt64 = 0
  private var waiterCount = 0
  private(set) var bytes = 0
  private(set) var isClosed = false

  init(_ options: AvatarCache.Options) { self.options = options }

  var count: Int { entries.count }

  mutating func ask(
    for user: String, _ url: String, now: Int64, _ completion: @escaping AvatarCache.Completion
  ) -> Outcome {
    var entry = entries[user] ?? Entry(url: url)
    if !entry.isFetched, entry.url == url, now < entry.expires {
      use(user, &entry)
      entries[user] = entry
      return .known(entry.avatar)
    }
    guard !isClosed, waiterCount < options.waiterLimit else { return .known(nil) }
    let isUnderWay = entry.isFetched
    if !isUnderWay, entry.url != url {
      bytes -= entry.avatar?.bytes.count ?? 0
      entry = Entry(url: url)
    }
    entry.isFetched = true
    entry.waiters.append(completion)
    waiterCount += 1
    use(user, &entry)
    entries[user] = entry
    return isUnderWay ? .waits : .fetch
  }

  /// Takes what a fetch has brought. A picture that cannot be fetched again stays for now.
  /// - Returns: what there is, and who waits for it.
  mutating func put(
    _ avatar: Avatar?, for user: String, _ url: String, now: Int64
  ) -> (Avatar?, [AvatarCache.Completion]) {
    guard var entry = entries[user], entry.url == url else { return (avatar, []) }
    let waiters = entry.waiters
    waiterCount -= waiters.count
    entry.waiters = []
    entry.isFetched = false
    if let avatar {
      bytes += avatar.bytes.count - (entry.avatar?.bytes.count ?? 0)
      entry.avatar = avatar
    }
    entry.expires =
      now + (avatar == nil ? options.failureLifetimeMilliseconds : options.lifetimeMilliseconds)
    entries[user] = entry
    shrink()
    return (entry.avatar, waiters)
  }

  /// From now on nothing is fetched.
  mutating func close() { isClosed = true }

  mutating func takeAllWaiters() -> [AvatarCache.Completion] {
    defer {
      entries = [:]
      bytes = 0
      waiterCount = 0
    }
    return entries.values.flatMap(\.waiters)
  }

  private mutating func use(_ user: String, _ entry: inout Entry) {
    tick += 1
    entry.tick = tick
    uses.append((user, tick))
    if uses.count > 2 * entries.count + 64 {
      let entries = entries
      let current = (user, tick)
      uses.removeAll { use in
        use != current && entries[use.user]?.tick != use.tick
      }
    }
  }

  /// Forgets what was not asked for longest, until the rest is within its limits. What is being
  /// fetched stays: somebody waits for it.
  private mutating func shrink() {
    var fetched: [(user: String, tick: UInt64)] = []
    while bytes > options.limitBytes || entries.count > options.peopleLimit,
      let oldest = uses.popFirst()
    {
      guard let entry = entries[oldest.user], entry.tick == oldest.tick else { continue }
      if entry.isFetched {
        fetched.append(oldest)
      } else {
        bytes -= entry.avatar?.bytes.count ?? 0
        entries[oldest.user] = nil
      }
    }
    uses.prepend(contentsOf: fetched)
  }
}
