internal import Synchronization

/// The statistics of the writing thread, behind one lock per batch. Thread-safe.
package final class LogMeter: Sendable {
  private let state: Mutex<LogStatistics>

  /// - Parameter isShared: whether several relays share the log.
  package init(rooms: Int, isShared: Bool = false) {
    var statistics = LogStatistics()
    statistics.rooms = rooms
    if isShared { statistics.node = NodeStatistics() }
    state = Mutex(statistics)
  }

  package var statistics: LogStatistics { state.withLock { $0 } }

  /// - Parameters:
  ///   - nanoseconds: the duration of the whole batch.
  ///   - syncNanoseconds: how much of that the sync took; `nil` if nothing was stored.
  ///   - rooms: the number of rooms.
  package func record(
    _ outcome: Sequencer.Outcome, nanoseconds: Int64, syncNanoseconds: Int64?, rooms: Int
  ) {
    state.withLock { statistics in
      statistics.count(outcome)
      statistics.rooms = rooms
      guard let syncNanoseconds else { return }
      statistics.batchSeconds.add(Double(nanoseconds) / 1e9)
      statistics.syncSeconds.add(Double(syncNanoseconds) / 1e9)
    }
  }

  /// Changes the statistics of a node.
  package func record(_ change: (inout NodeStatistics) -> Void) {
    state.withLock { statistics in
      guard var node = statistics.node else { return }
      // Its histograms are not copied.
      statistics.node = nil
      change(&node)
      statistics.node = node
    }
  }
}
