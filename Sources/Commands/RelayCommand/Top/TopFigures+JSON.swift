internal import Wire

extension TopFigures {
  /// Returns the figures as one line of JSON.
  /// - Parameter now: milliseconds since 1970.
  func json(at now: Int64) -> [UInt8] {
    var json = Array("{\"at\":\(now)".utf8)
    json += Array(",\"version\":".utf8)
    json.append(jsonString: sample["relay_build_info"].first?.label ?? "")
    if let uptime = uptime(now / 1000) { json += Array(",\"uptime_s\":\(uptime)".utf8) }
    for (name, metric) in Self.gauges {
      if let value = sample.total(metric) { json += Array(",\"\(name)\":\(Int(value))".utf8) }
    }
    for (name, metric) in Self.counters {
      json += Array(",\"\(name)\":\(Self.decimal(rate(metric)))".utf8)
    }
    for (name, metric) in Self.histograms {
      guard let half = quantile(0.5, of: metric), let most = quantile(0.99, of: metric) else {
        continue
      }
      json += Array(
        ",\"\(name)\":{\"p50\":\(Self.decimal(half * 1000)),\"p99\":\(Self.decimal(most * 1000))}"
          .utf8)
    }
    append("states", sample["relay_connection_states"], to: &json)
    append("rejections_per_s", rates("relay_rejections_total"), to: &json)
    append("violations_per_s", rates("relay_violations_total"), to: &json)
    append("cpu", rates("relay_thread_cpu_seconds_total"), to: &json)
    append("file_bytes", sample["relay_log_file_bytes"], to: &json)
    if !sample.census.isEmpty { json += Array(",\"clients\":".utf8) + sample.census }
    json.append(UInt8(ascii: "}"))
    return json
  }

  private static let gauges = [
    ("connections", "relay_connections"), ("users", "relay_users"),
    ("subscriptions", "relay_subscriptions"),
    ("lagging_subscriptions", "relay_lagging_subscriptions"),
    ("queued_bytes", "relay_queued_bytes"), ("memory_bytes", "process_resident_memory_bytes"),
    ("open_fds", "process_open_fds"),
    ("disk_free_bytes", "relay_disk_free_bytes"), ("files_bytes", "relay_file_bytes"),
    ("unindexed_entries", "relay_log_unindexed_entries"),
    ("node_lag_batches", "relay_node_lag_batches"),
  ]
  private static let counters = [
    ("accepted_per_s", "relay_accepted_total"), ("received_per_s", "relay_messages_received_total"),
    ("entries_per_s", "relay_log_entries_total"), ("deliveries_per_s", "relay_deliveries_total"),
    ("received_bytes_per_s", "relay_received_bytes_total"),
    ("sent_bytes_per_s", "relay_sent_bytes_total"),
    ("failures_per_s", "relay_log_failures_total"), ("cpu_cores", "process_cpu_seconds_total"),
  ]
  private static let histograms = [
    ("ack_ms", "relay_ack_latency_seconds"), ("sync_ms", "relay_log_sync_seconds"),
  ]

  private func append(_ name: String, _ series: MetricsSample.Series, to json: inout [UInt8]) {
    json += Array(",\"\(name)\":{".utf8)
    for (place, one) in series.enumerated() {
      if place > 0 { json.append(UInt8(ascii: ",")) }
      json.append(jsonString: one.label)
      json += Array(":\(Self.decimal(one.value))".utf8)
    }
    json.append(UInt8(ascii: "}"))
  }

  /// With at most three decimals, without an exponent.
  private static func decimal(_ value: Double) -> String {
    let thousandths = Int((value * 1000).rounded())
    if thousandths % 1000 == 0 { return "\(thousandths / 1000)" }
    return "\(thousandths / 1000).\(String(thousandths % 1000 + 1000).dropFirst())"
  }
}
