/// What a crowd leaves behind when it has left.
extension Shard {
  /// Gives the memory of the tables' unused ends back. To be called when there is no work.
  public mutating func shrink() {
    precondition(!hasWork, "what is under way knows sessions by their places")
    sessions.shrink(free: &freeSessions) { $0.isOpen }
    subscriptions.shrink(free: &freeSubscriptions) { $0.state != .free }
    var users: [String: Int32] = [:]
    users.reserveCapacity(sessionsByUser.count)
    for (user, session) in sessionsByUser { users[user] = session }
    sessionsByUser = users
  }
}

extension Array {
  /// Cuts a table of slots, which are used again, behind the last one that is in use, if that makes
  /// it half as long or less. The next to be used are those at its front.
  /// - Parameter free: the places that are not in use.
  /// - Returns: whether it was cut.
  @discardableResult
  package mutating func shrink(free: inout [Int32], where isUsed: (Element) -> Bool) -> Bool {
    let end = (lastIndex(where: isUsed) ?? -1) + 1
    guard end <= count / 2 else { return false }
    var kept: [Element] = []
    kept.reserveCapacity(end)
    kept += self[..<end]
    self = kept
    free = kept.indices.reversed().filter { !isUsed(kept[$0]) }.map { Int32($0) }
    return true
  }
}
