import Terminal
internal import YAML

/// Two runs side by side: what ``JSONReport`` has written of each.
public struct Comparison: Sendable {
  /// What keeps a file from being compared; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// One line for a person.
    public var description: String
  }

  /// One figure of both.
  public struct Row: Equatable, Sendable {
    /// What it is, with its unit.
    public var name: String
    /// `nil` where the run has no such figure.
    public var before: Double?
    /// The same.
    public var after: Double?

    /// The second in parts of the first; `nil` where one is missing or the first is nothing.
    public var ratio: Double? {
      guard let before, let after, before > 0 else { return nil }
      return after / before
    }
  }

  /// What each run was, the first one first.
  public private(set) var titles: [String] = []
  /// The figures that at least one of them has.
  public private(set) var rows: [Row] = []
  /// Whether both played the same scenario with the same seed.
  public private(set) var isSamePlan: Bool

  /// Reads both reports.
  ///
  /// - Parameter files: what to call them where one is no report.
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
      rows.append(Row(name: "relay, most memory, MiB", before: held, after: holds))
    }
    add("relay, bytes a connection", "memory", "relay_bytes_per_connection")
    add("swarm, bytes a connection", "memory", "swarm_bytes_per_connection")
    add("swarm, cores", "swarm", "cores")
    add("swarm, lag p99, ms", "swarm", "lag_p99_ms")
  }

  /// A table for a person.
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

  /// Whole numbers as they are, others with the digits that say something.
  private static func figure(_ value: Double) -> String {
    if let whole = Int64(exactly: value) { return String(whole) }
    return value < 1 ? Decimal.short(value) : Decimal.text(value)
  }

  private static func ratio(_ value: Double) -> String {
    let hundredths = Int64(exactly: (value * 100).rounded()) ?? .max
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }

  /// JSON is YAML too, so that the reader of scenarios reads reports.
  private static func root(_ bytes: [UInt8], _ file: String) throws(Failure) -> YAMLNode {
    let document = YAMLDocument(bytes)
    if let fault = document.faults.first {
      throw Failure(description: "\(file):\(fault.line): no report of swarm run: \(fault.found)")
    }
    guard let root = document.root, root["latency_ms"] != nil, root["status"]?.text != nil else {
      throw Failure(description: "\(file): no report of swarm run --json")
    }
    return root
  }
}

extension YAMLNode {
  /// A mapping's value.
  fileprivate subscript(key: String) -> YAMLNode? {
    guard case .mapping(let pairs) = content else { return nil }
    return pairs.first { $0.key == key }?.value
  }

  /// A number somewhere below, also with an exponent, which JSON allows; not one that no run has.
  fileprivate func figure(_ path: [String]) -> Double? {
    var node: YAMLNode? = self
    for key in path { node = node?[key] }
    return node?.text.flatMap(Double.init).flatMap { (0...1e15).contains($0) ? $0 : nil }
  }

  fileprivate var mostMemory: Double? {
    self["series"]?.list?.compactMap { $0.figure(["relay_bytes"]) }.max().map { $0 / 1_048_576 }
  }
}
