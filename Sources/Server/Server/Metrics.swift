import Gateway
import Platform
import PostgresLog
import Relay
import WebSocket
import Wire

/// The content of `GET /metrics`.
struct Metrics {
  var loops: LoopSnapshot
  var admission: Admission
  var violations: Violations
  var log: LogStatistics
  /// Set if several relays share the log.
  var node: NodeStatistics?
  /// `nil` = the relay keeps no files.
  var files: FileCounts.Values?
  var process: ProcessStatistics
  var configuredBots: Int
  /// Milliseconds since 1970.
  var now: Int64

  /// Returns a function that reads the metrics; this call defines the start time.
  static func reader(
    _ context: ConnectionLoop.Context, _ log: any Log, _ files: FileKeeper?, bots: Int
  ) -> @Sendable (LoopSnapshot) -> Metrics {
    let startedAt = Double(WallClock.milliseconds) / 1000
    return { loops in
      Metrics(
        loops: loops, admission: context.admission, violations: context.violations,
        log: log.statistics(), node: (log as? PostgresLog)?.nodeStatistics(),
        files: files?.counts.values, process: ProcessStatistics(startedAt: startedAt),
        configuredBots: bots, now: WallClock.milliseconds)
    }
  }

  func response(openMetrics: Bool) -> HTTPResponse {
    let text = text(openMetrics ? .openMetrics : .prometheus)
    return HTTPResponse(status: 200, contentType: text.format.contentType, body: text.bytes)
  }

  func text(_ format: MetricsText.Format) -> MetricsText {
    var text = MetricsText(format: format)
    addConnections(to: &text)
    addMessages(to: &text)
    addRooms(to: &text)
    addDirectory(to: &text)
    addLog(to: &text)
    if let files { files.add(to: &text) }
    addProcess(to: &text)
    return text
  }

  private func addConnections(to text: inout MetricsText) {
    let connections = admission.census
    text.gauge(
      "relay_connections", "Open connections, in any state.", connections.total)
    text.gauges(
      "relay_connection_states", "Open connections, by state.", by: "state",
      LoopSnapshot.ConnectionState.allCases.map { ($0.rawValue, loops.connections[$0] ?? 0) })
    text.gauge(
      "relay_unauthenticated_connections",
      "Connections that are still unauthenticated after a short grace period.",
      connections.unauthenticated)
    text.counter(
      "relay_accepted_total", "Connections accepted since the start.",
      connections.accepted)
    text.counters(
      "relay_violations_total",
      "Connections and messages refused, closed or delayed, by limit or rule.", by: "rule",
      Violations.Rule.allCases.map { ($0.rawValue, violations[$0]) })
    text.counters(
      "relay_closes_total", "WebSockets that the relay closed, by close code.", by: "code",
      Self.sorted(
        loops.counts.closes.merging(Self.closeCodes.map { ($0, 0) }, uniquingKeysWith: max)))
    text.counters(
      "relay_http_responses_total", "HTTP responses, except for WebSocket handshakes, by status.",
      by: "status", Self.sorted(loops.counts.responses))
    text.counter(
      "relay_received_bytes_total", "Bytes read from connections.", loops.counts.bytesIn)
    text.counter(
      "relay_sent_bytes_total", "Bytes written to connections.", loops.counts.bytesOut)
    text.gauge(
      "relay_bots_configured", "Bots in the configuration.", configuredBots)
    text.gauge("relay_bots_connected", "Bots that are connected.", loops.bots)
  }

  private func addMessages(to text: inout MetricsText) {
    let counters = loops.counters
    text.counters(
      "relay_messages_received_total", "Valid messages received, by type.", by: "type",
      [("send", counters.sends)]
        + counters.received.map { ($0.rawValue, $1) }.sorted { $0.0 < $1.0 })
    text.counters(
      "relay_messages_sent_total",
      "Messages sent: entries to their recipients, acks, errors, other replies, and ephemeral "
        + "messages (receipts, typing and the like).", by: "kind",
      [
        ("ack", counters.acks), ("entry", counters.deliveries),
        ("error", counters.refusals.values.reduce(0, +)), ("ephemeral", counters.ephemera),
        ("reply", counters.replies),
      ])
    text.counter(
      "relay_deliveries_total", "Entries sent to connections, counted once per recipient.",
      counters.deliveries)
    text.counters(
      "relay_rejections_total", "Requests and sends refused, by error code.", by: "code",
      ErrorCode.sent.map { ($0.rawValue, counters.refusals[$0] ?? 0) })
    text.histogram(
      "relay_ack_latency_seconds",
      "Seconds from receiving the first send of a batch to writing its acks, observed per ack.",
      loops.counts.ackSeconds)
  }

  private func addRooms(to text: inout MetricsText) {
    text.gauge("relay_sessions", "Sessions, including those of bots.", loops.total(\.sessions))
    text.gauges(
      "relay_users",
      "Distinct users per event loop; a user with two connections may be counted on two.",
      by: "loop", byLoop(\.users))
    text.gauges(
      "relay_active_rooms", "Rooms with at least one subscription, per event loop.",
      by: "loop", byLoop(\.rooms))
    text.gauge(
      "relay_subscriptions", "Subscriptions of all sessions.",
      loops.total(\.subscriptions))
    text.gauge(
      "relay_lagging_subscriptions", "Subscriptions that have not reached their room's head.",
      loops.total(\.lagging))
    text.gauge(
      "relay_queued_bytes", "Bytes queued for connections.",
      loops.total(\.queuedBytes))
    text.gauge(
      "relay_tail_bytes", "Bytes of recent entries kept in memory, on all event loops.",
      loops.total(\.tailBytes))
  }

