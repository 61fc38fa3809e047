/// The content of the live view. Pure: figures in, lines out.
public enum LiveView {
  /// The column of the values, after their names.
  private static let indent = 10
  private static let cell = 8
  private static let barCells = 36
  /// The maximum length of the displayed history.
  static let historySeconds = 60
  /// More than a day in milliseconds does not fit in a column.
  private static let shownMilliseconds = 99_999.0

  /// Formats the figures.
  ///
  /// - Parameters:
  ///   - columns: The width of the terminal, whose last column stays empty. From 60 columns on
  ///     nothing is cut.
  ///   - colour: Whether lines may contain SGR sequences.
  /// - Returns: Lines without line breaks, the most important first.
  public static func frame(of figures: LiveFigures, columns: Int, colour: Bool) -> [String] {
    let line = LiveLine(columns: columns, colour: colour)
    return [
      title(figures, line), phase(figures, line),
      counts(
        ("clients", "\(figures.clients) of \(figures.clientsPlanned)"),
        ("sends/s", number(figures.sendsPerSecond)), line),
      counts(
        ("unacked", "\(figures.unacknowledged)"),
        ("deliveries/s", number(figures.deliveriesPerSecond)), line),
      heading(line),
      figures.ack.map { latency("ack", $0, line) }, latency("deliver", figures.deliver, line),
      trouble(figures, line), swarm(figures, line), relay(figures, line),
      history(figures, line),
    ].compactMap { $0?.text }
  }

  // MARK: Lines

  private static func title(_ figures: LiveFigures, _ line: LiveLine) -> LiveLine {
    var line = line
    let left = " \(clock(figures.secondsLeft)) left "
    line.add("── ", .faint)
    line.add(foreign: figures.title, .strong, limit: max(0, line.room - left.count - 6))
    line.add(" ")
    line.add(String(repeating: "─", count: max(0, line.room - left.count - 2)), .faint)
    line.add(left, .strong)
    line.add("──", .faint)
    return line
  }

  private static func phase(_ figures: LiveFigures, _ line: LiveLine) -> LiveLine {
    var line = line
    guard let seconds = figures.phaseSeconds else {
      line.add(foreign: figures.phase)
      return line
    }
    line.add(foreign: figures.phase, limit: indent - 1)
    line.move(to: indent)
    let times = "  \(Decimal.text(seconds.past)) of \(Decimal.text(seconds.all)) s"
    let cells = max(0, min(barCells, line.room - times.count))
    let share = seconds.all > 0 ? min(max(seconds.past / seconds.all, 0), 1) : 1
    let full = Int((Double(cells) * share).rounded(.down))
    line.add(String(repeating: "━", count: full), .good)
    line.add(String(repeating: "┄", count: cells - full), .faint)
    line.add(times)
    return line
  }

  private static func counts(
    _ first: (name: String, value: String), _ second: (name: String, value: String),
    _ line: LiveLine
  ) -> LiveLine {
    var line = line
    line.add(first.name, .faint)
    line.move(to: indent)
    line.add(first.value)
    line.move(to: max(line.width + 2, 34))
    line.add(second.name, .faint)
    line.add(second.value, endingAt: indent + 6 * cell)
    return line
  }

  private static func heading(_ line: LiveLine) -> LiveLine {
    var line = line
    line.add("ms", .faint)
    for (column, name) in ["1 s p50", "p99", "max", "run p50", "p99", "max"].enumerated() {
      line.add(name, endingAt: indent + (column + 1) * cell, .faint)
    }
    return line
  }

  private static func latency(_ name: String, _ latest: LiveFigures.Latest, _ line: LiveLine)
    -> LiveLine
  {
    var line = line
    line.add(name, .faint)
    for (column, value) in [latest.second, latest.run].flatMap({ [$0.p50, $0.p99, $0.max] })
      .enumerated()
    {
      line.add(milliseconds(value), endingAt: indent + (column + 1) * cell)
    }
    return line
  }

  private static func trouble(_ figures: LiveFigures, _ line: LiveLine) -> LiveLine {
    var line = line
    line.add("trouble", .faint)
    line.move(to: indent)
    for (index, (count, what)) in [
      (figures.connectionsLost, "lost"), (figures.refusals, "refused"),
      (figures.violations, "promises broken"),
    ].enumerated() {
      line.add(index > 0 ? ", " : "")
      line.add("\(count) \(what)", count > 0 ? .bad : .plain)
    }
    return line
  }

  private static func swarm(_ figures: LiveFigures, _ line: LiveLine) -> LiveLine {
    var line = line
    line.add("swarm", .faint)
    line.move(to: indent)
    let isBusy = figures.ownCores > Outcome.Load.coreLimit
    line.add("\(percent(figures.ownCores)) of a core", isBusy ? .bad : .plain)
    let isLate = (figures.lag.p99 ?? 0) > Outcome.Load.lagLimitMilliseconds
    line.add(", lag ")
    line.add("p99 \(milliseconds(figures.lag.p99)) ms", isLate ? .bad : .plain)
    line.add(", max \(milliseconds(figures.lag.max))")
    return line
  }

  private static func relay(_ figures: LiveFigures, _ line: LiveLine) -> LiveLine? {
    guard figures.relayCores != nil || figures.relayBytes != nil else { return nil }
    var line = line
    line.add("relay", .faint)
    line.move(to: indent)
    line.add(figures.relayCores.map { "\(percent($0)) of a core" } ?? "CPU unknown")
    if let bytes = figures.relayBytes {
      line.add(", \(Decimal.text(Double(bytes) / 1_048_576)) MiB")
    }
    return line
  }

  private static func history(_ figures: LiveFigures, _ line: LiveLine) -> LiveLine? {
    guard !figures.history.isEmpty else { return nil }
    var line = line
    line.move(to: indent)
    let reach = min(historySeconds, max(0, line.room - 24))
    let values = figures.history.suffix(reach)
    let most = values.max() ?? 0
    line.add(sparkline(values, to: most), .good)
    line.add("  deliveries, max \(number(most))/s", .faint)
    return line
  }

  // MARK: Values

  /// Draws each value as one of eight heights; 0 is the lowest.
  static func sparkline(_ values: some Sequence<Double>, to most: Double) -> String {
    let steps: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    return String(
      values.map { value in
        most > 0 ? steps[min(7, max(0, Int((value / most * 7).rounded())))] : steps[0]
      })
  }

  /// Formats minutes and seconds, and hours from one hour on.
  static func clock(_ seconds: Double) -> String {
    let all = Int(max(0, seconds).rounded(.up))
    func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let minutes = all / 60 % 60
    return all < 3600
      ? "\(minutes):\(two(all % 60))" : "\(all / 3600):\(two(minutes)):\(two(all % 60))"
  }

  private static func milliseconds(_ value: Double?) -> String {
    guard let value else { return "-" }
    return value > shownMilliseconds ? ">99999" : Decimal.text(value)
  }

  private static func number(_ value: Double) -> String { Decimal.prefixed(value.rounded()) }

  private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}
