internal import DequeModule
internal import Relay

/// The content of an avatar cache: pictures, failures and pending requests. Pure state, without
/// I/O.
struct AvatarCacheState: Sendable {
  enum Outcome {
    case known(Avatar?)
    /// A fetch is already in progress.
    case waits
    /// The caller has to start a fetch.
    case fetch
  }

  private struct Entry {
    var url: String
    var avatar: Avatar?
    /// Milliseconds since 1970.
    var expires: Int64 = 0
    var isFetched = false
    var waiters: [AvatarCache.Completion] = []
    /// The tick of its last use.
    var tick: UInt64 = 0
  }

  private let options: AvatarCache.Options
  private var entries: [String: Entry] = [:]
  /// Uses in order; only the last one of each entry counts.
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

  /// Stores the result of a fetch. A failed refresh keeps the old picture for now.
  /// - Returns: the picture to deliver, and the pending requests for it.
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

  /// Prevents further fetches.
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

  /// Evicts the least recently used entries until the rest is within the limits. Entries being
  /// fetched stay, since requests are waiting for them.
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
