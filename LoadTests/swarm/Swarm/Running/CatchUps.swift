/// The receivers that have come back and are catching up, until they reach the head that `joined`
/// named.
struct CatchUps {
  private struct Way {
    var since: UInt64
    var head: Int64
  }

  /// By receiver and room. Few at a time, except in reconnect storms.
  private var ways: [Int: [Int: Way]] = [:]

  var isEmpty: Bool { ways.isEmpty }

  /// Records a cursor that was set before existing entries. A receiver that was catching up already
  /// and lost its connection counts from its first start.
  mutating func begin(_ receiver: Int, room: Int, head: Int64, at now: UInt64) {
    let since = ways[receiver]?[room]?.since ?? now
    ways[receiver, default: [:]][room] = Way(since: since, head: head)
  }

  /// Records that a receiver has everything up to `seq`.
  ///
  /// - Returns: Since when it was catching up, if it has finished now.
  mutating func reached(_ receiver: Int, room: Int, seq: Int64) -> UInt64? {
    guard let way = ways[receiver]?[room], seq >= way.head else { return nil }
    ways[receiver]?[room] = nil
    if ways[receiver]?.isEmpty == true { ways[receiver] = nil }
    return way.since
  }

  /// Forgets a receiver that left as planned: the next time it starts anew.
  mutating func forget(_ receiver: Int) {
    if !ways.isEmpty { ways[receiver] = nil }
  }

  /// The start times of those that have not finished.
  var unfinished: [UInt64] { ways.values.flatMap { $0.values.map(\.since) } }
}
