import Terminal
internal import YAML

/// A comparison of two runs, from the output of ``JSONReport``.
public struct Comparison: Sendable {
  /// Why a file cannot be compared; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
  }

  /// A figure of both runs.
  public struct Row: Equatable, Sendable {
    /// The name, with its unit.
    public var name: String
    /// `nil` if the run has no such figure.
    public var before: Double?
    /// The same for the second run.
    public var after: Double?

    /// The ratio of the second to the first; `nil` if one is missing or the first is 0.
    public var ratio: Double? {
      guard let before, let after, before > 0 else { return nil }
      return after / before
    }
  }

  /// The descriptions of the runs, the first one first.
  public private(set) var titles: [String] = []
  /// The figures that at least one run has.
  public private(set) var rows: [Row] = []
  /// Whether both played the same scenario with the same seed.
  public private(set) var isSamePlan: Bool

  /// Reads both reports.
  ///
  /// - Parameter files: The names for errors.
  public init(_ first: [UInt8], _ second: [UInt8], files: (String, String)) throws(Failure) {
    let before = try Self.root(first, files.0)
    let after = try Self.root(second, files.1)
    isSamePlan =
      before["scenario"]?.text == after["scenario"]?.text
      && before["seed"]?.text == after["seed"]?.text
    titles = [before, after].map { run in
      TerminalText.line(
        "\(run["scenario"]?.text ?? "?"), seed \(run["seed"]?.text ?? "?"):"
          + " \(run["status"]?.text ?? "?")")
    }
    func add(_ name: String, _ path: String...) {
      let row = Row(name: name, before: before.figure(path), after: after.figure(path))
      if row.before != nil || row.after != nil { rows.append(row) }
    }
    for measure in Measure.allCases {
      for percentile in Percentile.allCases {
        add(
          "\(measure.rawValue) \(TextReport.title(percentile)), ms", "latency_ms", measure.rawValue,
          percentile.rawValue)
      }
    }
    add("sends acknowledged", "sends", "acknowledged")
    add("sends missed", "sends", "missed")
    add("deliveries", "deliveries")
    add("connections lost", "clients", "connections_lost")
    add("seconds", "seconds")
    add("relay, cores", "swarm", "relay_cores")
    let (held, holds) = (before.mostMemory, after.mostMemory)
    if held != nil || holds != nil {
      rows.append(Row(name: "relay, peak memory, MiB", before: held, after: holds))
    }
    add("relay, bytes per connection", "memory", "relay_bytes_per_connection")
    add("swarm, bytes per connection", "memory", "swarm_bytes_per_connection")
    add("swarm, cores", "swarm", "cores")
    add("swarm, lag p99, ms", "swarm", "lag_p99_ms")
  }

  /// A table for the user.
  public var text: String {
    var lines = zip(["A", "B"], titles).map { "\($0): \($1)" }
    if !isSamePlan { lines.append("not the same scenario and seed: compare with care") }
    lines.append("")
    let width = rows.map(\.name.count).max() ?? 0
    func line(_ name: String, _ values: [String]) -> String {
      name + String(repeating: " ", count: width - min(name.count, width))
        + values.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }.joined()
    }
    lines.append(line("", ["A", "B", "B/A"]))
    for row in rows {
      lines.append(
        line(
          row.name,
          [
            row.before.map(Self.figure) ?? "-", row.after.map(Self.figure) ?? "-",
            row.ratio.map(Self.ratio) ?? "-",
          ]))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Formats integers as they are, other numbers with their significant digits.
  private static func figure(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    return value < 1 ? Decimal.short(value) : Decimal.text(value)
  }

  private static func ratio(_ value: Double) -> String {
    let hundredths = Int64(exactly: (value * 100).rounded()) ?? .max
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }

  /// JSON is a subset of YAML, so the parser of scenarios reads reports.
  private static func root(_ bytes: [UInt8], _ file: String) throws(Failure) -> YAMLNode {
    let document = YAMLDocument(bytes)
    if let fault = document.faults.first {
      throw Failure(description: "\(file):\(fault.line): not a report of swarm run: \(fault.found)")
    }
    guard let root = document.root, root["latency_ms"] != nil, root["status"]?.text != nil else {
      throw Failure(description: "\(file): not a report of swarm run --json")
    }
    return root
  }
}

extension YAMLNode {
  /// Returns a nested number, possibly with an exponent, which JSON allows; `nil` if it is out of
  /// the range of real runs.
  fileprivate func figure(_ path: [String]) -> Double? {
    var node: YAMLNode? = self
    for key in path { node = node?[key] }
    return node?.text.flatMap(Double.init).flatMap { (0...1e15).contains($0) ? $0 : nil }
  }

  fileprivate var mostMemory: Double? {
    self["series"]?.list?.compactMap { $0.figure(["relay_bytes"]) }.max().map { $0 / 1_048_576 }
  }
}
