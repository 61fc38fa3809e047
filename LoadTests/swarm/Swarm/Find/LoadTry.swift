/// One run of a search, and its result.
public struct LoadTry: Sendable {
  /// The multiple of the scenario's load.
  public var factor: Double
  /// At the highest rate of its phases.
  public var messagesPerSecond: Double
  /// The number of clients that were to connect.
  public var clients: Int
  /// The duration of the run.
  public var seconds: Double
  /// What it says about the load.
  public var result: LoadSearch.Result
  /// The status of the run.
  public var status: Outcome.Status
  /// The thresholds and the measured values.
  public var judgements: [Outcome.Judgement]
  /// The resource use of swarm and the relay.
  public var load: Outcome.Load
  /// A problem other than a missed threshold; `nil` if there is none.
  public var detail: String?

  /// - Parameter scenario: The scenario that was played, with its load applied.
  public init(factor: Double, _ scenario: Scenario, _ outcome: Outcome) {
    self.factor = factor
    messagesPerSecond = scenario.peakMessagesPerSecond
    clients = outcome.plan.honestCount
    seconds = outcome.seconds
    status = outcome.status
    judgements = outcome.judgements
    load = outcome.load
    // A load without all of its clients does not pass, however fast the rest is.
    if outcome.connected < clients {
      detail =
        "\(outcome.connected) of \(clients) clients were connected"
        + (outcome.lastLoss.map { " (\($0))" } ?? "")
    } else if outcome.verdict.refused > 0 {
      detail =
        "\(outcome.verdict.refused) sends were refused"
        + (outcome.lastRefusal.map { " (\($0))" } ?? "")
    }
    switch outcome.status {
    case .void: result = .void
    case .good: result = detail == nil ? .holds : .misses
    case .thresholdMissed, .promiseBroken, .noConnection: result = .misses
    }
  }

  /// `×2 (360 messages/s): holds: ack p99 2.1 ms (at most 1000)`.
  public var line: String { "\(name): \(verb): \(findings)" }

  /// `×2 (360 messages/s)`.
  var name: String {
    "×\(Decimal.short(factor)) (\(Decimal.prefixed(messagesPerSecond.rounded())) messages/s)"
  }

  private var verb: String {
    switch (status, result) {
    case (.promiseBroken, _): "the relay broke a promise"
    case (.noConnection, _): "no connection"
    case (_, .holds): "holds"
    case (_, .misses): "misses"
    case (_, .void): "void"
    }
  }

  /// The reasons for a failure, or the measured values.
  var findings: String {
    if status == .noConnection, let detail { return detail }
    if result == .void, let reason = load.voidReason { return reason }
    let shown = result == .misses ? judgements.filter { !$0.isMet } : judgements
    var findings = shown.map { judgement in
      let threshold = judgement.threshold
      return
        "\(threshold.measure.rawValue) \(TextReport.title(threshold.percentile)) \(judgement.measured)"
        + " (at most \(Decimal.short(threshold.limitMilliseconds)))"
    }
    if let detail { findings.append(detail) }
    return findings.isEmpty ? "see the report" : findings.joined(separator: ", ")
  }
}
