import Relay
internal import Wire

/// The lines of `relay top`.
struct TopTable {
  let figures: TopFigures
  let uptime: Int64?

  /// Each with a heading, and what is to be known about it.
  var lines: [(heading: String, text: String)] {
    let census = JSONNode(figures.sample.census)
    return [
      ("relay", relay), ("connections", connections), ("load", load), ("latency", latency),
      ("waiting", waiting), ("refused", Self.list(figures.rates("relay_rejections_total"))),
      ("limits", Self.list(figures.rates("relay_violations_total"))), ("processor", processor),
      ("memory", memory), ("disk", disk), ("problems", problems), ("rooms", rooms(census)),
    ].filter { !$0.1.isEmpty } + users(census)
  }

  private func rooms(_ census: JSONNode?) -> String {
    let busy = (census?["rooms"]?.elements ?? []).compactMap { room -> (String, Double)? in
      guard let name = room["room"]?.string,
        let rate = room["entries_per_s"]?.number.flatMap(Double.init)
      else {
        return nil
      }
      return (name, rate)
    }
    return Self.list(busy)
  }

  /// A line for each connection, those with most bytes queued first.
  private func users(_ census: JSONNode?) -> [(heading: String, text: String)] {
    (census?["connections"]?.elements ?? []).enumerated().map { place, one in
      let place = place == 0 ? "clients" : ""
      let lagging = one["lagging"]?.integer ?? 0
      let text = """
        \(one["user"]?.string ?? "?"), \(one["transport"]?.string ?? "?")\
        \(one["address"]?.string.map { " from \($0)" } ?? ""): \((one["rooms"]?.integer ?? 0).counted("room"))\
        \(lagging > 0 ? ", \(lagging) lag" : ""), \
        \(Self.bytes(Double(one["queued_bytes"]?.integer ?? 0))) queued
        """
      return (place, text)
    }
  }

  private var relay: String {
    let version = figures.sample["relay_build_info"].first?.label ?? "?"
    return "version \(version), has run for \(Self.duration(uptime ?? 0))"
  }

  private var connections: String {
    let states = figures.sample["relay_connection_states"].filter { $0.value > 0 }
      .map { "\(Int($0.value)) \($0.label)" }
    let details = states.isEmpty ? "" : " (\(states.joined(separator: ", ")))"
    return """
      \(count("relay_connections"))\(details), \(count("relay_bots_connected").counted("bot")); \
      \(count("relay_users").counted("user")); \(Self.rate(figures.rate("relay_accepted_total"))) accepted
      """
  }

  private var load: String {
    """
    \(Self.rate(figures.rate("relay_messages_received_total"))) requests, \
    \(Self.rate(figures.rate("relay_log_entries_total"))) entries stored, \
    \(Self.rate(figures.rate("relay_deliveries_total"))) delivered; \
    \(Self.bytes(figures.rate("relay_received_bytes_total")))/s in, \
    \(Self.bytes(figures.rate("relay_sent_bytes_total")))/s out
    """
  }

  private var latency: String {
    """
    acknowledged in \(milliseconds(0.5, "relay_ack_latency_seconds")) (p50), \
    \(milliseconds(0.99, "relay_ack_latency_seconds")) (p99); \
    synced in \(milliseconds(0.5, "relay_log_sync_seconds")), \
    \(milliseconds(0.99, "relay_log_sync_seconds"))
    """
  }

  private var waiting: String {
    """
    \(count("relay_lagging_subscriptions")) of \(count("relay_subscriptions").counted("subscription")) lag, \
    \(Self.bytes(figures.sample.total("relay_queued_bytes") ?? 0)) queued for connections
    """
  }

  private var processor: String {
    let threads = figures.rates("relay_thread_cpu_seconds_total").filter { $0.value >= 0.0005 }
    let total = figures.rate("process_cpu_seconds_total")
    let details = threads.map { "\($0.label) \(Self.share($0.value))" }.joined(separator: ", ")
    return "\(Self.share(total)) of a core" + (threads.isEmpty ? "" : " (\(details))")
  }

  private var memory: String {
    """
    \(Self.bytes(figures.sample.total("process_resident_memory_bytes") ?? 0)), \
    \(count("process_open_fds")) of \(count("process_max_fds")) file descriptors
    """
  }

  private var disk: String {
    let free =
      figures.sample.total("relay_disk_free_bytes").map { ["\(Self.bytes($0)) free"] } ?? []
    let files = figures.sample["relay_log_file_bytes"].map {
      "\($0.label) \(Self.bytes($0.value))"
    }
    return (free + files).joined(separator: ", ")
  }

  private var problems: String {
    var problems: [String] = []
    let failures = figures.rate("relay_log_failures_total")
    if failures > 0 { problems.append("\(Self.rate(failures)) batches could not be stored") }
    for (problem, value) in figures.sample["relay_directory_problems"] where value > 0 {
      problems.append("the list of people is \(problem)")
    }
    if figures.sample.total("relay_node_connected") == 0 {
      problems.append("the relay is not connected to PostgreSQL")
    }
    if let batches = figures.sample.total("relay_node_lag_batches"), batches > 0 {
      problems.append("\(Int(batches)) batches of other relays are not applied yet")
    }
    return problems.joined(separator: "; ")
  }

  private func count(_ name: String) -> Int { Int(figures.sample.total(name) ?? 0) }

  private func milliseconds(_ quantile: Double, _ name: String) -> String {
    figures.quantile(quantile, of: name).map { "\(Self.short($0 * 1000)) ms" } ?? "–"
  }

  // MARK: - Numbers

  /// Those that are above 0, with how often.
  private static func list(_ rates: MetricsSample.Series) -> String {
    rates.map { "\($0.label) \(rate($0.value))" }.joined(separator: ", ")
  }

  static func rate(_ value: Double) -> String { "\(short(value))/s" }

  private static func share(_ value: Double) -> String { "\(short(value * 100)) %" }

  /// Three digits that count, and at most one decimal.
  static func short(_ value: Double) -> String {
    if value >= 100 || value == value.rounded() { return "\(Int(value.rounded()))" }
    return "\((value * 10).rounded() / 10)"
  }

  static func bytes(_ value: Double) -> String {
    var value = value
    for unit in ["bytes", "KiB", "MiB", "GiB"] {
      if value < 1024 { return "\(short(value)) \(unit)" }
      value /= 1024
    }
    return "\(short(value)) TiB"
  }

  static func duration(_ seconds: Int64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60)
    if days > 0 { return "\(days) d \(hours) h" }
    return hours > 0 ? "\(hours) h \(minutes) min" : "\(minutes) min \(seconds % 60) s"
  }
}
