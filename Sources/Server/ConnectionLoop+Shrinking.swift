import EventLoop
import Relay

/// What a crowd leaves behind when it has left.
extension ConnectionLoop {
  /// A table with so many slots is not worth being made shorter.
  static let tableAtLeast = 512

  /// Gives the memory of the tables' unused ends back. To be called when nothing is under way: what
  /// else knows a connection by its place is empty then.
  func shrink() {
    guard toSettle.isEmpty, failed.isEmpty else { return }
    wantsToShrink = false
    let isShorter = connections.shrink(free: &freeConnections) { $0.phase != .free }
    guard isShorter || shard.isLoose else { return }
    shard.shrink()
    FreeMemory.giveBack()
  }
}
