internal import Platform

/// Whether swarm itself keeps up: a pulse that should come every few milliseconds, and what it
/// uses of its one core.
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

  /// The pulse has come. Those that were left out meanwhile count as late as well: that is what a
  /// stall cost everything that was intended in it.
  mutating func pulse(at now: Instant) {
    while next <= now {
      lag.record(intended: next.nanoseconds, happened: now.nanoseconds)
      next = next.adding(nanoseconds: Self.periodNanoseconds)
    }
  }

  /// Of one core, from the start until now.
  func coreShare(at now: Instant, cpu: Double) -> Double {
    let seconds = Double(now.nanoseconds(since: start)) / 1e9
    return seconds > 0 ? (cpu - cpuAtStart) / seconds : 0
  }
}
