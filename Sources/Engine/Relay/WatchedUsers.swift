import DequeModule
import Wire

/// The users whose presence sessions of one loop receive, and these sessions.
///
/// A session that no longer watches is removed from a user's list when the list is used next or
/// would grow, so that the end of a session costs nothing per watched user.
struct WatchedUsers: ~Copyable {
  /// The number of users whose presence a connection receives: those that it requested last.
  static let limitPerSession = 2000

  private var table = Slab(vacant: WatchedUser(name: "", presence: .offline))
  private var slots: [String: Slot<WatchedUser>] = [:]

  subscript(slot: Slot<WatchedUser>) -> WatchedUser {
    @inline(__always) unsafeAddress { unsafe UnsafePointer(table.address(of: slot)) }
    @inline(__always) unsafeMutableAddress { unsafe table.address(of: slot) }
  }

  var names: some Collection<String> { slots.keys }

  func find(_ user: String) -> Slot<WatchedUser>? { slots[user] }
  func contains(_ slot: Slot<WatchedUser>) -> Bool { table.contains(slot) }
  func contains(_ handle: Handle<WatchedUser>) -> Bool { table.contains(handle) }
  func handle(_ slot: Slot<WatchedUser>) -> Handle<WatchedUser> { table.handle(slot) }

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
    _ user: String, _ presence: Presence, lastSeen: Int64?, _ session: SessionID,
    _ sessions: inout Sessions
  ) {
    let slot = findOrInsert(user, presence)
    if table[slot].at == nil { table[slot].at = lastSeen }
    let extras = sessions.extras(of: session.slot)
    guard extras.watchedUserSet.insert(slot).inserted else { return }
    extras.watchedUsers.append(slot)
    if table[slot].watchers.count == table[slot].watchers.capacity {
      removeFormerWatchers(of: slot, sessions)
    }
    table[slot].watchers.append(session)
    guard extras.watchedUsers.count > Self.limitPerSession,
      let oldest = extras.watchedUsers.popFirst()
    else { return }
    extras.watchedUserSet.remove(oldest)
    releaseIfUnwatched(oldest, sessions)
  }

  /// Removes the sessions that no longer watch, and a user without any.
  mutating func releaseIfUnwatched(_ slot: Slot<WatchedUser>, _ sessions: borrowing Sessions) {
    removeFormerWatchers(of: slot, sessions)
    guard table[slot].watchers.isEmpty else { return }
    slots[table[slot].name] = nil
    table.remove(slot)
  }

  private mutating func removeFormerWatchers(
    of slot: Slot<WatchedUser>, _ sessions: borrowing Sessions
  ) {
    table[slot].watchers.removeAll { id in
      !sessions.contains(id) || sessions[id.slot].extras?.watchedUserSet.contains(slot) != true
    }
  }
}
