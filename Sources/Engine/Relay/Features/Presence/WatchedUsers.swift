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
    var order = Deque<Slot<WatchedUser>>()
    var users: Set<Slot<WatchedUser>> = []
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
    guard watching[session, default: Watching()].users.insert(slot).inserted else { return }
    watching[session]?.order.append(slot)
    if table[slot].watchers.count == table[slot].watchers.capacity {
      removeFormerWatchers(of: slot)
    }
    table[slot].watchers.append(session)
    guard let count = watching[session]?.order.count, count > Self.limitPerSession,
      let oldest = watching[session]?.order.popFirst()
    else { return }
    watching[session]?.users.remove(oldest)
    releaseIfUnwatched(oldest)
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
