import Platform

/// What `/metrics` and `/v1/connections` say at one moment.
struct MetricsSample {
  /// By the label's value; those of a metric without a label, and of its sum, have none.
  typealias Series = [(label: String, value: Double)]

  /// When it was read.
  let at: Instant
  /// The answer of `/v1/connections`, which is JSON; empty for a token of the metrics.
  let census: [UInt8]
  private var metrics: [Substring: Series] = [:]

  /// Reads the text format of Prometheus, version 0.0.4, of metrics with at most one label. What is not in
  /// that format is left out.
  init(_ text: String, census: [UInt8], at: Instant) {
    self.at = at
    self.census = census
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "),
        let value = Double(line[line.index(after: space)...])
      else { continue }
      let series = line[..<space]
      let name = series.prefix { $0 != "{" }
      let label = series.split(separator: "\"", maxSplits: 2).dropFirst().first
      metrics[name, default: []].append((label.map(String.init) ?? "", value))
    }
  }

  subscript(_ name: String) -> Series { metrics[name[...]] ?? [] }

  /// The sum over all labels; `nil` if the relay does not have the metric.
  func total(_ name: String) -> Double? {
    metrics[name[...]].map { $0.reduce(0) { $0 + $1.value } }
  }

  func value(_ name: String, _ label: String) -> Double? {
    metrics[name[...]]?.first { $0.label == label }?.value
  }
}
