import Glibc
import Testing

/// What attackers do, as Peers/attack.py does it, and to what relay.
struct AttackKind: CustomTestStringConvertible, Sendable {
  var name: String
  /// By default those on handshakes are out of the way, since on a busy machine also the attackers
  /// are slow.
  var limits =
    "unauthenticated_per_address: 0, unauthenticated_per_s: 0, handshake_timeout_ms: 60000"
  /// More of the relay's configuration.
  var configuration = ""
  /// What the relay's command is begun by.
  var wrapper: [String] = []
  /// What `/metrics` counts this under.
  var rule: String
  /// How often at least, in each round.
  var times: Int
  var stay = Stay.none
  /// The rounds before the one that is measured: what they leave in memory is a relay that has been
  /// used.
  var warmUpRounds = 1

  var testDescription: String { name }

  /// What attackers do once they are where they wanted to be.
  enum Stay {
    /// They are through when they are.
    case none
    /// They wait, and then leave all at once.
    case ready
    /// They wait until the relay has counted them.
    case counted
    /// Their process is stopped until the relay has given them up.
    case stopped
  }

  static let all: [AttackKind] = [
    slowHandshake, endlessHeaders, headerLines, uncredentialed, unauthenticated, silent, tooMany,
    oneAddress, oversized,
    fragments, bombs, pings, sends, sendsByOne, duplicates, requests, inflated, echoPings,
    echoUnmasked, unmasked, resets, halfOpen,
    neverReads, storm, descriptors,
  ]

  static let slowHandshake = AttackKind(
    name: "slow-handshake", limits: "handshake_timeout_ms: 1500",
    rule: "limits.handshake_timeout_ms", times: 40)
  static let endlessHeaders = AttackKind(
    name: "endless-headers", rule: "limits.header_bytes", times: 20)
  static let headerLines = AttackKind(
    name: "header-lines", rule: "limits.header_lines", times: 500)
  // Without a limit of guesses: a slow attack would reach that one first.
  static let uncredentialed = AttackKind(
    name: "uncredentialed",
    limits: "unauthenticated_per_s: 50, requests_per_s: 0, handshake_timeout_ms: 60000",
    rule: "limits.unauthenticated_per_s", times: 500)
  static let unauthenticated = AttackKind(
    name: "unauthenticated", limits: "unauthenticated_per_s: 0, handshake_timeout_ms: 4000",
    rule: "limits.unauthenticated_per_address", times: 50)
  static let silent = AttackKind(
    name: "silent", limits: "unauthenticated_per_s: 0, handshake_timeout_ms: 4000",
    rule: "limits.unauthenticated_per_address", times: 50)
  static let tooMany = AttackKind(
    name: "too-many", limits: "connections: 100, unauthenticated_per_address: 0",
    rule: "limits.connections", times: 201)
  static let oneAddress = AttackKind(
    name: "one-address", rule: "limits.connections_per_address", times: 2000)
  static let oversized = AttackKind(name: "oversized", rule: "limits.frame_bytes", times: 99)
  static let fragments = AttackKind(name: "fragments", rule: "limits.message_fragments", times: 10)
  static let bombs = AttackKind(name: "bombs", rule: "limits.frame_bytes", times: 50)
  static let pings = AttackKind(name: "pings", rule: "limits.control_frames_per_s", times: 10)
  // How often connections were held back.
  static let sends = AttackKind(name: "sends", rule: "limits.sends_per_s", times: 200)
  static let sendsByOne = AttackKind(name: "sends-by-one", rule: "limits.sends_per_s", times: 20)
  // Until a duplicate is known to be one it is charged as a send.
  static let duplicates = AttackKind(name: "duplicates", rule: "limits.sends_per_s", times: 10)
  static let requests = AttackKind(name: "requests", rule: "limits.requests_per_s", times: 200)
  // Each user once: a relay that hardly gets a turn reads no faster than the budget is filled.
  static let inflated = AttackKind(name: "inflated", rule: "limits.bytes_per_s", times: 10)
  static let echoPings = AttackKind(
    name: "echo-pings", configuration: "debug: { echo: true }",
    rule: "limits.control_frames_per_s", times: 10)
  static let echoUnmasked = AttackKind(
    name: "echo-unmasked", configuration: "debug: { echo: true }", rule: "framing", times: 100)
  static let unmasked = AttackKind(name: "unmasked", rule: "framing", times: 100)
  // A connection that is reset before the relay has seen it may be no error.
  static let resets = AttackKind(name: "resets", rule: "reset", times: 900)
  static let halfOpen = AttackKind(
    name: "half-open", limits: "heartbeat_s: 1, idle_timeout_s: 3",
    rule: "limits.idle_timeout_s", times: 200, stay: .stopped)
  // The first rounds show how much freed memory the allocator keeps.
  static let neverReads = AttackKind(
    name: "never-reads", rule: "limits.queue_bytes", times: 20, stay: .counted, warmUpRounds: 2)
  // Half of them by a reset, as many as the system lets be at once.
  static let storm = AttackKind(name: "storm", rule: "reset", times: 100, stay: .ready)
  static let strangers = AttackKind(name: "strangers", rule: "reset", times: 100, stay: .ready)
  static let descriptors = AttackKind(
    name: "descriptors", wrapper: ["sh", "-c", "ulimit -n 64; exec \"$@\"", "sh"],
    rule: "descriptors", times: 100)
}
