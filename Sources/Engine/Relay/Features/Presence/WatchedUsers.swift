import DequeModule
import Wire

/// The users whose presence sessions of one loop receive, and these sessions.
///
/// A session that no longer watches is removed from a user's list when the list is used next or
/// would grow, so that the end of a session costs nothing per watched user.
struct WatchedUsers: ~Copyable {
  /// The number of users whose presence a connection receives: those that it requested last.
  static let limitPerSession = 2000

  /// The users that one session watches, the latest last.
  private struct Watching {
    private var order = Deque<Slot<WatchedUser>>()
    private(set) var users: Set<Slot<WatchedUser>> = []

    /// - Returns: whether the user is new, and the oldest one, which it has removed beyond the limit.
    mutating func add(_ user: Slot<WatchedUser>) -> (isNew: Bool, oldest: Slot<WatchedUser>?) {
      guard users.insert(user).inserted else { return (false, nil) }
      order.append(user)
      guard order.count > limitPerSession, let oldest = order.popFirst() else { return (true, nil) }
      users.remove(oldest)
      return (true, oldest)
    }
  }

  private var table = Slab(vacant: WatchedUser(name: "", presence: .offline))
  private var slots: [String: Slot<WatchedUser>] = [:]
  private var watching: [SessionID: Watching] = [:]

  subscript(slot: Slot<WatchedUser>) -> WatchedUser {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(table.address(of: slot)) }
    @inline(__always) unsafeMutableAddress { unsafe table.address(of: slot) }
  }

  var names: some Collection<String> { slots.keys }

  func find(_ user: String) -> Slot<WatchedUser>? { slots[user] }

  func isWatching(_ user: String, _ session: SessionID) -> Bool {
    guard let slot = slots[user] else { return false }
    return watching[session]?.users.contains(slot) == true
  }

  private mutating func findOrInsert(_ user: String, _ presence: Presence) -> Slot<WatchedUser> {
    if let slot = slots[user] { return slot }
    let slot = table.insert(WatchedUser(name: user, presence: presence))
    slots[user] = slot
    return slot
  }

  /// Makes a session receive a user's presence; beyond the limit it ceases to receive the oldest's.
  /// - Parameters:
  ///   - presence: the user's.
  ///   - lastSeen: when the user was last online, if known.
  mutating func watch(
    _ user: String, _ presence: Presence, lastSeen: Int64?, _ session: SessionID
  ) {
    let slot = findOrInsert(user, presence)
    if table[slot].at == nil { table[slot].at = lastSeen }
    let (isNew, oldest) = watching[session, default: Watching()].add(slot)
    guard isNew else { return }
    if table[slot].watchers.count == table[slot].watchers.capacity {
      removeFormerWatchers(of: slot)
    }
    table[slot].watchers.append(session)
    if let oldest { releaseIfUnwatched(oldest) }
  }

  /// Forgets a session that has ended.
  mutating func end(_ session: SessionID) { watching[session] = nil }

  /// Removes the sessions that no longer watch, and a user without any.
  /// - Returns: whether a session watches the user.
  @discardableResult
  mutating func releaseIfUnwatched(_ slot: Slot<WatchedUser>) -> Bool {
    removeFormerWatchers(of: slot)
    guard table[slot].watchers.isEmpty else { return true }
    slots[table[slot].name] = nil
    table.remove(slot)
    return false
  }

  private mutating func removeFormerWatchers(of slot: Slot<WatchedUser>) {
    let watching = watching
    table[slot].watchers.removeAll { watching[$0]?.users.contains(slot) != true }
  }

  var isLoose: Bool { slots.isLoose || watching.isLoose }

  mutating func shrink() {
    table.shrink()
    slots.shrinkIfLoose()
    watching.shrinkIfLoose()
  }
}
