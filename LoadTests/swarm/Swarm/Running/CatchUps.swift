/// Who has come back, is behind, and since when: until it reaches the head that its `joined` told.
struct CatchUps {
  private struct Way {
    var since: UInt64
    var head: Int64
  }

  /// By receiver and room. Few at a time, but for storms.
  private var ways: [Int: [Int: Way]] = [:]

  var isEmpty: Bool { ways.isEmpty }

  /// A cursor was set where entries follow that are there already. One that was on its way before,
  /// and lost its connection, has been catching up since then.
  mutating func begin(_ receiver: Int, room: Int, head: Int64, at now: UInt64) {
    let since = ways[receiver]?[room]?.since ?? now
    ways[receiver, default: [:]][room] = Way(since: since, head: head)
  }

  /// A receiver has everything up to `seq`.
  ///
  /// - Returns: since when it was catching up, if that is over now.
  mutating func reached(_ receiver: Int, room: Int, seq: Int64) -> UInt64? {
    guard let way = ways[receiver]?[room], seq >= way.head else { return nil }
    ways[receiver]?[room] = nil
    if ways[receiver]?.isEmpty == true { ways[receiver] = nil }
    return way.since
  }

  /// It has gone by its own will: the next time it begins anew.
  mutating func forget(_ receiver: Int) {
    if !ways.isEmpty { ways[receiver] = nil }
  }

  /// Since when those are on their way who have not arrived.
  var unfinished: [UInt64] { ways.values.flatMap { $0.values.map(\.since) } }
}
