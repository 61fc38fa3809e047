internal import Synchronization

/// The rules of retention, which any thread may replace.
package final class RetentionRules: Sendable {
  private let state: Mutex<(rules: Retention, version: Int)>

  package init(_ rules: Retention) { state = Mutex((rules, 0)) }

  /// Also how often they were replaced.
  package var current: (rules: Retention, version: Int) { state.withLock { $0 } }

  package func replace(by rules: Retention) {
    state.withLock { $0 = (rules, $0.version + 1) }
  }
}

/// Retention beside the writer of a log: finds what is no longer kept, and has the writer trim it.
package struct RetentionPass {
  /// The interval of passes: entries are gone some seconds later, and within a minute in any case.
  package static let intervalMilliseconds = 15_000

  private let rules: RetentionRules
  private var version: Int
  private var tracker: RetentionTracker
  private let meter: LogMeter
  private let report: @Sendable (String) -> Void
  private var outage: Outage
  private var doubtsClock = false

  /// - Parameters:
  ///   - store: what cannot be read if a pass fails.
  ///   - check: what the operator is to check then; `nil` = the disk.
  package init(
    _ rules: RetentionRules, store: String, check: String? = nil, meter: LogMeter,
    report: @escaping @Sendable (String) -> Void
  ) {
    let current = rules.current
    (self.rules, version) = (rules, current.version)
    tracker = RetentionTracker(current.rules)
    self.meter = meter
    self.report = report
    outage = Outage(
      "Retention", path: store, check: check, meanwhile: "Entries stay longer than their rule says",
      report: report)
  }

  package var hasNewRules: Bool { rules.current.version != version }

  /// Trims all rooms that have more than they keep.
  /// - Parameters:
  ///   - appended: grows with each entry of the log.
  ///   - wall: milliseconds since 1970.
  ///   - monotonic: milliseconds of the monotonic clock.
  ///   - trim: has rooms trimmed, possibly none; called between two steps. Returns whether that has been
  ///     done: if not, the pass ends.
  package mutating func run(
    _ source: inout some RetentionSource, appended: Int, wall: Int64, monotonic: Int64,
    trim: ([RoomTrim]) -> Bool
  ) {
    let current = rules.current
    if current.version != version {
      version = current.version
      tracker.replace(by: current.rules)
    }
    do throws(StoreFailure) {
      let isDue = try tracker.beginPass(
        version: appended, wall: wall, monotonic: monotonic, &source)
      if tracker.doubtsClock, !doubtsClock {
        report(
          "The clock has jumped ahead, or is ahead of the newest entry. Until it has kept pace for an "
            + "hour, entries are removed by the earlier time: what a wrong clock removes is lost.")
      }
      doubtsClock = tracker.doubtsClock
      while isDue, let trims = try tracker.step(&source) {
        guard trim(trims) else { return tracker.forgetPass() }
      }
      outage.update(nil)
      meter.recordPass(beganAt: monotonic)
    } catch {
      tracker.forgetPass()
      outage.update(error)
    }
  }
}
