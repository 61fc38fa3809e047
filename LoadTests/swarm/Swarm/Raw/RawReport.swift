/// The text report of a raw load.
public enum RawReport {
  /// Several lines, the verdict last.
  public static func text(of played: RawScenario) -> String {
    let result = played.result
    var lines = [
      "scenario \(played.scenario.name), raw \(result.plan.dialect.name), \(pace(of: result)):"
        + " \(result.connections) connections in \(result.plan.allRooms.count) rooms,"
        + " \(Decimal.text(result.seconds)) s after \(Decimal.text(result.plan.warmUpSeconds))",
      "",
      "deliveries  \(whole(result.deliveriesPerSecond))/s",
      "sends       \(whole(result.sendsPerSecond))/s",
    ]
    if result.counts.acks > 0 {
      lines.append("acks        \(whole(Double(result.counts.acks) / result.seconds))/s")
    }
    if result.counts.deliveries > 0 {
      let bytes = Double(result.counts.bytes) / Double(result.counts.deliveries)
      lines.append("bytes       \(Decimal.text(bytes)) per delivery, of everything received")
    }
    lines.append("connects    \(whole(result.connectsPerSecond))/s to members")
    lines += [""] + TextReport.table(of: result.latencies)
    lines += [
      "one delivery in \(result.plan.sampleEvery) is timed, from \(clock(of: result))", "",
      "swarm: \(Decimal.text(result.ownCores * 100)) % of a core,"
        + " \(whole(result.deliveriesPerOwnCPUSecond)) deliveries per second of it",
    ]
    if let cpu = result.serverCPUSeconds {
      let rate = cpu > 0 ? Double(result.counts.deliveries) / cpu : 0
      lines.append(
        "relay: \(Decimal.text(cpu / max(result.seconds, 0.001) * 100)) % of a core,"
          + " \(whole(rate)) deliveries per second of it")
    }
    if let cpu = result.databaseCPUSeconds {
      lines.append(
        "PostgreSQL: \(Decimal.text(cpu / max(result.seconds, 0.001) * 100)) % of a core")
    }
    lines += troubles(of: result) + played.judgements.map(\.line) + [verdict(of: played)]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func troubles(of result: RawResult) -> [String] {
    var lines: [String] = []
    if result.isSaturated, case .publish(.window) = result.plan.work {
      lines.append(
        "swarm's thread was the limit: the server may be faster than these figures")
    }
    if result.whole.deliveries == 0, result.whole.frames > result.whole.acks {
      lines.append(
        "\(result.whole.frames) messages were received, but none begins like a delivery of"
          + " \(result.plan.dialect.name): \(result.plan.dialect.deliveryPrefix ?? "")")
    }
    if result.whole.errors > 0 || result.connectionsLost > 0 {
      lines.append(
        "\(result.whole.errors) sends refused, \(result.connectionsLost) connections lost"
          + (result.lastError.map { " (the last: \($0))" } ?? ""))
    }
    return lines
  }

  private static func verdict(of played: RawScenario) -> String {
    let result = played.result
    switch played.status {
    case .promiseBroken:
      return result.missing > 0
        ? "\(result.missing) deliveries are missing: nothing was received for"
          + " \(result.plan.patienceMilliseconds) ms"
        : "\(-result.missing) deliveries were never sent, or duplicated"
    case .void: return "void: \(played.voidReason ?? "")"
    case .thresholdMissed: return "a threshold was missed; every delivery was received"
    case .noConnection:
      return "no connection left: \(result.connectionsLost) of \(result.connections) ended"
        + " before the load did"
    case .good:
      return "good: the number of deliveries is right; only a run without --raw checks more"
    }
  }

  private static func pace(of result: RawResult) -> String {
    switch result.plan.work {
    case .publish(.window(let window)): "window of \(window)"
    case .publish(.rate(let rate)): "\(Decimal.short(rate)) sends/s"
    case .connect: "connecting"
    case .idle: "idle"
    case .resume: "coming back"
    }
  }

  private static func clock(of result: RawResult) -> String {
    if case .publish(.rate) = result.plan.work { "the intended time" } else { "the send" }
  }

  private static func whole(_ value: Double) -> String { String(Int(value.rounded())) }
}
