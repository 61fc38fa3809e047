/// The report as a self-contained HTML page without scripts, suitable for phones.
public enum HTMLReport {
  /// Returns the whole document.
  public static func text(of outcome: Outcome) -> String {
    var page = Markup(prolog: "<!DOCTYPE html>\n")
    page.element("html", ["lang": "en"]) { page in
      page.element("head") { page in
        page.empty("meta", ["charset": "utf-8"])
        page.empty(
          "meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        page.element("title", "\(headline(outcome).word): \(outcome.plan.scenario) · swarm")
        page.style(style)
      }
      page.element("body") { page in
        page.element("h1", "swarm: \(outcome.plan.scenario), seed \(outcome.plan.seed)")
        verdict(outcome, &page)
        tiles(outcome, &page)
        thresholds(outcome.judgements, &page)
        violations(outcome, &page)
        page.element("h2", "Plots")
        page.element("div", ["class": "plots"]) { page in
          for plot in plots(of: outcome) { plot.write(to: &page) }
        }
        percentiles(outcome.latencies, &page)
        marks(outcome, &page)
        page.element("h2", "Counts")
        for line in TextReport.counts(of: outcome) { page.element("p", line) }
      }
    }
    return page.text
  }

  /// Returns the verdict in a word or two, and its colour.
  static func headline(_ outcome: Outcome) -> (word: String, style: String) {
    switch outcome.status {
    case .good: ("Good", "good")
    case .thresholdMissed: ("Too slow", "warn")
    case .promiseBroken: ("A promise was broken", "bad")
    case .void: ("Void", "warn")
    case .noConnection: ("No connection", "bad")
    }
  }

  private static func verdict(_ outcome: Outcome, _ page: inout Markup) {
    let (word, style) = headline(outcome)
    page.element("div", ["class": "verdict \(style)"]) { page in
      page.element("strong", outcome.wasInterrupted ? "\(word), and interrupted" : word)
      page.element("p", TextReport.verdict(of: outcome))
      let planned = outcome.plan.clients.count - outcome.plan.clientsLeftOut
      page.element(
        "p", ["class": "quiet"],
        "\(Decimal.text(outcome.seconds)) s, \(outcome.connected) of \(planned) clients,"
          + " \(outcome.plan.rooms.count) rooms")
    }
  }

  private static func tiles(_ outcome: Outcome, _ page: inout Markup) {
    func milliseconds(_ measure: Measure) -> String? {
      outcome.latencies.milliseconds(measure, .p99).map { "\(Decimal.text($0)) ms" }
    }
    let peak = outcome.series.seconds.compactMap(\.relayBytes).max()
    let tiles: [(String, String?)] = [
      ("ack p99", milliseconds(.ack)), ("deliver p99", milliseconds(.deliver)),
      ("acknowledged", "\(outcome.verdict.acknowledged) of \(outcome.verdict.sends)"),
      ("deliveries, all checked", "\(outcome.deliveries)"),
      ("relay, share of a core", outcome.load.relayCores.map { "\(Decimal.text($0 * 100)) %" }),
      ("relay, peak memory", peak.map { "\(Decimal.text(Double($0) / 1_048_576)) MiB" }),
      ("relay, bytes per connection", outcome.memory?.relayBytesEach.map { "\(Int($0))" }),
      ("connections lost", "\(outcome.connectionsLost)"), ("resumes", "\(outcome.resumes)"),
    ]
    page.element("dl", ["class": "tiles"]) { page in
      for case (let name, let value?) in tiles {
        page.element("div") { page in
          page.element("dt", name)
          page.element("dd", value)
        }
      }
    }
  }

  private static func thresholds(_ judgements: [Outcome.Judgement], _ page: inout Markup) {
    guard !judgements.isEmpty else { return }
    page.element("h2", "Thresholds")
    page.table(["threshold", "limit, ms", "measured", ""]) { page in
      for judgement in judgements {
        page.element("tr") { page in
          page.element("td", judgement.threshold.key)
          page.element("td", Decimal.text(judgement.threshold.limitMilliseconds))
          page.element("td", judgement.milliseconds.map(Decimal.text) ?? "nothing")
          page.element("td") { page in
            page.element(
              "b", ["class": judgement.isMet ? "good" : "bad"],
              judgement.isMet ? "met" : "missed")
          }
        }
      }
    }
  }

  private static func violations(_ outcome: Outcome, _ page: inout Markup) {
    guard !outcome.violationCounts.isEmpty else { return }
    page.element("h2", "Broken promises")
    for promise in Promise.allCases {
      guard let count = outcome.violationCounts[promise] else { continue }
      page.element("p") { page in
        page.element("b", ["class": "bad"], promise.rawValue)
        page.words(" \(count) times: \(promise.sentence(in: outcome.mode))")
      }
    }
    for violation in outcome.violations.prefix(TextReport.shownViolations) {
      page.element("pre", violation.description)
    }
    let rest = outcome.violationCounts.values.reduce(0, +) - TextReport.shownViolations
    if rest > 0 { page.element("p", "and \(rest) more") }
  }

  private static func percentiles(_ latencies: Latencies, _ page: inout Markup) {
    page.element("h2", "Latency in milliseconds, from the intended time")
    page.table(["", "count"] + Percentile.allCases.map(TextReport.title)) { page in
      for measure in Measure.allCases where latencies.count(measure) > 0 {
        page.element("tr") { page in
          page.element("td", measure.rawValue)
          page.element("td", "\(latencies.count(measure))")
          for percentile in Percentile.allCases {
            page.element("td", latencies.milliseconds(measure, percentile).map(Decimal.text) ?? "-")
          }
        }
      }
    }
  }

  private static func marks(_ outcome: Outcome, _ page: inout Markup) {
    guard !outcome.marks.isEmpty else { return }
    page.element("h2", "Events")
    page.table(["second", ""]) { page in
      for mark in outcome.marks {
        page.element("tr") { page in
          page.element("td", Decimal.text(mark.seconds))
          page.element("td", ["class": "words"], mark.text)
        }
      }
    }
  }
}
