internal import Histogram

/// An HDR histogram of latencies, in microseconds with three digits.
///
/// Every one counts from the time at which something was intended. A relay that stops for a second
/// is thus charged for all that should have happened in that second, not for one slow answer
/// (Tene, "How NOT to Measure Latency", 2013).
struct LatencyHistogram: Sendable {
  private static let longestMicroseconds: UInt64 = 86_400_000_000

  private var histogram = Histogram<UInt64>(
    lowestDiscernibleValue: 1, highestTrackableValue: longestMicroseconds,
    numberOfSignificantValueDigits: .three)

  var count: Int { Int(histogram.totalCount) }

  /// See ``Latencies/record(_:intended:happened:)``.
  mutating func record(intended: UInt64, happened: UInt64) {
    let microseconds = happened > intended ? (happened - intended) / 1000 : 0
    histogram.record(min(microseconds, Self.longestMicroseconds))
  }

  /// `nil` where nothing was measured.
  func milliseconds(_ percentile: Percentile) -> Double? {
    guard histogram.totalCount > 0 else { return nil }
    let value =
      percentile == .max
      ? histogram.maxRecorded : histogram.valueAtPercentile(percentile.percent)
    // A bucket's upper end may lie beyond all that is in it.
    return Double(min(value, histogram.maxRecorded)) / 1000
  }
}

/// The latencies of a run, by measure.
public struct Latencies: Sendable {
  private var histograms: [Measure: LatencyHistogram] = [:]

  /// Nothing measured.
  public init() {}

  /// Something that was intended at one time happened at another, both in nanoseconds of one
  /// clock. What happens early, by the grain of a timer, took no time.
  public mutating func record(_ measure: Measure, intended: UInt64, happened: UInt64) {
    histograms[measure, default: LatencyHistogram()].record(intended: intended, happened: happened)
  }

  /// How many were recorded.
  public func count(_ measure: Measure) -> Int { histograms[measure]?.count ?? 0 }

  /// In milliseconds; `nil` where nothing was measured.
  public func milliseconds(_ measure: Measure, _ percentile: Percentile) -> Double? {
    histograms[measure]?.milliseconds(percentile)
  }
}
