import Synchronization

/// Counters of the limits and rules that peers have violated since the start; shared by the loops,
/// and exported by `GET /metrics`. Counting takes a lock: it happens once for a connection that is
/// rejected or ended, once a turn for the messages that were refused in it, and never for a
/// connection that is served.
package final class Violations: Sendable {
  /// The rule that was violated, named by its configuration key if it has one.
  package enum Rule: String, CaseIterable, Sendable {
    case connections = "limits.connections"
    case connectionsPerAddress = "limits.connections_per_address"
    case unauthenticatedPerAddress = "limits.unauthenticated_per_address"
    /// A TLS handshake had to wait, or an unauthenticated request was refused.
    case unauthenticatedPerSecond = "limits.unauthenticated_per_s"
    /// The client did not complete the handshake or authenticate in time.
    case handshakeTimeout = "limits.handshake_timeout_ms"
    case headerBytes = "limits.header_bytes"
    case headerLines = "limits.header_lines"
    /// By the declared length of a frame, or the length of the whole message.
    case frameBytes = "limits.frame_bytes"
    case messageFragments = "limits.message_fragments"
    case controlFramesPerSecond = "limits.control_frames_per_s"
    /// The client did not read its answers, so it was not read from for a while.
    case queueBytes = "limits.queue_bytes"
    /// A user has too many connections.
    case connectionsPerUser = "limits.connections_per_user"
    /// A connection was not read from for a while, because its user had sent too much; over HTTP a
    /// request was refused.
    case sendsPerSecond = "limits.sends_per_s"
    case requestsPerSecond = "limits.requests_per_s"
    case bytesPerSecond = "limits.bytes_per_s"
    case signInsPerMinute = "limits.sign_ins_per_min"
    case idleTimeout = "limits.idle_timeout_s"
    /// An upload was refused.
    case fileBytes = "limits.file_bytes"
    case filesBytesPerUser = "limits.files_bytes_per_user"
    case uploadsPerUser = "limits.uploads_per_user"
    case filesBytes = "files.bytes"
    case filesMinimumFreeBytes = "files.min_free_bytes"
    /// An upload was not read from for a while.
    case fileBytesPerSecond = "limits.file_bytes_per_s"
    case origins = "auth.origins"
    /// A connection that comes from no trusted proxy, or begins without a valid header of the PROXY
    /// protocol.
    case proxyProtocol = "proxy_protocol"
    /// The process has no descriptor left (`ulimit -n`).
    case descriptors
    /// No memory was left for a connection's TLS.
    case memory
    /// A request that is not HTTP, or does not ask for a WebSocket.
    case handshake
    /// A frame that RFC 6455 forbids, or a message that is not text.
    case framing
    /// The peer reset the connection. Well-behaved clients do that, too, when they crash.
    case reset
  }

  private struct Count {
    var total = 0
    /// As of the last report.
    var reported = 0
    /// When that was, in milliseconds of the monotonic clock.
    var reportedAt: Int64?
    /// The last peer, and what it did in particular.
    var user: String?
    var host: HostKey?
    var reason: String?
  }

  private let counts = Mutex([Rule: Count]())

  /// - Parameters:
  ///   - user: the last of them, if that is known.
  ///   - host: where that user or client connects from.
  ///   - reason: what it did in particular, and what to do; for the operator.
  package func count(
    _ rule: Rule, _ count: Int = 1, by user: String? = nil, from host: HostKey? = nil,
    because reason: String? = nil
  ) {
    counts.withLock {
      $0[rule, default: Count()].total += count
      $0[rule]?.user = user
      $0[rule]?.host = host
      $0[rule]?.reason = reason
    }
  }

  package subscript(rule: Rule) -> Int { counts.withLock { $0[rule]?.total ?? 0 } }

  // MARK: - For the operator's log

  /// A rule is reported at most once in this time.
  package static let reportMilliseconds: Int64 = 60_000

  /// How often a rule was violated since its last report.
  package struct Report: Equatable {
    package var rule: Rule
    /// What the relay did, and to what.
    package var message: String
    package var count: Int
    /// The last peer, and what it did in particular.
    package var user: String?
    package var host: HostKey?
    package var reason: String?
  }

  /// Returns what is to be reported.
  /// - Parameter now: milliseconds of the monotonic clock; `nil` = everything, since nothing follows.
  package func takeReports(now: Int64?) -> [Report] {
    counts.withLock { counts in
      Rule.allCases.compactMap { rule in
        guard let message = rule.consequence, let count = counts[rule],
          count.total > count.reported
        else { return nil }
        if let now, let last = count.reportedAt, now - last < Self.reportMilliseconds { return nil }
        counts[rule]?.reported = count.total
        counts[rule]?.reportedAt = now
        return Report(
          rule: rule, message: message, count: count.total - count.reported, user: count.user,
          host: count.host, reason: count.reason)
      }
    }
  }
}

extension Violations.Rule {
  /// Whether the relay lacks something that the operator can give it.
  var isShortage: Bool {
    switch self {
    case .connections, .descriptors, .memory, .filesBytes, .filesMinimumFreeBytes: true
    default: false
    }
  }

  /// A sentence that says what happens to peers that violate the rule, and why; `nil` if that is not worth a
  /// line.
  var consequence: String? {
    switch self {
    case .connections:
      "Connections were rejected: the relay has as many as limits.connections allows."
    case .connectionsPerAddress: "Connections were rejected: their address has too many."
    case .unauthenticatedPerAddress:
      "Connections were closed: their address has too many that are not authenticated."
    case .unauthenticatedPerSecond:
      "Requests were refused or had to wait: their address makes too many that are not authenticated."
    case .handshakeTimeout:
      "Connections were closed: their client completed no request, or did not authenticate, in time."
    case .headerBytes, .headerLines: "Requests were refused: their head is too large."
    case .frameBytes, .messageFragments: "Connections were closed: a message was too large."
    case .controlFramesPerSecond:
      "Connections were closed: their client sent too many pings and pongs."
    case .queueBytes: "Connections were slowed: their client does not read its answers."
    case .connectionsPerUser: "Connections were refused: their user has too many."
    case .sendsPerSecond, .requestsPerSecond, .bytesPerSecond:
      "Users were slowed, or requests refused: there were too many."
    case .signInsPerMinute: "Sign-ins were refused: their address makes too many."
    case .idleTimeout: "Connections were closed: nothing was heard from their client."
    case .fileBytes, .filesBytesPerUser, .uploadsPerUser:
      "Uploads were refused: they are too large, or their user has too many."
    case .filesBytes:
      "Uploads were refused: the relay has as many bytes of files as files.bytes allows."
    case .filesMinimumFreeBytes:
      "Uploads were refused: too little of the disk is free. Free some space, or lower files.min_free_bytes."
    case .fileBytesPerSecond:
      "Uploads were slowed: their users send too much, or together too much for files.bytes_per_s."
    case .origins:
      "Requests were refused: a page of another site made them. To allow it, add its origin to auth.origins."
    case .proxyProtocol:
      "Connections were refused: they come from no trusted proxy, or begin without a valid header of the PROXY protocol."
    case .descriptors:
      "Connections were rejected: the relay is out of file descriptors. Raise the limit with ulimit -n."
    case .memory: "Connections were rejected: the relay is out of memory."
    case .handshake: "Requests were refused: they are no HTTP, or no handshake of a WebSocket."
    case .framing: "Connections were closed: they violated the WebSocket protocol."
    case .reset: nil
    }
  }
}
