internal import Glibc
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

  /// Returns a histogram with `perDecade` steps per decade.
  ///
  /// - Returns: Each step between the first and the last value, by its upper bound.
  func distribution(_ measure: Measure, perDecade: Int) -> [(upTo: Double, count: Int)] {
    guard let histogram = histograms[measure.index]?.histogram, histogram.totalCount > 0 else {
      return []
    }
    var counts: [Int: Int] = [:]
    for recorded in histogram.recordedValues() {
      // The resolution is a microsecond: smaller values are in the first step.
      let milliseconds = max(Double(recorded.value), 1) / 1000
      let step = Int((log10(milliseconds) * Double(perDecade) - 1e-9).rounded(.up))
      counts[step, default: 0] += Int(recorded.count)
    }
    guard let first = counts.keys.min(), let last = counts.keys.max() else { return [] }
    return (first...last).map {
      (pow(10, Double($0) / Double(perDecade)), counts[$0] ?? 0)
    }
  }

  /// Returns the latency at increasing percentiles, in `perNine` steps for each nine, as far as
  /// there are enough values.
  func curve(_ measure: Measure, perNine: Int) -> [(nines: Double, milliseconds: Double)] {
    guard let histogram = histograms[measure.index]?.histogram, histogram.totalCount > 0 else {
      return []
    }
    let last = Int((log10(Double(histogram.totalCount)) * Double(perNine)).rounded(.up))
    return (0...last).map { step in
      let nines = Double(step) / Double(perNine)
      let value = histogram.valueAtPercentile(100 * (1 - pow(10, -nines)))
      return (nines, Double(min(value, histogram.maxRecorded)) / 1000)
    }
  }
}
