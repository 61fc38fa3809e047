public import Wire

/// A histogram with fixed buckets, which a scraper can add up over relays and time.
public struct BucketHistogram: Sendable, Equatable {
  /// The upper bounds of all buckets except the last, which has none; ascending.
  public let bounds: [Double]
  /// The count of each bucket, including the last.
  public private(set) var counts: [Int]
  public private(set) var sum = 0.0
  /// The last value of each bucket whose trace is known.
  public private(set) var exemplars: [Int: Exemplar] = [:]

  /// A value that stands for others, by which one finds out more.
  public struct Exemplar: Sendable, Equatable {
    public var value: Double
    public var trace: TraceID
    /// Milliseconds since 1970.
    public var at: Int64

    public init(value: Double, trace: TraceID, at: Int64) {
      self.value = value
      self.trace = trace
      self.at = at
    }
  }

  public init(bounds: [Double]) {
    self.bounds = bounds
    counts = Array(repeating: 0, count: bounds.count + 1)
  }

  /// For seconds, from a tenth of a millisecond on.
  public static let latency = BucketHistogram(bounds: [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
  ])
  /// For numbers of items.
  public static let sizes = BucketHistogram(bounds: [
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
  ])

  /// The number of recorded values.
  public var count: Int { counts.reduce(0, +) }

  /// Records a value, `times` times.
  public mutating func add(_ value: Double, times: Int = 1) {
    counts[bucket(of: value)] += times
    sum += value * Double(times)
  }

  /// Makes a recorded value the exemplar of its bucket.
  public mutating func record(_ exemplar: Exemplar) {
    exemplars[bucket(of: exemplar.value)] = exemplar
  }

  private func bucket(of value: Double) -> Int {
    bounds.firstIndex { value <= $0 } ?? bounds.count
  }

  /// Returns how many values up to each bound were recorded since the histogram was as another one.
  public func cumulative(since former: Self) -> [(bound: Double, count: Double)] {
    precondition(bounds == former.bounds, "the histograms have different bounds")
    var count = 0
    return counts.indices.map { index in
      count += counts[index] - former.counts[index]
      return (index < bounds.count ? bounds[index] : .infinity, Double(count))
    }
  }

  /// Returns a quantile, interpolated within its bucket, as Prometheus does (`histogram_quantile`); `nil` if
  /// nothing was recorded.
  /// - Parameter counts: how many values are at most each bound; the last one is infinite.
  public static func quantile(
    _ quantile: Double, of counts: [(bound: Double, count: Double)]
  ) -> Double? {
    var below = (bound: 0.0, count: 0.0)
    guard let total = counts.last?.count, total > 0 else { return nil }
    for (bound, count) in counts {
      if count >= quantile * total {
        // Nothing is known of what is above the last bound.
        guard bound.isFinite, count > below.count else { return below.bound }
        let share = (quantile * total - below.count) / (count - below.count)
        return below.bound + (bound - below.bound) * share
      }
      below = (bound, count)
    }
    return nil
  }

  /// Adds a histogram with the same bounds.
  public static func += (a: inout Self, b: Self) {
    precondition(a.bounds == b.bounds, "the histograms have different bounds")
    for index in a.counts.indices { a.counts[index] += b.counts[index] }
    a.sum += b.sum
    a.exemplars.merge(b.exemplars) { $0.at > $1.at ? $0 : $1 }
  }
}
