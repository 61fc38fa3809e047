package import Relay

/// The metrics of all loops, added up.
package struct LoopSnapshot: Sendable {
  /// The state of a connection.
  package enum ConnectionState: String, CaseIterable, Sendable {
    case tlsHandshake = "tls_handshake"
    /// A request is awaited, or being answered.
    case http
    case websocket
    case closing
  }

  package var counts = LoopCounts()
  package var counters = ShardCounters()
  package var connections: [ConnectionState: Int] = [:]
  package var bots = 0
  /// By loop, because a session, user or room may exist on several.
  package var gauges: [(loop: Int, gauges: ShardGauges)] = []

  /// Returns the sum of a gauge over all loops, for gauges that can be added.
  package func total(_ gauge: KeyPath<ShardGauges, Int>) -> Int {
    gauges.reduce(0) { $0 + $1.gauges[keyPath: gauge] }
  }

  package static func += (a: inout Self, b: Self) {
    a.counts += b.counts
    a.counters += b.counters
    a.connections.merge(b.connections, uniquingKeysWith: +)
    a.bots += b.bots
    a.gauges += b.gauges
  }
}
