internal import Platform

/// Monitors swarm itself: the delay of a pulse that is due every few milliseconds, and its share of
/// one core.
struct SelfWatch {
  static let periodNanoseconds: UInt64 = 5_000_000

  private(set) var lag = LatencyHistogram()
  private(set) var next: Instant
  private let start: Instant
  private let cpuAtStart: Double

  init(start: Instant, cpu: Double) {
    self.start = start
    next = start
    cpuAtStart = cpu
  }

  /// Records a pulse. Pulses that were skipped meanwhile count as late as well, because a stall
  /// delayed everything that was intended during it.
  mutating func pulse(at now: Instant) {
    while next <= now {
      lag.record(intended: next.nanoseconds, happened: now.nanoseconds)
      next = next.adding(nanoseconds: Self.periodNanoseconds)
    }
  }

  /// Returns the share of one core from the start until now.
  func coreShare(at now: Instant, cpu: Double) -> Double {
    let seconds = Double(now.nanoseconds(since: start)) / 1e9
    return seconds > 0 ? (cpu - cpuAtStart) / seconds : 0
  }
}
