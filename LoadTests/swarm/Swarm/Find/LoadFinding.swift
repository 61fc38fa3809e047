/// The result of a search for the largest load.
public struct LoadFinding: Sendable {
  /// Why a search ended.
  public enum End: Equatable, Sendable {
    /// The search is complete.
    case answered
    /// A run ended with a broken promise, or without a relay.
    case failed(Outcome.Status)
    /// The next load cannot be played as intended, for this reason.
    case obstacle(factor: Double, String)
    /// The user pressed Ctrl-C.
    case interrupted
  }

  /// The scenario's name.
  public var scenario: String
  /// The seed of all plans.
  public var seed: UInt64
  /// The relative precision of the answer.
  public var precision: Double
  /// The largest load to try, and the reason for this limit.
  public var most: (factor: Double, reason: String)
  /// In the order in which they were made.
  public var tries: [LoadTry] = []
  /// Why the search ended.
  public var end = End.answered

  /// Creates a finding without tries.
  public init(
    scenario: String, seed: UInt64, precision: Double, most: (factor: Double, reason: String)
  ) {
    self.scenario = scenario
    self.seed = seed
    self.precision = precision
    self.most = most
  }

  /// Returns the status line's beginning for the next try.
  public func caption(of factor: Double) -> String {
    "\(scenario) ×\(Decimal.short(factor)), try \(tries.count + 1)"
  }

  /// The largest load that passed.
  public var holds: LoadTry? {
    tries.filter { $0.result == .holds }.max { $0.factor < $1.factor }
  }

  /// The smallest load that failed twice: the last failed run, or the void one.
  public var fails: LoadTry? {
    let held = holds?.factor ?? 0
    let failed = tries.filter { $0.result != .holds && $0.factor > held }
    guard
      let factor = failed.map(\.factor).filter({ factor in
        failed.count { $0.factor == factor } > 1
      }).min()
    else { return nil }
    let runs = failed.filter { $0.factor == factor }
    return runs.last { $0.result == .void } ?? runs.last
  }

  /// The exit code, with the meaning that `swarm run` gives it: 0 found; 1 the smallest load fails;
  /// 2 a load cannot be played; 3; 4 the smallest load is void; 5; 130 interrupted.
  public var exitCode: Int32 {
    switch end {
    case .failed(let status): return status.rawValue
    case .obstacle: return 2
    case .interrupted: return 130
    case .answered:
      if holds != nil { return 0 }
      return (fails?.result == .void ? Outcome.Status.void : .thresholdMissed).rawValue
    }
  }

  /// The answer, one sentence per line.
  public var text: String {
    var lines: [String] = []
    if let holds { lines.append("holds at \(holds.name): \(holds.findings)") }
    switch end {
    case .answered:
      if let fails {
        let smallest = holds == nil ? ", the smallest load" : ""
        lines.append(
          fails.result == .void
            ? "at \(fails.name)\(smallest), swarm is the limit, not the relay: \(fails.findings)"
            : "misses at \(fails.name)\(smallest): \(fails.findings)")
      } else {
        lines.append(
          "×\(Decimal.short(most.factor)) is the largest load that was tried: \(most.reason)")
      }
    case .failed:
      if let last = tries.last { lines.append("ended at \(last.line)") }
    case .obstacle(let factor, let why):
      lines.append("×\(Decimal.short(factor)) cannot be measured: \(why)")
    case .interrupted: lines.append("interrupted: larger loads may pass as well")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// One JSON object; ends with a newline.
  public var json: String {
    let object: JSONObject = [
      "scenario": scenario, "seed": String(seed), "precision": precision, "most": most.factor,
      "end": endName, "exit_code": Int(exitCode), "holds_at": holds?.factor,
      "fails_at": fails?.factor,
      "limit": fails.map { $0.result == .void ? "swarm" : "relay" }, "tries": tries.map(\.json),
    ]
    return object.document
  }

  private var endName: String {
    switch end {
    case .answered: "answered"
    case .failed(let status): status.name
    case .obstacle: "cannot_be_measured"
    case .interrupted: "interrupted"
    }
  }
}

extension LoadTry {
  fileprivate var json: JSONObject {
    [
      "factor": factor, "messages_per_s": messagesPerSecond, "clients": clients,
      "seconds": seconds,
      "result": result == .holds ? "holds" : result == .misses ? "misses" : "void",
      "status": status.name, "detail": detail, "thresholds": JSONReport.thresholds(judgements),
      "swarm": load.json,
    ]
  }
}
