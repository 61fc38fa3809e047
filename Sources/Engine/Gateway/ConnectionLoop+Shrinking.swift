import Relay

/// Returns memory to the system after a peak of connections.
extension ConnectionLoop {
  /// A table with at most this many slots is not shrunk.
  static let tableAtLeast = 512

  /// Frees the memory of the unused ends of the tables.
  func shrink() {
    wantsToShrink = false
    let capacity = connections.capacity
    connections.shrink()
    guard connections.capacity < capacity || shard.isLoose else { return }
    shard.shrink()
    world.releaseMemory(keepingPlaces: connections.capacity)
    giveBackAt = now.monotonic + Self.giveBackAgainMilliseconds
  }

  /// Returns memory a second time: the log's thread frees its memory of the same peak later, after
  /// the grace period of presence, and does not return it to the system itself.
  func giveBackAgain() {
    guard giveBackAt > 0, now.monotonic >= giveBackAt else { return }
    giveBackAt = 0
    world.releaseMemory(keepingPlaces: connections.capacity)
  }

  private static let giveBackAgainMilliseconds: Int64 = 6000
}
