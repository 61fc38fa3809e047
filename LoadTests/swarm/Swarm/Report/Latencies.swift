internal import Glibc
internal import Histogram

/// An HDR histogram of latencies, in microseconds with three digits.
///
/// Every one counts from the time at which something was intended. A relay that stops for a second
/// is thus charged for all that should have happened in that second, not for one slow answer
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
  /// By measure, in their order: a table would cost more than the histogram.
  fileprivate var histograms: [LatencyHistogram?]

  /// Nothing measured.
  public init() { histograms = Array(repeating: nil, count: Measure.allCases.count) }

  /// Something that was intended at one time happened at another, both in nanoseconds of one
  /// clock. What happens early, by the grain of a timer, took no time.
  public mutating func record(_ measure: Measure, intended: UInt64, happened: UInt64) {
    if histograms[measure.index] == nil { histograms[measure.index] = LatencyHistogram() }
    histograms[measure.index]?.record(intended: intended, happened: happened)
  }

  /// How many were recorded.
  public func count(_ measure: Measure) -> Int { histograms[measure.index]?.count ?? 0 }

  /// In milliseconds; `nil` where nothing was measured.
  public func milliseconds(_ measure: Measure, _ percentile: Percentile) -> Double? {
    histograms[measure.index]?.milliseconds(percentile)
  }

  /// How many took how long, in steps that grow by the same factor: `perDecade` of them make ten.
  ///
  /// - Returns: each step that holds something, or lies between such, by its upper bound.
  func distribution(_ measure: Measure, perDecade: Int) -> [(upTo: Double, count: Int)] {
    guard let histogram = histograms[measure.index]?.histogram, histogram.totalCount > 0 else {
      return []
    }
    var counts: [Int: Int] = [:]
    for recorded in histogram.recordedValues() {
      // The grain is a microsecond: less than that is in the first step.
      let milliseconds = max(Double(recorded.value), 1) / 1000
      let step = Int((log10(milliseconds) * Double(perDecade) - 1e-9).rounded(.up))
      counts[step, default: 0] += Int(recorded.count)
    }
    guard let first = counts.keys.min(), let last = counts.keys.max() else { return [] }
    return (first...last).map {
      (pow(10, Double($0) / Double(perDecade)), counts[$0] ?? 0)
    }
  }

  /// The latency below which a part of all are, for growing parts: the part that is left is a power
  /// of ten, `perNine` steps to each nine, as far as there is one in so many.
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
