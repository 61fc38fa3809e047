/// The report as one JSON object; the meaning of keys is stable.
public enum JSONReport {
  /// Returns the JSON; ends with a newline.
  public static func text(of outcome: Outcome) -> String {
    var json = JSONText()
    json.object { json in
      json.member("scenario", outcome.plan.scenario)
      json.member("seed", String(outcome.plan.seed))
      json.member("mode", outcome.mode.rawValue)
      json.member("status", name(outcome.status))
      json.member("exit_code", Double(outcome.status.rawValue))
      json.member("seconds", outcome.seconds)
      json.member("interrupted", outcome.wasInterrupted)
      json.member("clients") { $0.object { clients(outcome, &$0) } }
      json.member("sends") { $0.object { sends(outcome.verdict, &$0) } }
      json.member("deliveries", Double(outcome.deliveries))
      json.member("relay_exits", Double(outcome.exits))
      if let told = outcome.forksTold { json.member("forks_told", Double(told)) }
      json.member("latency_ms") { $0.object { latencies(outcome.latencies, &$0) } }
      json.member("thresholds") { $0.object { thresholds(outcome.judgements, &$0) } }
      json.member("swarm") { $0.object { load(outcome.load, &$0) } }
      if let memory = outcome.memory {
        json.member("memory") { $0.object { self.memory(memory, &$0) } }
      }
      json.member("marks") { json in
        json.array(outcome.marks) { mark, json in
          json.object {
            $0.member("seconds", mark.seconds)
            $0.member("text", mark.text)
          }
        }
      }
      json.member("recoveries") { $0.array(outcome.recoveries) { TroubleReport.recovery($0, &$1) } }
      json.member("hostile") { $0.object { TroubleReport.hostilities(outcome, &$0) } }
      json.member("phases") { json in
        json.array(outcome.series.phases) { phase, json in
          json.object {
            $0.member("name", phase.name)
            $0.member("start", phase.start)
            $0.member("end", phase.end)
          }
        }
      }
      json.member("series") { $0.array(outcome.series.seconds) { second($0, &$1) } }
      json.member("broken") { json in
        json.object { json in
          for promise in Promise.allCases {
            if let count = outcome.violationCounts[promise] {
              json.member(promise.rawValue, Double(count))
            }
          }
        }
      }
      json.member("violations") { $0.array(outcome.violations) { violation($0, &$1) } }
      json.member("rooms") { json in
        json.object { json in
          for (room, digest) in outcome.verdict.digests.sorted(by: { $0.key < $1.key }) {
            json.member(room, String(digest, radix: 16))
          }
        }
      }
    }
    return json.text + "\n"
  }

  static func name(_ status: Outcome.Status) -> String {
    switch status {
    case .good: "good"
    case .thresholdMissed: "threshold_missed"
    case .promiseBroken: "promise_broken"
    case .void: "void"
    case .noConnection: "no_connection"
    }
  }

  private static func clients(_ outcome: Outcome, _ json: inout JSONText) {
    json.member("planned", Double(outcome.plan.honestCount + outcome.plan.clientsLeftOut))
    json.member("connected", Double(outcome.connected))
    json.member("left_out", Double(outcome.plan.clientsLeftOut))
    json.member("resumes", Double(outcome.resumes))
    json.member("connections_lost", Double(outcome.connectionsLost))
    json.member("attempts_failed", Double(outcome.attemptsFailed))
  }

  private static func sends(_ verdict: Oracle.Verdict, _ json: inout JSONText) {
    json.member("intended", Double(verdict.sends))
    json.member("acknowledged", Double(verdict.acknowledged))
    json.member("refused", Double(verdict.refused))
    json.member("missed", Double(verdict.missed))
    json.member("unknown_stored", Double(verdict.unknownStored))
    json.member("lost_in_forks", Double(verdict.lostInForks))
    json.member("unknown_absent", Double(verdict.unknownAbsent))
  }

  static func latencies(_ latencies: Latencies, _ json: inout JSONText) {
    for measure in Measure.allCases where latencies.count(measure) > 0 {
      json.member(measure.rawValue) { json in
        json.object { json in
          json.member("count", Double(latencies.count(measure)))
          for percentile in Percentile.allCases {
            json.member(percentile.rawValue, latencies.milliseconds(measure, percentile) ?? 0)
          }
        }
      }
    }
  }

