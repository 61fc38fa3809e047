import Relay
import Synchronization

/// What one loop has counted beyond its shard: plain numbers, since they are one thread's.
struct LoopCounts: Sendable {
  var bytesIn = 0
  var bytesOut = 0
  /// WebSockets that the relay closed, by close code.
  var closes: [UInt16: Int] = [:]
  /// Answers over HTTP, by status.
  var responses: [Int: Int] = [:]
  /// From the first send of a batch to the acks of all of it, for each ack.
  var ackSeconds = BucketHistogram.latency

  static func += (a: inout Self, b: Self) {
    a.bytesIn += b.bytesIn
    a.bytesOut += b.bytesOut
    a.closes.merge(b.closes, uniquingKeysWith: +)
    a.responses.merge(b.responses, uniquingKeysWith: +)
    a.ackSeconds += b.ackSeconds
  }
}

/// What all loops know, added up.
struct LoopSnapshot: Sendable {
  /// What a connection is at.
  enum ConnectionState: String, CaseIterable, Sendable {
    case tlsHandshake = "tls_handshake"
    /// A request is awaited, or answered.
    case http
    case websocket
    case closing
  }

  var counts = LoopCounts()
  var counters = ShardCounters()
  var connections: [ConnectionState: Int] = [:]
  var bots = 0
  /// Of each loop: sessions, users and rooms may be known to several.
  var gauges: [(loop: Int, gauges: ShardGauges)] = []

  /// Adds up what of the gauges can be added up.
  func total(_ gauge: KeyPath<ShardGauges, Int>) -> Int {
    gauges.reduce(0) { $0 + $1.gauges[keyPath: gauge] }
  }

  static func += (a: inout Self, b: Self) {
    a.counts += b.counts
    a.counters += b.counters
    a.connections.merge(b.connections, uniquingKeysWith: +)
    a.bots += b.bots
    a.gauges += b.gauges
  }
}

/// A round through the loops: each adds what it has, and the last one tells who asked. So nothing is
/// locked or shared where messages are served.
final class MetricsGathering: Sendable {
  /// Who asked: a loop, and an exchange there.
  let loop: Int
  let connection: Int
  let exchange: UInt64
  private let state: Mutex<(missing: Int, sum: LoopSnapshot)>

  init(loop: Int, connection: Int, exchange: UInt64, loops: Int) {
    self.loop = loop
    self.connection = connection
    self.exchange = exchange
    state = Mutex((loops, LoopSnapshot()))
  }

  /// - Returns: whether this was the last.
  func add(_ snapshot: LoopSnapshot) -> Bool {
    state.withLock { state in
      state.sum += snapshot
      state.missing -= 1
      return state.missing == 0
    }
  }

  var sum: LoopSnapshot { state.withLock { $0.sum } }
}
