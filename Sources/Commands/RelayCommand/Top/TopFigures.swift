import Platform
internal import Relay

/// What has happened between two samples of a relay's metrics.
struct TopFigures {
  let sample: MetricsSample
  /// The one before; `nil` if the relay has started since then.
  private let before: MetricsSample?

  init(_ sample: MetricsSample, since before: MetricsSample?) {
    self.sample = sample
    let start = "process_start_time_seconds"
    self.before = before?.total(start) == sample.total(start) ? before : nil
  }

  private var seconds: Double {
    before.map { Double(sample.at.nanoseconds(since: $0.at)) / 1e9 } ?? 0
  }

  /// Returns by how much a counter has increased each second, over all labels.
  func rate(_ name: String) -> Double {
    guard seconds > 0, let now = sample.total(name), let then = before?.total(name) else {
      return 0
    }
    return max(0, now - then) / seconds
  }

  /// Returns the same for each label for which that is above 0, the greatest first.
  func rates(_ name: String) -> MetricsSample.Series {
    guard seconds > 0 else { return [] }
    return sample[name].map { label, value in
      (label, (value - (before?.value(name, label) ?? 0)) / seconds)
    }
    .filter { $0.1 > 0 }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }

  /// Returns a quantile of what a histogram has recorded in between; `nil` if that is nothing.
  func quantile(_ quantile: Double, of name: String) -> Double? {
    guard let before else { return nil }
    let bucket = "\(name)_bucket"
    let counts = sample[bucket].map { label, count in
      (bound: Double(label) ?? .infinity, count: count - (before.value(bucket, label) ?? 0))
    }
    return BucketHistogram.quantile(quantile, of: counts)
  }

  /// How long the relay has run.
  /// - Parameter now: seconds since 1970.
  func uptime(_ now: Int64) -> Int64? {
    sample.total("process_start_time_seconds").map { max(0, now - Int64($0)) }
  }
}
