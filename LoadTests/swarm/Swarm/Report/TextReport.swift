/// The text report at the end of a run.
public enum TextReport {
  /// The maximum number of violations shown, each with the frames around it.
  private static let shownViolations = 5

  /// Several lines, the verdict last.
  public static func text(of outcome: Outcome) -> String {
    var lines: [String] = []
    let plan = outcome.plan
    lines.append(
      "scenario \(plan.scenario), seed \(plan.seed): \(Decimal.text(outcome.seconds)) s,"
        + " \(outcome.connected) of \(plan.honestCount) clients,"
        + " \(plan.rooms.count) rooms")
    lines += [""] + table(of: outcome.latencies) + [""] + counts(of: outcome)
    for mark in outcome.marks { lines.append("at \(Decimal.text(mark.seconds)) s: \(mark.text)") }
    lines += TroubleReport.lines(of: outcome)
    lines += outcome.judgements.map(\.line) + violations(of: outcome)
    lines.append(
      outcome.wasInterrupted
        ? "interrupted: the rest of the run was not checked" : verdict(of: outcome))
    return lines.joined(separator: "\n") + "\n"
  }

  /// A line for each measure, in milliseconds.
  static func table(of latencies: Latencies) -> [String] {
    [row("ms", ["count"] + Percentile.allCases.map(title))]
      + Measure.allCases.filter { latencies.count($0) > 0 }.map { measure in
        let values = Percentile.allCases.map { percentile in
          latencies.milliseconds(measure, percentile).map(Decimal.text) ?? "-"
        }
        return row(measure.rawValue, ["\(latencies.count(measure))"] + values)
      }
  }

  private static func counts(of outcome: Outcome) -> [String] {
    let verdict = outcome.verdict
    let sends =
      outcome.mode == .echo
      ? "sends: \(verdict.sends) intended, \(verdict.acknowledged) came back,"
        + " \(verdict.missed) missed (never left)"
      : "sends: \(verdict.sends) intended, \(verdict.acknowledged) acknowledged,"
        + " \(verdict.refused) refused, \(verdict.missed) missed (never left),"
        + " \(verdict.unknownStored + verdict.unknownAbsent) of unknown outcome"
        + " (\(verdict.unknownStored) of them are in the log)"
    var lines = [
      sends,
      "deliveries: \(outcome.deliveries), every one checked;"
        + " \(outcome.resumes) resumes, \(outcome.connectionsLost) connections lost"
        + (outcome.attemptsFailed > 0
          ? ", \(outcome.attemptsFailed) failed attempts to connect" : "")
        + (outcome.lastLoss.map { " (the last: \($0))" } ?? ""),
      "swarm: \(Decimal.text(outcome.load.ownCores * 100)) % of a core, lag p99"
        + " \(Decimal.text(outcome.load.lagP99Milliseconds)) ms, max"
        + " \(Decimal.text(outcome.load.lagMaxMilliseconds)) ms"
        + (outcome.load.relayCores.map { "; relay: \(Decimal.text($0 * 100)) % of a core" } ?? ""),
    ]
    if let memory = outcome.memory {
      lines.append(
        "memory per connection, at \(memory.connections) of them: swarm"
          + " \(Int(memory.swarmBytesEach)) bytes"
          + (memory.relayBytesEach.map { ", relay \(Int($0)) bytes" } ?? "")
          + " (resident, in addition to the memory before the first)")
    }
    if let told = outcome.forksTold {
      lines.append(
        "forks: clients were told \(told) times; \(verdict.lostInForks) acknowledged messages were"
          + " lost in them")
    }
    if outcome.exits > 0 { lines.append("relays exited by themselves \(outcome.exits) times") }
    if let refusal = outcome.lastRefusal { lines.append("the last refusal: \(refusal)") }
    if outcome.plan.clientsLeftOut > 0 {
      lines.append(
        "the phases have no connections for \(outcome.plan.clientsLeftOut) of the clients")
    }
    if outcome.plan.messagesLeftOut > 0 {
      lines.append(
        "\(outcome.plan.messagesLeftOut) messages had no connected sender")
    }
    return lines
  }

  private static func violations(of outcome: Outcome) -> [String] {
    guard !outcome.violationCounts.isEmpty else { return [] }
    var lines = [""]
    for promise in Promise.allCases {
      guard let count = outcome.violationCounts[promise] else { continue }
      lines.append(
        "BROKEN \(promise.rawValue), \(count) times: \(promise.sentence(in: outcome.mode))")
    }
    for violation in outcome.violations.prefix(shownViolations) {
      lines.append("  \(violation.description.split(separator: "\n").joined(separator: "\n  "))")
    }
    let rest = outcome.violationCounts.values.reduce(0, +) - shownViolations
    if rest > 0 { lines.append("  and \(rest) more") }
    return lines
  }

  /// One sentence.
  private static func verdict(of outcome: Outcome) -> String {
    switch outcome.status {
    case .good where outcome.mode == .echo:
      "good: every message came back once, in order, as it was sent"
    case .good:
      "good: no acknowledged message lost or doubled, no gap, one order and one content everywhere"
    case .thresholdMissed: "a threshold was missed; every promise was kept"
    case .promiseBroken:
      outcome.mode == .echo ? "the echo is faulty: see above" : "the relay broke a promise"
    case .void: "void: \(outcome.load.voidReason ?? "")"
    case .noConnection:
      outcome.connected == 0
        ? "no connection to \(outcome.url): \(outcome.lastLoss ?? "no client could connect");"
          + " check whether a relay runs there"
        : "no connection: \(outcome.verdict.unreadRooms.count) rooms could not be read after the run"
    }
  }

  static func title(_ percentile: Percentile) -> String {
    percentile == .max ? "max" : "p\(percentile.percent.description)".replacingSuffix(".0", by: "")
  }

  private static func row(_ name: String, _ values: [String]) -> String {
    let first = name + String(repeating: " ", count: max(0, 8 - name.count))
    return first
      + values.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
  }
}

extension Outcome.Judgement {
  /// What was measured, for a person.
  var measured: String { milliseconds.map { "\(Decimal.text($0)) ms" } ?? "nothing measured" }

  /// The threshold, the measured value and the result.
  var line: String {
    "threshold \(threshold.key): \(Decimal.text(threshold.limitMilliseconds)): \(measured):"
      + (isMet ? " met" : " MISSED")
  }
}

extension String {
  func replacingSuffix(_ suffix: String, by other: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) + other : self
  }
}
