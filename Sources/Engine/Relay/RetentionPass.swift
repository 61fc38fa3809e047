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
  /// When a pass began that has not ended, in milliseconds of the monotonic clock.
  private var pausedSince: Int64?

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

  /// Whether the next run continues this pass.
  package var isPaused: Bool { pausedSince != nil }

  /// Trims all rooms that have more than they keep, or some of them.
  /// - Parameters:
  ///   - appended: grows with each entry of the log.
  ///   - wall: milliseconds since 1970.
  ///   - monotonic: milliseconds of the monotonic clock.
  ///   - mayContinue: called before each step: whether there is time for it now.
  ///   - trim: trims rooms, in one batch. Returns whether that has been done: if not, the next run
  ///     starts over.
  package mutating func run(
    _ source: inout some RetentionSource, appended: Int, wall: Int64, monotonic: Int64,
    mayContinue: () -> Bool, trim: ([RoomTrim]) -> Bool
  ) {
    let current = rules.current
    if current.version != version {
      version = current.version
      tracker.replace(by: current.rules)
      pausedSince = nil
    }
    let began = pausedSince ?? monotonic
    var isDue = isPaused
    pausedSince = nil
    do throws(StoreFailure) {
      if !isDue {
        isDue = try tracker.beginPass(
          version: appended, wall: wall, monotonic: monotonic, &source)
        reportClock()
      }
      while isDue {
        guard mayContinue() else {
          pausedSince = began
          return
        }
        guard let trims = try tracker.step(&source) else { break }
        guard trims.isEmpty || trim(trims) else { return tracker.forgetPass() }
      }
      outage.update(nil)
      meter.recordPass(beganAt: began)
    } catch {
      tracker.forgetPass()
      outage.update(error)
    }
  }

  private mutating func reportClock() {
    if tracker.doubtsClock, !doubtsClock {
      report(
        "The clock has jumped ahead, or is ahead of the newest entry. Until it has kept pace for an "
          + "hour, entries are removed by the earlier time: what a wrong clock removes is lost.")
    }
    doubtsClock = tracker.doubtsClock
  }
}
