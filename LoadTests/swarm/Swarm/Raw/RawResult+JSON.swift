extension RawResult {
  fileprivate var json: JSONObject {
    work + [
      "rooms": plan.allRooms.count, "connections": connections, "text_bytes": plan.textBytes,
      "connects_per_s": connectsPerSecond, "seconds": seconds,
      "deliveries_per_s": deliveriesPerSecond, "sends_per_s": sendsPerSecond,
      "counts": counts.json, "whole": whole.json, "latency_ms": latencies.json,
      "deliveries_per_own_cpu_s": deliveriesPerOwnCPUSecond, "own_cores": ownCores,
      "saturated": isSaturated, "server_cpu_s": serverCPUSeconds,
      "database_cpu_s": databaseCPUSeconds, "missing": missing,
      "connections_lost": connectionsLost, "last_error": lastError,
    ]
  }

  private var work: JSONObject {
    let dialect = plan.dialect.name
    return switch plan.work {
    case .publish(.window(let window)):
      ["dialect": dialect, "work": "window", "window": window]
    case .publish(.rate(let rate)): ["dialect": dialect, "work": "rate", "rate": rate]
    case .connect: ["dialect": dialect, "work": "connect"]
    case .idle: ["dialect": dialect, "work": "idle"]
    case .resume(let messages):
      ["dialect": dialect, "work": "resume", "messages": messages]
    }
  }
}

extension RawResult.Counts {
  fileprivate var json: JSONObject {
    [
      "deliveries": deliveries, "frames": frames, "bytes": bytes, "acks": acks, "sends": sends,
      "refused": errors, "reads": reads, "own_cpu_s": ownCPUSeconds,
    ]
  }
}

extension RawReport {
  /// Returns one JSON object: the scenario, the status, the result, the thresholds, and the text.
  public static func json(of played: RawScenario) -> String {
    let head: JSONObject = [
      "scenario": played.scenario.name, "raw": true, "status": played.status.name,
      "exit_code": Int(played.status.rawValue),
    ]
    let tail: JSONObject = [
      "thresholds": JSONReport.thresholds(played.judgements), "void": played.voidReason,
      "text": text(of: played),
    ]
    return (head + played.result.json + tail).document
  }
}