  static func thresholds(_ judgements: [Outcome.Judgement], _ json: inout JSONText) {
    for judgement in judgements {
      json.member(judgement.threshold.key) { json in
        json.object {
          $0.member("limit", judgement.threshold.limitMilliseconds)
          if let measured = judgement.milliseconds { $0.member("measured", measured) }
          $0.member("met", judgement.isMet)
        }
      }
    }
  }

  static func load(_ load: Outcome.Load, _ json: inout JSONText) {
    json.member("lag_p99_ms", load.lagP99Milliseconds)
    json.member("lag_max_ms", load.lagMaxMilliseconds)
    json.member("cores", load.ownCores)
    if let relay = load.relayCores { json.member("relay_cores", relay) }
    if let reason = load.voidReason { json.member("void", reason) }
  }

  private static func memory(_ memory: Outcome.Memory, _ json: inout JSONText) {
    json.member("connections", Double(memory.connections))
    json.member("swarm_bytes_per_connection", memory.swarmBytesEach.rounded())
    if let relay = memory.relayBytesEach {
      json.member("relay_bytes_per_connection", relay.rounded())
    }
  }

  private static func second(_ second: Series.Second, _ json: inout JSONText) {
    json.object { json in
      json.member("start", second.start)
      json.member("length", second.length)
      json.member("sends", Double(second.sends))
      json.member("acks", Double(second.acks))
      json.member("deliveries", Double(second.deliveries))
      json.member("clients", Double(second.clients))
      if let value = second.ackP50 { json.member("ack_p50_ms", value) }
      if let value = second.ackP99 { json.member("ack_p99_ms", value) }
      if let value = second.ackMax { json.member("ack_max_ms", value) }
      if let value = second.deliverP50 { json.member("deliver_p50_ms", value) }
      if let value = second.deliverP99 { json.member("deliver_p99_ms", value) }
      if let value = second.deliverMax { json.member("deliver_max_ms", value) }
      if let value = second.relayCores { json.member("relay_cores", value) }
      if let value = second.relayBytes { json.member("relay_bytes", Double(value)) }
    }
  }

  private static func violation(_ violation: Violation, _ json: inout JSONText) {
    json.object { json in
      json.member("promise", violation.promise.rawValue)
      json.member("room", violation.room)
      json.member("seqs") { $0.array(violation.seqs) { $1.number(Double($0)) } }
      json.member("detail", violation.detail)
      json.member("frames") { $0.array(violation.frames) { $1.string($0) } }
    }
  }
}

/// A JSON writer (RFC 8259).
struct JSONText {
  private(set) var text = ""
  private var needsComma = false

  mutating func object(_ members: (inout JSONText) -> Void) {
    open("{")
    members(&self)
    close("}")
  }

  mutating func array<Element>(
    _ elements: [Element], _ element: (Element, inout JSONText) -> Void
  ) {
    open("[")
    for each in elements { element(each, &self) }
    close("]")
  }

  mutating func member(_ key: String, _ value: (inout JSONText) -> Void) {
    string(key)
    text += ":"
    needsComma = false
    value(&self)
  }

  mutating func member(_ key: String, _ value: String) { member(key) { $0.string(value) } }
  mutating func member(_ key: String, _ value: Double) { member(key) { $0.number(value) } }
  mutating func member(_ key: String, _ value: Bool) {
    member(key) { $0.raw(value ? "true" : "false") }
  }

  /// Writes integers without a decimal point.
  mutating func number(_ value: Double) {
    raw(Int64(exactly: value).map(String.init) ?? "\(value)")
  }

  mutating func string(_ value: String) {
    var quoted = "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\u{0}"..<" ":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    raw(quoted + "\"")
  }

  private mutating func raw(_ value: String) {
    separate()
    text += value
    needsComma = true
  }

  private mutating func open(_ bracket: String) {
    separate()
    text += bracket
    needsComma = false
  }

  private mutating func close(_ bracket: String) {
    text += bracket
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { text += "," }
  }
}
