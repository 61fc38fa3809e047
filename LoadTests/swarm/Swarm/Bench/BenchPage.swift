/// The report as one HTML page with plots, without scripts, suitable for phones.
public enum BenchPage {
  /// Returns the whole document.
  public static func text(of report: BenchReport) -> String {
    var page = Markup(prolog: "<!DOCTYPE html>\n")
    page.element("html", ["lang": "en"]) { page in
      page.element("head") { page in
        page.empty("meta", ["charset": "utf-8"])
        page.empty("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        page.element("title", "Benchmark, \(report.date) · swarm")
        page.style(HTMLReport.style)
      }
      page.element("body") { page in
        page.element("h1", "swarm bench, \(report.date)")
        verdict(report, &page)
        rows("Server on one core, load on the other", report.rows.filter { !$0.isShared }, &page)
        rows("Two loops; server and load share both cores", report.rows.filter(\.isShared), &page)
        page.element("h2", "Plots")
        page.element("div", ["class": "plots"]) { page in
          for plot in plots(of: report) { plot.write(to: &page) }
        }
        notes(report, &page)
        page.element("h2", "Machine")
        page.table(["", ""]) { page in
          for fact in report.facts {
            page.element("tr") { page in
              page.element("td", fact.name)
              page.element("td", ["class": "words"], fact.text)
            }
          }
        }
      }
    }
    return page.text
  }

  private static func verdict(_ report: BenchReport, _ page: inout Markup) {
    let judged = report.rows.compactMap(\.isMet)
    let met = judged.filter(\.self).count
    let faults = report.rows.filter { $0.fault != nil }.count
    let style = faults > 0 ? "bad" : met == judged.count ? "good" : "warn"
    page.element("div", ["class": "verdict \(style)"]) { page in
      page.element(
        "strong",
        "\(met) of \(judged.count) goals met" + (faults > 0 ? ", \(faults) faults" : ""))
      for warning in report.warnings { page.element("p", warning) }
      page.element(
        "p", ["class": "quiet"],
        "Deliveries per second of the server's processor time, all threads, until the server is idle"
          + " again. Floor: a program that makes the system calls and nothing else.")
    }
  }

  private static func rows(_ title: String, _ rows: [BenchRow], _ page: inout Markup) {
    guard !rows.isEmpty else { return }
    page.element("h2", title)
    page.table(Array(BenchTable.titles.dropFirst())) { page in
      for row in rows {
        let cells = BenchTable.cells(of: row)
        page.element("tr") { page in
          page.element("td", cells[1])
          for cell in cells[2...8] { page.element("td", cell) }
          page.element("td") { page in
            let style = row.fault != nil ? "bad" : row.isMet == false ? "warn" : "good"
            page.element("b", ["class": style], cells[9])
          }
          page.element("td", ["class": "words"], cells[10])
        }
      }
    }
  }

  private static func notes(_ report: BenchReport, _ page: inout Markup) {
    let notes = BenchTable.notes(of: report)
    guard !notes.isEmpty else { return }
    page.element("h2", "Notes")
    for note in notes { page.element("p", note) }
  }

  // MARK: Plots

  static func plots(of report: BenchReport) -> [Plot] {
    let rows = report.rows.filter { !$0.pairs.isEmpty }
    let (apart, shared) = (rows.filter { !$0.isShared }, rows.filter(\.isShared))
    return [
      relay(apart, "Relay, relative to the floor"), library(apart), peers(apart),
      relay(shared, "Two loops, relative to the floor"),
    ].compactMap { $0 } + report.rows.compactMap(sweep)
  }

  /// Plots the ratios with the spread of each row's pairs, which shows how reliable they are.
  private static func relay(_ rows: [BenchRow], _ title: String) -> Plot? {
    ratios(
      rows, title,
      "Median and extremes of each row's pairs.",
      [
        ("highest", { $0.pairs.map { $0.relay / max($0.floor, 1) }.max() }),
        ("lowest", { $0.pairs.map { $0.relay / max($0.floor, 1) }.min() }),
        ("relay", { $0.ratio }),
      ])
  }

  private static func library(_ rows: [BenchRow]) -> Plot? {
    ratios(
      rows.filter { !$0.libraryRatios.isEmpty }, "Relay, relative to \(BenchRow.libraryName)",
      "Median and extremes of each row's pairs; 1 is as fast.",
      [
        ("highest", { $0.libraryRatios.max() }), ("lowest", { $0.libraryRatios.min() }),
        ("as fast", { _ in 1 }), ("relay", { $0.libraryRatio }),
      ])
  }

  private static func peers(_ rows: [BenchRow]) -> Plot? {
    var names: [String] = []
    for peer in rows.flatMap(\.otherPeers) where !names.contains(peer.name) {
      names.append(peer.name)
    }
    return ratios(
      rows.filter { !$0.otherPeers.isEmpty }, "Other servers, relative to the floor",
      "Measured once each.",
      names.prefix(4).map { name in
        (
          name,
          { row in
            let figure = row.peers.first { $0.name == name }?.figure
            return figure.flatMap { figure in row.floor.map { figure / max($0, 1) } }
          }
        )
      })
  }

  private static func ratios(
    _ rows: [BenchRow], _ title: String, _ caption: String,
    _ lines: [(name: String, value: (BenchRow) -> Double?)]
  ) -> Plot? {
    guard !rows.isEmpty, !lines.isEmpty else { return nil }
    let width = Double(rows.count)
    let highest = lines.flatMap { line in rows.compactMap(line.value) }.max() ?? 1
    return Plot(
      title: title, caption: caption,
      across: Axis(low: 0, high: width, isLogarithmic: false, ticks: []),
      upwards: .linear(0, max(highest, 1)), acrossUnit: "",
      lines: lines.map { line in
        // Isolated points: the `nil` between two rows interrupts the line.
        .init(
          name: line.name,
          points: rows.enumerated().flatMap { index, row in
            [(Double(index) + 0.5, line.value(row)), (Double(index) + 0.75, nil)]
          })
      },
      bands: rows.enumerated().map { .init(name: $1.id, from: Double($0), to: Double($0 + 1)) },
      columns: rows.enumerated().map { index, row in
        let figures = lines.compactMap { line in
          line.value(row).map { "\(line.name) \(BenchTable.figure($0, .times))" }
        }
        return .init(
          name: "\(row.work): \(figures.joined(separator: ", "))", from: Double(index),
          to: Double(index + 1))
      })
  }

  private static func sweep(_ row: BenchRow) -> Plot? {
    guard !row.points.isEmpty else { return nil }
    var names: [String] = []
    for point in row.points where !names.contains(point.line) { names.append(point.line) }
    return Plot(
      title: row.id,
      caption: row.points[0].line == "bytes"
        ? "Bytes by count, both logarithmic."
        : "µs of processor time by count, both logarithmic.",
      across: .logarithmic(row.points.map(\.x)), upwards: .logarithmic(row.points.map(\.y)),
      acrossUnit: "",
      lines: names.prefix(4).map { name in
        .init(name: name, points: row.points.filter { $0.line == name }.map { ($0.x, $0.y) })
      })
  }
}
