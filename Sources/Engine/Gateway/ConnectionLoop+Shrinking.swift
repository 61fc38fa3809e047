import Relay

/// What a crowd leaves behind when it has left.
extension ConnectionLoop {
  /// A table with so many slots is not worth being made shorter.
  static let tableAtLeast = 512

  /// Gives the memory of the tables' unused ends back. To be called when nothing is under way: what
  /// else knows a connection by its place is empty then.
  func shrink() {
    guard toReap.isEmpty, failed.isEmpty else { return }
    wantsToShrink = false
    let isShorter = connections.shrink(free: &freeConnections) { !$0.isFree }
    guard isShorter || shard.isLoose else { return }
    shard.shrink()
    world.giveBackMemory(keepingPlaces: connections.count)
    giveBackAt = now.monotonic + Self.giveBackAgainMilliseconds
  }

  /// Once more: what the log's thread kept of the same crowd is freed there a little later, after the
  /// grace of presence and its turn, and by nobody given back.
  func giveBackAgain() {
    guard giveBackAt > 0, now.monotonic >= giveBackAt else { return }
    giveBackAt = 0
    world.giveBackMemory(keepingPlaces: connections.count)
  }

  private static let giveBackAgainMilliseconds: Int64 = 6000
}
