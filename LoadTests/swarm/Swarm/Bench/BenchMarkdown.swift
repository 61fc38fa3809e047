/// The tables of a report as sections of documents, in Markdown.
public enum BenchMarkdown {
  /// Why a report has no tables for documents; prints as a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    /// A single line for the user.
    public var description: String
  }

  /// The rows of the short table.
  static let mainRows = [
    "echo-1", "echo-16", "room-1", "room-8", "room-32", "dms-1", "dms-8", "connects", "idle",
  ]
  private static let absent = "–"
  /// The width of the longest bar.
  private static let barCharacters = 40
  /// The value of the longest bar, relative to the line; larger ones are cut off.
  private static let longestBar = 3.0

  /// Returns the sections by name: `bench-figures`, a short table; `bench-rows`, all of the report.
  public static func sections(of report: BenchReport) throws(Failure) -> [String: String] {
    guard report.extent != .quick else {
      throw Failure(description: "a quick run has no figures for documents: run `make bench`")
    }
    for id in mainRows {
      guard let row = report.rows.first(where: { $0.id == id }) else {
        throw Failure(description: "the report has no row \(id): run `make bench` without --rows")
      }
      if let fault = row.fault {
        throw Failure(description: "the row \(id) has a fault, not a figure: \(fault)")
      }
    }
    return ["bench-figures": figures(report), "bench-rows": rows(report)]
  }

  // MARK: The short table

  private static func figures(_ report: BenchReport) -> String {
    let rows = mainRows.compactMap { id in report.rows.first { $0.id == id } }
    var others: [String] = []
    for peer in rows.flatMap(\.otherPeers) where peer.figure != nil && !others.contains(peer.name) {
      others.append(peer.name)
    }
    let hasLibrary = rows.contains { $0.library?.figure != nil }
    let titles =
      ["work", "floor"] + (hasLibrary ? [BenchRow.libraryName] : []) + ["relay", "÷ floor"]
      + (hasLibrary ? ["÷ \(BenchRow.libraryName)"] : []) + others
    let cells = rows.map { row in
      let unit = row.unit == .deliveries ? "" : ", \(row.unit.rawValue)"
      var cells = [row.work + unit, figure(row.floor, row)]
      if hasLibrary { cells.append(figure(row.library?.figure, row)) }
      cells += [figure(row.relay, row), ratio(row.ratio)]
      if hasLibrary { cells.append(ratio(row.libraryRatio)) }
      return cells
        + others.map { name in figure(row.peers.first { $0.name == name }?.figure, row) }
    }
    return table(titles, cells, isFigure: titles.map { $0 != titles[0] }) + "\n" + origin(report)
      + "\n"
  }

  /// Returns when and where the report was made, as a line.
  private static func origin(_ report: BenchReport) -> String {
    func fact(_ name: String) -> String? { report.facts.first { $0.name == name }?.text }
    var parts = ["\(report.date.prefix(10))"]
    if let commit = fact("commit") { parts.append("commit `\(commit)`") }
    if let cores = fact("cores"), let processor = fact("processor") {
      parts.append("\(cores) cores (\(processor))")
    }
    if let kernel = fact("kernel") { parts.append(kernel) }
    let warnings = report.warnings.map { " Note: \($0)." }.joined()
    return parts.joined(separator: ", ") + "." + warnings
  }

  // MARK: The whole report

  private static func rows(_ report: BenchReport) -> String {
    var text = origin(report) + "\n"
    let told: Set = ["processor", "cores", "kernel", "commit"]
    for fact in report.facts where !told.contains(fact.name) {
      text += "\n- \(fact.name): \(fact.text)"
    }
    text += "\n\n"
    let cells = report.rows.map { row in
      [
        "`\(row.id)`", row.work, row.unit.rawValue, figure(row.floor, row),
        figure(row.library?.figure, row), figure(row.relay, row),
        ratio(row.ratio, row.pairs.filter { $0.floor > 0 }.map { $0.relay / $0.floor }),
        ratio(row.libraryRatio, row.libraryRatios),
        row.goal.map { BenchTable.goal($0, row) } ?? absent,
        row.fault == nil ? row.isMet.map { $0 ? "yes" : "no" } ?? absent : "fault",
        row.otherPeers.isEmpty
          ? absent
          : row.otherPeers.map { "\($0.name) \(figure($0.figure, row))" }.joined(separator: ", "),
      ]
    }
    text += table(
      ["row", "work", "unit"] + BenchTable.titles.dropFirst(3), cells,
      isFigure: BenchTable.isFigure)
    let compared = report.rows.filter { $0.unit != .bytes }
    text += chart("relay ÷ \(BenchRow.libraryName)", compared, limit: nil, \.libraryRatio)
    text += chart("relay ÷ floor", compared, limit: nil, \.ratio)
    let slopes = report.rows.filter { $0.unit == .times && $0.fault == nil }
    text += chart("growth of a cost", slopes, limit: 1.2, \.relay)
    let notes = BenchTable.notes(of: report)
    if !notes.isEmpty { text += "\n" + notes.map { "- \($0)\n" }.joined() }
    return text
  }

  /// Draws bars; a line marks the limit, or 1.
  private static func chart(
    _ title: String, _ rows: [BenchRow], limit: Double?, _ value: (BenchRow) -> Double?
  ) -> String {
    let bars = rows.compactMap { row in value(row).map { (name: row.id, value: $0) } }
    guard !bars.isEmpty else { return "" }
    let mark = limit ?? 1
    // One large value must not make the others invisible.
    let full = min(max(mark, bars.map(\.value).max() ?? 0), longestBar * mark)
    let place = Int((mark / full * Double(barCharacters)).rounded())
    let names = bars.map(\.name.count).max() ?? 0
    let figures = bars.map { BenchTable.hundredths($0.value) }
    let digits = figures.map(\.count).max() ?? 0
    let lines = zip(bars, figures).map { bar, figure in
      let length = Int((min(bar.value, full) / full * Double(barCharacters)).rounded())
      var cells = Array(repeating: Character("█"), count: length)
      cells += Array(repeating: " ", count: max(0, place + 1 - length))
      cells[place] = length > place ? "▓" : "│"
      if bar.value > full { cells.append("▶") }
      let space = String(repeating: " ", count: names - bar.name.count)
      let indent = String(repeating: " ", count: digits - figure.count)
      return "\(bar.name)\(space)  \(indent)\(figure)  \(String(cells))"
    }
    return """

      <!-- not run: a picture -->
      ```
      \(title); the line is at \(BenchTable.hundredths(mark))

      \(lines.joined(separator: "\n"))
      ```

      """
  }

  // MARK: Cells

  private static func figure(_ value: Double?, _ row: BenchRow) -> String {
    value.map { BenchTable.figure($0, row.unit) } ?? absent
  }

  /// - Parameter extremes: What the smallest and the largest are taken from.
  private static func ratio(_ value: Double?, _ extremes: [Double] = []) -> String {
    guard let value else { return absent }
    guard extremes.count > 1, let least = extremes.min(), let most = extremes.max() else {
      return BenchTable.hundredths(value)
    }
    return
      "\(BenchTable.hundredths(value)) (\(BenchTable.hundredths(least))–\(BenchTable.hundredths(most)))"
  }

  /// - Parameter isFigure: Whether a column is aligned to the right.
  private static func table(
    _ titles: [String], _ rows: [[String]], isFigure: [Bool]
  ) -> String {
    let alignments = isFigure.map { $0 ? "---:" : "---" }
    return ([titles, alignments] + rows).map { cells in
      "| "
        + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ")
        + " |\n"
    }.joined()
  }
}
