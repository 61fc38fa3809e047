import Synchronization

/// How often peers have broken a limit or a rule since the start; shared by the loops, and shown by
/// `GET /metrics`. Counting takes a lock: it happens once for a connection that is refused or
/// ended, once a turn for the messages that were refused in it, and never for one that is served.
package final class Violations: Sendable {
  /// What was broken, by the key of the configuration that bounds it where there is one.
  package enum Rule: String, CaseIterable, Sendable {
    case connections = "limits.connections"
    case connectionsPerAddress = "limits.connections_per_address"
    case unauthenticatedPerAddress = "limits.unauthenticated_per_address"
    /// Neither shook hands nor said who it is in time.
    case handshakeTimeout = "limits.handshake_timeout_ms"
    case headerBytes = "limits.header_bytes"
    /// By the length that a frame declares, or by that of the message it belongs to.
    case frameBytes = "limits.frame_bytes"
    case messageFragments = "limits.message_fragments"
    case controlFramesPerSecond = "limits.control_frames_per_s"
    /// Its answers were not taken, so it was not read from for a while.
    case queueBytes = "limits.queue_bytes"
    /// A user has as many connections as are allowed.
    case connectionsPerUser = "limits.connections_per_user"
    /// A connection was not read from for a while, since its user had sent too much; over HTTP a
    /// request was refused.
    case sendsPerSecond = "limits.sends_per_s"
    case requestsPerSecond = "limits.requests_per_s"
    case bytesPerSecond = "limits.bytes_per_s"
    case idleTimeout = "limits.idle_timeout_s"
    case origins = "auth.origins"
    /// The process has no descriptor left (`ulimit -n`).
    case descriptors
    /// No memory was left for a connection's TLS.
    case memory
    /// A request that is no HTTP, or asks for no WebSocket.
    case handshake
    /// A frame that RFC 6455 forbids, or a message that is no text.
    case framing
    /// The peer ended the connection by a reset. Honest ones do that as well, when they crash.
    case reset
  }

  private let counts = Mutex([Rule: Int]())

  package func note(_ rule: Rule, _ count: Int = 1) {
    counts.withLock { $0[rule, default: 0] += count }
  }

  package subscript(rule: Rule) -> Int { counts.withLock { $0[rule, default: 0] } }
}
