import Relay

/// Builds the metrics as text: a sequence of metric families, each with its help and its samples.
struct MetricsText {
  enum Format {
    /// The text format of Prometheus, version 0.0.4.
    case prometheus
    /// OpenMetrics 1.0, which has exemplars.
    case openMetrics

    var contentType: String {
      switch self {
      case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
      case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
      }
    }
  }

  let format: Format
  private var text = ""

  init(format: Format) { self.format = format }

  /// All that was added.
  var bytes: [UInt8] { Array((text + (format == .openMetrics ? "# EOF\n" : "")).utf8) }

  /// A value that only increases, from 0 at startup.
  mutating func counter(_ name: String, _ help: String, _ value: Int) {
    number(name, "counter", help, value)
  }

  mutating func counter(_ name: String, _ help: String, seconds: Double) {
    number(name, "counter", help, seconds)
  }

  /// One counter for each value of a label. Known values are exported as 0 from the start, so that
  /// the first increase is visible.
  mutating func counters(
    _ name: String, _ help: String, by label: String, _ values: [(String, Int)]
  ) {
    numbers(name, "counter", help, label, values)
  }

  mutating func counters(
    _ name: String, _ help: String, by label: String, seconds values: [(String, Double)]
  ) {
    numbers(name, "counter", help, label, values)
  }

  /// The current value of a quantity that can decrease.
  mutating func gauge(_ name: String, _ help: String, _ value: Int) {
    number(name, "gauge", help, value)
  }

  mutating func gauge(_ name: String, _ help: String, seconds: Double) {
    number(name, "gauge", help, seconds)
  }

  mutating func gauges(
    _ name: String, _ help: String, by label: String, _ values: [(String, Int)]
  ) {
    numbers(name, "gauge", help, label, values)
  }

  /// Constant information, as labels.
  mutating func info(_ name: String, _ help: String, _ labels: [(String, String)]) {
    begin(name, "gauge", help)
    sample(name, labels, "1")
  }

  mutating func histogram(_ name: String, _ help: String, _ histogram: BucketHistogram) {
    begin(name, "histogram", help)
    var count = 0
    for (bucket, inBucket) in histogram.counts.enumerated() {
      count += inBucket
      let bound = bucket < histogram.bounds.count ? "\(histogram.bounds[bucket])" : "+Inf"
      sample("\(name)_bucket", [("le", bound)], "\(count)", histogram.exemplars[bucket])
    }
    sample("\(name)_sum", [], "\(histogram.sum)")
    sample("\(name)_count", [], "\(histogram.count)")
  }

  private mutating func number(
    _ name: String, _ type: String, _ help: String, _ value: some CustomStringConvertible
  ) {
    begin(name, type, help)
    sample(name, [], "\(value)")
  }

  private mutating func numbers(
    _ name: String, _ type: String, _ help: String, _ label: String,
    _ values: [(String, some CustomStringConvertible)]
  ) {
    begin(name, type, help)
    for (key, value) in values { sample(name, [(label, key)], "\(value)") }
  }

  private mutating func begin(_ name: String, _ type: String, _ help: String) {
    // OpenMetrics names the family of a counter without the suffix of its samples.
    let family =
      format == .openMetrics && type == "counter" ? String(name.dropLast("_total".count)) : name
    text += "# HELP \(family) \(help)\n# TYPE \(family) \(type)\n"
  }

  private mutating func sample(
    _ name: String, _ labels: [(String, String)], _ value: String,
    _ exemplar: BucketHistogram.Exemplar? = nil
  ) {
    text += name
    if !labels.isEmpty {
      let pairs = labels.map { "\($0)=\"\(Self.escaped($1))\"" }
      text += "{\(pairs.joined(separator: ","))}"
    }
    text += " \(value)"
    if format == .openMetrics, let exemplar {
      let seconds = "\(exemplar.at / 1000).\(String(exemplar.at % 1000 + 1000).dropFirst())"
      text += " # {trace_id=\"\(exemplar.trace)\"} \(exemplar.value) \(seconds)"
    }
    text += "\n"
  }

  private static func escaped(_ value: String) -> String {
    var escaped = ""
    for character in value {
      switch character {
      case "\\": escaped += "\\\\"
      case "\"": escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.append(character)
      }
    }
    return escaped
  }
}
