internal import Histogram

/// Records a ``Series`` during a run. A message costs one counter in a preallocated histogram; the
/// end of a second costs the reading of two histograms.
struct SeriesRecorder {
  /// Values that are read once, at the end of a second.
  struct Reading {
    /// Total deliveries at all receivers.
    var deliveries: Int
    /// Connected clients.
    var clients: Int
    /// The relay's total CPU time.
    var relayCPUSeconds: Double?
    var relayBytes: Int?
  }

  /// CPU times have a resolution of 10 ms, so a shorter period gives no useful rate.
  static let shortestForCores = 0.25
  private static let longestMicroseconds: UInt64 = 86_400_000_000

  private(set) var series: Series
  /// The end of the current second, in nanoseconds of the run.
  private(set) var end: UInt64 = 1_000_000_000
  private var start: UInt64 = 0
  private var sends = 0
  private var deliveriesBefore = 0
  private var cpuBefore: Double?
  private var acks = Self.empty
  private var delivered = Self.empty

  init(_ phases: [Scenario.Phase], relayCPUSeconds: Double? = nil) {
    series = Series(phases)
    cpuBefore = relayCPUSeconds
  }

  /// Records that a send was due.
  mutating func sent() { sends += 1 }

  /// Records an ack; both times in nanoseconds of the run.
  mutating func acknowledged(intended: UInt64, happened: UInt64) {
    acks.record(Self.microseconds(intended, happened))
  }

  /// Records a delivery to a client that was online; both times in nanoseconds of the run.
  mutating func delivered(intended: UInt64, happened: UInt64) {
    delivered.record(Self.microseconds(intended, happened))
  }

  /// Closes the current second; the next one ends with the clock's next whole second.
  mutating func close(at now: UInt64, _ reading: Reading) {
    guard now > start else { return }
    var second = Series.Second(
      start: Double(start) / 1e9, length: Double(now - start) / 1e9)
    second.sends = sends
    second.acks = Int(acks.totalCount)
    second.deliveries = reading.deliveries - deliveriesBefore
    second.clients = reading.clients
    second.ackP50 = Self.milliseconds(acks, 50)
    second.ackP99 = Self.milliseconds(acks, 99)
    second.ackMax = Self.milliseconds(acks, 100)
    second.deliverP50 = Self.milliseconds(delivered, 50)
    second.deliverP99 = Self.milliseconds(delivered, 99)
    second.deliverMax = Self.milliseconds(delivered, 100)
    if let before = cpuBefore, let cpu = reading.relayCPUSeconds,
      second.length >= Self.shortestForCores
    {
      second.relayCores = max(0, cpu - before) / second.length
    }
    second.relayBytes = reading.relayBytes
    series.seconds.append(second)
    sends = 0
    deliveriesBefore = reading.deliveries
    cpuBefore = reading.relayCPUSeconds
    acks.reset()
    delivered.reset()
    start = now
    end = (now / 1_000_000_000 + 1) * 1_000_000_000
  }

  private static func microseconds(_ intended: UInt64, _ happened: UInt64) -> UInt64 {
    min(happened > intended ? (happened - intended) / 1000 : 0, longestMicroseconds)
  }

  private static func milliseconds(_ histogram: Histogram<UInt32>, _ percentile: Double)
    -> Double?
  {
    guard histogram.totalCount > 0 else { return nil }
    return Double(min(histogram.valueAtPercentile(percentile), histogram.maxRecorded)) / 1000
  }

  /// Two digits are finer than a pixel.
  private static var empty: Histogram<UInt32> {
    Histogram(
      lowestDiscernibleValue: 1, highestTrackableValue: longestMicroseconds,
      numberOfSignificantValueDigits: .two)
  }
}
