package import Relay

/// What all loops know, added up.
package struct LoopSnapshot: Sendable {
  /// What a connection is at.
  package enum ConnectionState: String, CaseIterable, Sendable {
    case tlsHandshake = "tls_handshake"
    /// A request is awaited, or answered.
    case http
    case websocket
    case closing
  }

  package var counts = LoopCounts()
  package var counters = ShardCounters()
  package var connections: [ConnectionState: Int] = [:]
  package var bots = 0
  /// Of each loop: sessions, users and rooms may be known to several.
  package var gauges: [(loop: Int, gauges: ShardGauges)] = []

  /// Adds up what of the gauges can be added up.
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
