/// The report as one JSON object; the meaning of keys is stable.
public enum JSONReport {
  /// Returns the JSON; ends with a newline.
  public static func text(of outcome: Outcome) -> String { object(of: outcome).document }

  private static func object(of outcome: Outcome) -> JSONObject {
    [
      "scenario": outcome.plan.scenario, "seed": String(outcome.plan.seed),
      "mode": outcome.mode.rawValue, "status": outcome.status.name,
      "exit_code": Int(outcome.status.rawValue), "seconds": outcome.seconds,
      "interrupted": outcome.wasInterrupted, "clients": clients(outcome),
      "sends": sends(outcome.verdict), "deliveries": outcome.deliveries,
      "relay_exits": outcome.exits, "forks_told": outcome.forksTold,
      "latency_ms": outcome.latencies.json, "thresholds": thresholds(outcome.judgements),
      "swarm": outcome.load.json, "memory": outcome.memory.map(memory),
      "marks": outcome.marks.map { ["seconds": $0.seconds, "text": $0.text] as JSONObject },
      "recoveries": outcome.recoveries.map(recovery), "hostile": hostile(outcome.hostilities),
      "phases": outcome.series.phases.map {
        ["name": $0.name, "start": $0.start, "end": $0.end] as JSONObject
      },
      "series": outcome.series.seconds.map(second),
      "broken": JSONObject(
        Promise.allCases.compactMap { promise in
          outcome.violationCounts[promise].map { (promise.rawValue, $0) }
        }),
      "violations": outcome.violations.map(violation),
      "rooms": JSONObject(
        outcome.verdict.digests.sorted { $0.key < $1.key }.map {
          ($0.key, String($0.value, radix: 16))
        }),
      "text": TextReport.text(of: outcome),
    ]
  }

  private static func clients(_ outcome: Outcome) -> JSONObject {
    [
      "planned": outcome.plan.honestCount + outcome.plan.clientsLeftOut,
      "connected": outcome.connected, "left_out": outcome.plan.clientsLeftOut,
      "resumes": outcome.resumes, "connections_lost": outcome.connectionsLost,
      "attempts_failed": outcome.attemptsFailed,
    ]
  }

  private static func sends(_ verdict: Oracle.Verdict) -> JSONObject {
    [
      "intended": verdict.sends, "acknowledged": verdict.acknowledged, "refused": verdict.refused,
      "missed": verdict.missed, "unknown_stored": verdict.unknownStored,
      "lost_in_forks": verdict.lostInForks, "unknown_absent": verdict.unknownAbsent,
    ]
  }

  static func thresholds(_ judgements: [Outcome.Judgement]) -> JSONObject {
    JSONObject(
      judgements.map { judgement in
        let members: JSONObject = [
          "limit": judgement.threshold.limitMilliseconds, "measured": judgement.milliseconds,
          "met": judgement.isMet,
        ]
        return (judgement.threshold.key, members)
      })
  }

  private static func memory(_ memory: Outcome.Memory) -> JSONObject {
    [
      "connections": memory.connections,
      "swarm_bytes_per_connection": memory.swarmBytesEach.rounded(),
      "relay_bytes_per_connection": memory.relayBytesEach?.rounded(),
    ]
  }

  private static func recovery(_ recovery: Outcome.Recovery) -> JSONObject {
    [
      "step": recovery.step, "seconds": recovery.seconds, "disconnected": recovery.disconnected,
      "unanswered": recovery.unanswered, "unavailable": recovery.unavailable,
      "recovered_ms": recovery.milliseconds,
    ]
  }

  private static func hostile(_ counts: [HostileAct: Outcome.HostileCount]) -> JSONObject {
    JSONObject(
      HostileAct.allCases.compactMap { act in
        counts[act].map { count in
          let members: JSONObject = [
            "attempted": count.attempted, "done": count.done, "ended_by_relay": count.endedByRelay,
          ]
          return (act.rawValue, members)
        }
      })
  }

  private static func second(_ second: Series.Second) -> JSONObject {
    [
      "start": second.start, "length": second.length, "sends": second.sends, "acks": second.acks,
      "deliveries": second.deliveries, "clients": second.clients, "ack_p50_ms": second.ackP50,
      "ack_p99_ms": second.ackP99, "ack_max_ms": second.ackMax,
      "deliver_p50_ms": second.deliverP50, "deliver_p99_ms": second.deliverP99,
      "deliver_max_ms": second.deliverMax, "relay_cores": second.relayCores,
      "relay_bytes": second.relayBytes,
    ]
  }

  private static func violation(_ violation: Violation) -> JSONObject {
    [
      "promise": violation.promise.rawValue, "room": violation.room,
      "seqs": violation.seqs.map(Int.init), "detail": violation.detail, "frames": violation.frames,
    ]
  }
}

extension Outcome.Status {
  /// The status in reports.
  var name: String {
    switch self {
    case .good: "good"
    case .thresholdMissed: "threshold_missed"
    case .promiseBroken: "promise_broken"
    case .void: "void"
    case .noConnection: "no_connection"
    }
  }
}

extension Outcome.Load {
  var json: JSONObject {
    [
      "lag_p99_ms": lagP99Milliseconds, "lag_max_ms": lagMaxMilliseconds, "cores": ownCores,
      "relay_cores": relayCores, "void": voidReason,
    ]
  }
}

extension Latencies {
  var json: JSONObject {
    JSONObject(
      Measure.allCases.filter { count($0) > 0 }.map { measure in
        let percentiles = Percentile.allCases.map { percentile -> (String, any JSONValue) in
          (percentile.rawValue, milliseconds(measure, percentile) ?? 0)
        }
        return (measure.rawValue, ["count": count(measure)] + JSONObject(percentiles))
      })
  }
}
