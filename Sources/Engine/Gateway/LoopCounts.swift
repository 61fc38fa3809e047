package import Relay

/// The counters of one loop besides those of its shard. They are plain numbers, because only one
/// thread uses them.
package struct LoopCounts: Sendable {
  package var bytesIn = 0
  package var bytesOut = 0
  /// WebSockets that the relay closed, by close code.
  package var closes: [UInt16: Int] = [:]
  /// HTTP responses, by status.
  package var responses: [Int: Int] = [:]
  /// For each ack the time from the first send of its batch until the acks of the whole batch are
  /// written.
  package var ackSeconds = BucketHistogram.latency

  package static func += (a: inout Self, b: Self) {
    a.bytesIn += b.bytesIn
    a.bytesOut += b.bytesOut
    a.closes.merge(b.closes, uniquingKeysWith: +)
    a.responses.merge(b.responses, uniquingKeysWith: +)
    a.ackSeconds += b.ackSeconds
  }
}
