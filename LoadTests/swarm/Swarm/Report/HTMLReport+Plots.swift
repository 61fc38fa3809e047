/// The plots of a run.
extension HTMLReport {
  /// The maximum number of columns; more would be narrower than a pixel.
  static let columnLimit = 300
  /// The histogram's steps per decade.
  static let stepsPerDecade = 8

  static func plots(of outcome: Outcome) -> [Plot] {
    let series = outcome.series.thinned(to: columnLimit)
    let isThinned = series.seconds.count < outcome.series.seconds.count
    return overTime(series, outcome.marks, isThinned: isThinned)
      + [histogram(of: outcome.latencies), curve(of: outcome.latencies)].compactMap { $0 }
  }

  // MARK: Over time

  private static func overTime(_ series: Series, _ marks: [Outcome.Mark], isThinned: Bool)
    -> [Plot]
  {
    guard let last = series.seconds.last else { return [] }
    let across = Axis.linear(0, last.start + last.length, isExact: true)
    func plot(
      _ title: String, _ caption: String, _ upwards: Axis, _ lines: [Plot.Line]
    ) -> Plot {
      Plot(
        title: title, caption: caption, across: across, upwards: upwards, acrossUnit: "s",
        lines: lines,
        bands: series.phases.map { .init(name: $0.name, from: $0.start, to: $0.end) },
        marks: marks.filter { !$0.isPhase && $0.seconds <= across.high }
          .map { .init(name: "at \(Decimal.text($0.seconds)) s: \($0.text)", at: $0.seconds) },
        columns: series.seconds.enumerated().map { index, second in
          .init(
            name: words(of: second, index, lines), from: second.start,
            to: second.start + second.length)
        })
    }
    /// Counts over a second are plotted at its middle, readings at its end.
    func line(_ name: String, at place: Double = 0.5, _ value: (Series.Second) -> Double?)
      -> Plot.Line
    {
      .init(name: name, points: series.seconds.map { ($0.start + $0.length * place, value($0)) })
    }
    let latencies = [
      line("ack p50", \.ackP50), line("ack p99", \.ackP99), line("deliver p99", \.deliverP99),
    ]
    let step = isThinned ? "the worst second of each step" : "by the second of arrival"
    var plots = [
      plot(
        "Latency over time", "Milliseconds, logarithmic; \(step).",
        .logarithmic(values(latencies).map { max($0, 0.01) }), latencies)
    ]
    let rates = [
      line("deliveries", { $0.rate($0.deliveries) }), line("sends", { $0.rate($0.sends) }),
      line("acks", { $0.rate($0.acks) }),
    ]
    plots.append(
      plot("Throughput", "Per second.", .linear(0, values(rates).max() ?? 1), rates))
    let clients = [line("clients", at: 1, { Double($0.clients) })]
    plots.append(
      plot(
        "Connections", "Clients with a connection.", .linear(0, values(clients).max() ?? 1), clients
      ))
    let cores = [line("CPU", { $0.relayCores.map { $0 * 100 } })]
    if let most = values(cores).max() {
      plots.append(
        plot("The relay's CPU", "Percent of one core.", .linear(0, max(most, 10)), cores))
    }
    let memory = [line("resident", at: 1, { $0.relayBytes.map { Double($0) / 1_048_576 } })]
    if let most = values(memory).max() {
      plots.append(
        plot("The relay's memory", "Resident set, MiB.", .linear(0, most), memory))
    }
    return plots
  }

  private static func values(_ lines: [Plot.Line]) -> [Double] {
    lines.flatMap { $0.points.compactMap(\.y) }
  }

  /// Returns the tooltip of a second.
  private static func words(of second: Series.Second, _ index: Int, _ lines: [Plot.Line])
    -> String
  {
    let values = lines.map { "\($0.name) \($0.points[index].y.map(Decimal.text) ?? "-")" }
    return "\(Decimal.text(second.start)) s: " + values.joined(separator: ", ")
  }

  // MARK: Whole run

  private static func histogram(of latencies: Latencies) -> Plot? {
    let lines = [Measure.ack, .deliver].compactMap { measure -> Plot.Line? in
      let steps = latencies.distribution(measure, perDecade: stepsPerDecade)
      guard let first = steps.first, let last = steps.last else { return nil }
      let total = Double(latencies.count(measure))
      let factor = steps.count > 1 ? steps[1].upTo / first.upTo : 1.3335
      var points: [(x: Double, y: Double?)] = [(first.upTo / factor, 0)]
      for step in steps {
        let share = Double(step.count) * 100 / total
        points.append((step.upTo / factor, share))
        points.append((step.upTo, share))
      }
      points.append((last.upTo, 0))
      return .init(name: measure.rawValue, points: points, isFilled: true)
    }
    guard !lines.isEmpty else { return nil }
    return Plot(
      title: "Histogram of latency",
      caption: "Percent of all, by milliseconds; \(stepsPerDecade) steps to a factor of ten.",
      across: .logarithmic(lines.flatMap { $0.points.map(\.x) }),
      upwards: .linear(0, values(lines).max() ?? 100), acrossUnit: "ms", lines: lines)
  }

  private static func curve(of latencies: Latencies) -> Plot? {
    let lines = Measure.allCases.compactMap { measure -> Plot.Line? in
      let points = latencies.curve(measure, perNine: 10)
      guard !points.isEmpty else { return nil }
      return .init(
        name: measure.rawValue, points: points.map { ($0.nines, max($0.milliseconds, 0.01)) })
    }
    guard !lines.isEmpty else { return nil }
    return Plot(
      title: "Percentiles",
      caption: "Milliseconds, logarithmic, by the share that was faster.",
      across: .nines(to: lines.flatMap { $0.points.map(\.x) }.max() ?? 1),
      upwards: .logarithmic(values(lines)), acrossUnit: "", lines: lines)
  }
}
