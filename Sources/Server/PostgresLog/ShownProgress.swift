internal import Platform
internal import Relay
internal import Synchronization

/// How far the writer has come, for the reader. Thread-safe.
final class ShownProgress: Sendable {
  private struct State {
    var lineage: Lineage
    var position: Int64
    /// Whether the reader waits for a higher position.
    var isAwaited = false
  }

  private let state: Mutex<State>
  private let moved: EventDescriptor

  init(_ lineage: Lineage, position: Int64) throws(SystemError) {
    state = Mutex(State(lineage: lineage, position: position))
    moved = try EventDescriptor()
  }

  var lineage: Lineage { state.withLock { $0.lineage } }
  var position: Int64 { state.withLock { $0.position } }

  /// - Parameter position: up to here batches may be shown to clients.
  func record(_ lineage: Lineage, position: Int64) {
    let wakes = state.withLock { state in
      state.lineage = lineage
      state.position = position
      defer { state.isAwaited = false }
      return state.isAwaited
    }
    if wakes { moved.signal() }
  }

  /// Waits until batches up to a position may be shown. For one thread.
  /// - Returns: whether they may be.
  func wait(for position: Int64, milliseconds: Int) -> Bool {
    let end = Instant.now().nanoseconds + UInt64(milliseconds) * 1_000_000
    while true {
      let isShown = state.withLock { state in
        state.isAwaited = state.position < position
        return !state.isAwaited
      }
      let now = Instant.now().nanoseconds
      if isShown || now >= end { return isShown }
      _ = moved.wait(timeoutMilliseconds: Int32((end - now) / 1_000_000) + 1)
    }
  }
}
