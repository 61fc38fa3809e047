internal import Histogram

/// The latencies of a run: one HDR histogram for each measure, in microseconds with three digits.
///
/// Every one counts from the time at which something was intended. A relay that stops for a second
/// is thus charged for all that should have happened in that second, not for one slow answer
/// (Tene, "How NOT to Measure Latency", 2013).
public struct Latencies: Sendable {
  private static let longestMicroseconds: UInt64 = 86_400_000_000

  private var histograms: [Measure: Histogram<UInt64>] = [:]

  /// Nothing measured.
  public init() {}

  /// Something that was intended at one time happened at another, both in nanoseconds of one
  /// clock. What happens early, by the grain of a timer, took no time.
  public mutating func record(_ measure: Measure, intended: UInt64, happened: UInt64) {
    let microseconds = happened > intended ? (happened - intended) / 1000 : 0
    histograms[measure, default: Self.empty].record(min(microseconds, Self.longestMicroseconds))
  }

  /// How many were recorded.
  public func count(_ measure: Measure) -> Int {
    histograms[measure].map { Int($0.totalCount) } ?? 0
  }

  /// In milliseconds; `nil` where nothing was measured.
  public func milliseconds(_ measure: Measure, _ percentile: Percentile) -> Double? {
    guard let histogram = histograms[measure], histogram.totalCount > 0 else { return nil }
    let value =
      percentile == .max
      ? histogram.maxRecorded : histogram.valueAtPercentile(percentile.percent)
    return Double(min(value, histogram.maxRecorded)) / 1000
  }

  private static var empty: Histogram<UInt64> {
    Histogram(
      lowestDiscernibleValue: 1, highestTrackableValue: longestMicroseconds,
      numberOfSignificantValueDigits: .three)
  }
}
