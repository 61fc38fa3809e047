import Relay

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
