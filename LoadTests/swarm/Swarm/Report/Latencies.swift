internal import Histogram

/// An HDR histogram of latencies, in microseconds with three digits.
///
/// Every latency counts from the intended time of the operation. So a relay that stalls for a
/// second is charged for everything that was intended in that second, not for one slow answer
/// (Tene, "How NOT to Measure Latency", 2013).
struct LatencyHistogram: Sendable {
  private static let longestMicroseconds: UInt64 = 86_400_000_000

  fileprivate var histogram = Histogram<UInt64>(
    lowestDiscernibleValue: 1, highestTrackableValue: longestMicroseconds,
    numberOfSignificantValueDigits: .three)

  var count: Int { Int(histogram.totalCount) }

  /// See ``Latencies/record(_:intended:happened:)``.
  mutating func record(intended: UInt64, happened: UInt64) {
    let microseconds = happened > intended ? (happened - intended) / 1000 : 0
    histogram.record(min(microseconds, Self.longestMicroseconds))
  }

  /// Returns `nil` if nothing was measured.
  func milliseconds(_ percentile: Percentile) -> Double? {
    guard histogram.totalCount > 0 else { return nil }
    let value =
      percentile == .max
      ? histogram.maxRecorded : histogram.valueAtPercentile(percentile.percent)
    // A bucket's upper bound may exceed all of its values.
    return Double(min(value, histogram.maxRecorded)) / 1000
  }
}

/// The latencies of a run, by measure.
public struct Latencies: Sendable {
  /// By the index of the measure: a dictionary would cost more than the histogram.
  fileprivate var histograms: [LatencyHistogram?]

  /// Creates empty histograms.
  public init() { histograms = Array(repeating: nil, count: Measure.allCases.count) }

  /// Records an operation that was intended at one time and happened at another, both in
  /// nanoseconds of one clock. An early one, which the timer's resolution makes possible, counts as
  /// 0.
  public mutating func record(_ measure: Measure, intended: UInt64, happened: UInt64) {
    if histograms[measure.index] == nil { histograms[measure.index] = LatencyHistogram() }
    histograms[measure.index]?.record(intended: intended, happened: happened)
  }

  /// Returns the number of recorded values.
  public func count(_ measure: Measure) -> Int { histograms[measure.index]?.count ?? 0 }

  /// Returns milliseconds; `nil` if nothing was measured.
  public func milliseconds(_ measure: Measure, _ percentile: Percentile) -> Double? {
    histograms[measure.index]?.milliseconds(percentile)
  }
}
