extension RawResult {
  /// One JSON object, without a line break.
  public var json: String {
    var json = JSONText()
    json.object { write(to: &$0) }
    return json.text
  }

  func write(to json: inout JSONText) {
    json.member("dialect", plan.dialect.name)
    switch plan.work {
    case .publish(.window(let window)):
      json.member("work", "window")
      json.member("window", Double(window))
    case .publish(.rate(let rate)):
      json.member("work", "rate")
      json.member("rate", rate)
    case .connect: json.member("work", "connect")
    case .idle: json.member("work", "idle")
    case .resume(let messages):
      json.member("work", "resume")
      json.member("messages", Double(messages))
    }
    json.member("rooms", Double(plan.allRooms.count))
    json.member("connections", Double(connections))
    json.member("text_bytes", Double(plan.textBytes))
    json.member("connects_per_s", connectsPerSecond)
    json.member("seconds", seconds)
    json.member("deliveries_per_s", deliveriesPerSecond)
    json.member("sends_per_s", sendsPerSecond)
    json.member("counts") { $0.object { write(counts, to: &$0) } }
    json.member("whole") { $0.object { write(whole, to: &$0) } }
    json.member("latency_ms") { $0.object { JSONReport.latencies(latencies, &$0) } }
    json.member("deliveries_per_own_cpu_s", deliveriesPerOwnCPUSecond)
    json.member("own_cores", ownCores)
    json.member("saturated", isSaturated)
    if let serverCPUSeconds { json.member("server_cpu_s", serverCPUSeconds) }
    if let databaseCPUSeconds { json.member("database_cpu_s", databaseCPUSeconds) }
    json.member("missing", Double(missing))
    json.member("connections_lost", Double(connectionsLost))
    if let lastError { json.member("last_error", lastError) }
  }

  private func write(_ counts: Counts, to json: inout JSONText) {
    json.member("deliveries", Double(counts.deliveries))
    json.member("frames", Double(counts.frames))
    json.member("bytes", Double(counts.bytes))
    json.member("acks", Double(counts.acks))
    json.member("sends", Double(counts.sends))
    json.member("refused", Double(counts.errors))
    json.member("reads", Double(counts.reads))
    json.member("own_cpu_s", counts.ownCPUSeconds)
  }
}

extension RawReport {
  /// Returns one JSON object: the scenario, the status, the members of `RawResult.json`, and the
  /// thresholds.
  public static func json(of played: RawScenario) -> String {
    var json = JSONText()
    json.object { json in
      json.member("scenario", played.scenario.name)
      json.member("raw", true)
      json.member("status", JSONReport.name(played.status))
      json.member("exit_code", Double(played.status.rawValue))
      played.result.write(to: &json)
      json.member("thresholds") { $0.object { JSONReport.thresholds(played.judgements, &$0) } }
      if let reason = played.voidReason { json.member("void", reason) }
    }
    return json.text + "\n"
  }
}
