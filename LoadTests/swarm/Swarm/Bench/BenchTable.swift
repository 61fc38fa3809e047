/// The report as a text table.
public enum BenchTable {
  /// Returns the table; ends with a newline.
  public static func text(of report: BenchReport) -> String {
    var lines = report.facts.map { "\($0.name): \($0.text)" }
    lines.append("\(report.date), \(Decimal.text(report.seconds)) s")
    lines += report.warnings.map { "note: \($0)" }
    let pinned = report.rows.filter { !$0.isShared }
    let shared = report.rows.filter(\.isShared)
    if !pinned.isEmpty {
      lines += ["", "Server on one core, load on the other", ""] + table(pinned)
    }
    if !shared.isEmpty {
      lines += ["", "Two loops; server and load share both cores", ""] + table(shared)
    }
    let notes = notes(of: report)
    if !notes.isEmpty { lines += [""] + notes }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Returns the notes of each row.
  private static func notes(of report: BenchReport) -> [String] {
    report.rows.flatMap { row in
      ((row.fault.map { [$0] } ?? []) + row.notes
        + row.peers.filter { !$0.note.isEmpty }.map { "\($0.name): \($0.note)" })
        .map { "\(row.id): \($0)" }
    }
  }

  private static let titles = [
    "", "work", "", "floor", BenchRow.libraryName, "relay", "÷ floor", "÷ \(BenchRow.libraryName)",
    "goal", "met?", "peers",
  ]
  /// Text is aligned to the left, figures to the right.
  private static let isFigure = [
    false, false, false, true, true, true, true, true, true, false, false,
  ]
  /// The cell of what does not exist or was not measured.
  private static let absent = "-"

  private static func table(_ rows: [BenchRow]) -> [String] {
    let cells = [titles] + rows.map(cells)
    let widths = titles.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    // What no row has is left out.
    let columns = titles.indices.filter { column in
      cells.dropFirst().contains { $0[column] != absent }
    }
    return cells.map { row in
      var line = ""
      for (column, cell) in columns.map({ ($0, row[$0]) }) {
        let space = String(repeating: " ", count: widths[column] - cell.count)
        line += (isFigure[column] ? space + cell : cell + space) + "  "
      }
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }

  /// Returns the cells in the order of ``titles``.
  private static func cells(of row: BenchRow) -> [String] {
    [
      row.id, row.work, row.unit.rawValue,
      row.floor.map { figure($0, row.unit) } ?? absent,
      row.library?.figure.map { figure($0, row.unit) } ?? absent,
      row.relay.map { figure($0, row.unit) } ?? absent,
      spread(row.ratios), spread(row.libraryRatios),
      row.goal.map { goal($0, row) } ?? absent,
      met(row),
      row.otherPeers.map { "\($0.name) \($0.figure.map { figure($0, row.unit) } ?? absent)" }
        .joined(separator: " · "),
    ]
  }

  /// Formats the median, and the extremes if there are several values.
  private static func spread(_ values: [Double]) -> String {
    guard let median = BenchRow.median(values), let least = values.min(), let most = values.max()
    else { return absent }
    return hundredths(median)
      + (values.count > 1 ? " (\(hundredths(least))–\(hundredths(most)))" : "")
  }

  private static func met(_ row: BenchRow) -> String {
    if row.fault != nil { return "fault" }
    return row.isMet.map { $0 ? "yes" : "no" } ?? absent
  }

  private static func goal(_ goal: BenchRow.Goal, _ row: BenchRow) -> String {
    switch goal {
    case .ofLibrary(let factor): "≥ \(Decimal.short(factor)) × \(BenchRow.libraryName)"
    case .atLeast(let least): "≥ \(figure(least, row.unit))"
    case .atMost(let most): "≤ \(figure(most, row.unit))"
    }
  }

  static func figure(_ value: Double, _ unit: BenchRow.Unit) -> String {
    switch unit {
    case .deliveries, .connections, .connectionsByCPU, .entries: thousands(value)
    case .bytes: Decimal.short(value.rounded())
    case .milliseconds, .microseconds, .times: hundredths(value)
    }
  }

  /// Formats about three digits: `11.3 k`, `4.21 M`.
  private static func thousands(_ value: Double) -> String {
    switch value {
    case 1e6...: hundredths(value / 1e6) + " M"
    case 1e5...: Decimal.short((value / 1e3).rounded()) + " k"
    case 1e3...: Decimal.text(value / 1e3) + " k"
    default: Decimal.short(value.rounded())
    }
  }

  static func hundredths(_ value: Double) -> String {
    guard let all = Int64(exactly: (value * 100).rounded()) else { return "\(value)" }
    let rest = all.magnitude % 100
    return (all < 0 ? "-" : "") + "\(all.magnitude / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
