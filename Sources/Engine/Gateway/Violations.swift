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

  private let counts = Mutex([Rule: Int]())

  package func count(_ rule: Rule, _ count: Int = 1) {
    counts.withLock { $0[rule, default: 0] += count }
  }

  package subscript(rule: Rule) -> Int { counts.withLock { $0[rule, default: 0] } }
}
