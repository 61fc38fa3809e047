internal import Histogram

/// Gathers a ``Series`` during a run. What is told for each message costs a counter in a histogram
/// that is there already; a second's end costs the reading of two of them.
struct SeriesRecorder {
  /// What is looked up once, at the end of a second.
  struct Reading {
    /// Of the run so far, at all receivers.
    var deliveries: Int
    /// With a connection.
    var clients: Int
    /// What the relay has used of the processors so far.
    var relayCPUSeconds: Double?
    var relayBytes: Int?
  }

  /// The clock of a process's use ticks every 10 ms: a shorter while says nothing.
  static let shortestForCores = 0.25
  private static let longestMicroseconds: UInt64 = 86_400_000_000

  private(set) var series: Series
  /// When the present second is over, in nanoseconds of the run.
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

  /// A send was due.
  mutating func sent() { sends += 1 }

  /// Both in nanoseconds of the run.
  mutating func acknowledged(intended: UInt64, happened: UInt64) {
    acks.record(Self.microseconds(intended, happened))
  }

  /// The same, for a client that was there.
  mutating func delivered(intended: UInt64, happened: UInt64) {
    delivered.record(Self.microseconds(intended, happened))
  }

  /// The present second is over, and the next one ends with the clock's next whole second.
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

  /// Two digits: a pixel is coarser.
  private static var empty: Histogram<UInt32> {
    Histogram(
      lowestDiscernibleValue: 1, highestTrackableValue: longestMicroseconds,
      numberOfSignificantValueDigits: .two)
  }
}