  private func addDirectory(to text: inout MetricsText) {
    let directory = loops.gauges.first?.gauges.directory
    let people = directory?.people
    text.gauge("relay_directory_people", "People in the directory.", people?.people.count ?? 0)
    text.gauge(
      "relay_directory_left_out_people",
      "People left out of the directory because their names are invalid.",
      people?.leftOut ?? 0)
    if let asOf = people?.asOf, asOf > 0 {
      text.gauge(
        "relay_directory_age_seconds", "Age of the directory.",
        seconds: Double(max(0, now - asOf)) / 1000)
    }
    var limited = 0
    var failed = 0
    switch directory?.problem {
    case .limited: limited = 1
    case .failed: failed = 1
    case nil: break
    }
    text.gauges(
      "relay_directory_problems", "1 if the problem prevents a refresh of the directory.",
      by: "problem",
      [("failed", failed), ("limited", limited)])
  }

  private func addLog(to text: inout MetricsText) {
    text.gauge("relay_log_rooms", "Rooms that have had an entry.", log.rooms)
    text.counter("relay_log_entries_total", "Entries that became durable.", log.entries)
    text.counter("relay_log_commits_total", "Batches that were stored.", log.commits)
    text.counter(
      "relay_log_failures_total", "Batches that could not be stored, and were refused.",
      log.failures)
    text.counter(
      "relay_retention_removed_entries_total", "Entries that retention has removed.",
      log.trimmedEntries)
    // Of several relays, one makes the passes.
    if node?.leads ?? true, let milliseconds = log.retainedAtMilliseconds {
      let age = Int64(Instant.now().nanoseconds / 1_000_000) - milliseconds
      text.gauge(
        "relay_retention_lag_seconds",
        "Seconds since the last pass of retention began after which no entry was beyond its rule.",
        seconds: Double(age) / 1000)
    }
    text.histogram(
      "relay_log_batch_entries", "Entries per batch, of batches with entries.", log.batchEntries)
    text.histogram(
      "relay_log_batch_seconds", "Seconds from starting a batch until it was durable.",
      log.batchSeconds)
    text.histogram(
      "relay_log_sync_seconds",
      "Seconds of that spent on making the batch durable: the write and, if log.durability is "
        + "fsync, the sync.", log.syncSeconds)
    text.gauge(
      "relay_log_unindexed_entries", "Entries that are not indexed yet.",
      log.unindexedEntries)
    text.gauges(
      "relay_log_file_bytes", "Size of the store's files.", by: "file",
      log.files.map { ($0.name, $0.bytes) })
    if let bytes = log.freeBytes {
      text.gauge("relay_disk_free_bytes", "Bytes free on the disk of the store.", bytes)
    }
    if let node { add(node, to: &text) }
  }

  private func add(_ node: NodeStatistics, to text: inout MetricsText) {
    text.gauge(
      "relay_node_connected", "1 if this relay is connected to PostgreSQL.",
      node.isConnected ? 1 : 0)
    text.gauge(
      "relay_node_settings_ok",
      "1 if the settings of PostgreSQL keep what the configuration promises; else nothing is written.",
      node.settingsAreRight ? 1 : 0)
    text.gauge(
      "relay_node_leads", "1 if this relay runs the bots and the maintenance.", node.leads ? 1 : 0)
    text.gauge(
      "relay_nodes", "Relays that share the log and are alive, this one included.", node.nodes)
    text.gauge(
      "relay_node_position", "The last batch of the log that this relay has applied.",
      Int(node.position))
    text.gauge(
      "relay_node_lag_batches", "Batches of the log that this relay has not applied yet.",
      Int(node.batchesBehind))
    text.histogram(
      "relay_node_turn_seconds",
      "Seconds from asking for the commit lock until it was taken and what others committed was read.",
      node.lockSeconds)
    text.histogram(
      "relay_node_follow_seconds",
      "Seconds from when another relay took the commit lock until this one read the entries that it "
        + "committed.", node.followSeconds)
  }

  private func addProcess(to text: inout MetricsText) {
    text.gauge(
      "process_resident_memory_bytes", "Resident memory of the process.", process.residentBytes)
    text.counter(
      "process_cpu_seconds_total", "CPU time of all threads.",
      seconds: process.cpuSeconds)
    text.counters(
      "relay_thread_cpu_seconds_total", "CPU time of the threads that run, by name.", by: "thread",
      seconds: process.threadSeconds)
    text.gauge("process_open_fds", "Open file descriptors.", process.openDescriptors)
    text.gauge(
      "process_max_fds", "Maximum number of open file descriptors.", process.descriptorLimit)
    text.gauge(
      "process_start_time_seconds", "Start time of the process in seconds since 1970.",
      seconds: process.startedAt)
    text.info("relay_build_info", "Version of the relay.", [("version", Server.version)])
  }

  /// Close codes that the relay sends, exported as 0 from the start.
  private static let closeCodes: [UInt16] = [
    1000, 1001, 1002, 1003, 1007, 1008, 1009, 1011, 1012, 1013, 4401, 4403, 4408, 4429,
  ]

  private func byLoop(_ gauge: KeyPath<ShardGauges, Int>) -> [(String, Int)] {
    loops.gauges.sorted { $0.loop < $1.loop }.map { ("\($0.loop)", $0.gauges[keyPath: gauge]) }
  }

  private static func sorted(_ counts: [some FixedWidthInteger: Int]) -> [(String, Int)] {
    counts.sorted { $0.key < $1.key }.map { ("\($0.key)", $0.value) }
  }
}
