package import Relay

/// What one loop has counted beyond its shard: plain numbers, since they are one thread's.
package struct LoopCounts: Sendable {
  package var bytesIn = 0
  package var bytesOut = 0
  /// WebSockets that the relay closed, by close code.
  package var closes: [UInt16: Int] = [:]
  /// Answers over HTTP, by status.
  package var responses: [Int: Int] = [:]
  /// From the first send of a batch to the acks of all of it, for each ack.
  package var ackSeconds = BucketHistogram.latency

  package static func += (a: inout Self, b: Self) {
    a.bytesIn += b.bytesIn
    a.bytesOut += b.bytesOut
    a.closes.merge(b.closes, uniquingKeysWith: +)
    a.responses.merge(b.responses, uniquingKeysWith: +)
    a.ackSeconds += b.ackSeconds
  }
}
