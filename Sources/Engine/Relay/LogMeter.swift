internal import Synchronization

/// The statistics of the writing thread, behind one lock per batch. Thread-safe.
package final class LogMeter: Sendable {
  private let state: Mutex<LogStatistics>

  package init(rooms: Int, entries: Int? = nil) {
    var statistics = LogStatistics()
    statistics.rooms = rooms
    statistics.entriesAtStart = entries
    state = Mutex(statistics)
  }

  package var statistics: LogStatistics { state.withLock { $0 } }

  /// Records that a pass of retention has ended; see `LogStatistics.retainedAtMilliseconds`.
  package func recordPass(beganAt milliseconds: Int64) {
    state.withLock { $0.retainedAtMilliseconds = milliseconds }
  }

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
}
