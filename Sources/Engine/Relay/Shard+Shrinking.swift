/// What a crowd leaves behind when it has left.
extension Shard {
  /// Whether it has far more room for users than there are.
  public var isLoose: Bool { localUsers.isLoose || presences.isLoose || watchIndices.isLoose }

  /// Gives the memory of the tables' unused ends back. To be called when there is no work.
  public mutating func shrink() {
    precondition(!hasWork, "what is under way knows sessions by their places")
    sessions.shrink()
    subscriptions.shrink()
    watchedRooms.shrink()
    if watchIndices.isLoose { watchIndices = watchIndices.fitting }
    if localUsers.isLoose { localUsers = localUsers.fitting }
    if presences.isLoose { presences = presences.fitting }
  }
}

extension Dictionary {
  fileprivate var isLoose: Bool { capacity > 1024 && count < capacity / 4 }

  /// The same in as little memory as it takes.
  fileprivate var fitting: Self {
    var fitting: Self = [:]
    fitting.reserveCapacity(count)
    for (key, value) in self { fitting[key] = value }
    return fitting
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
