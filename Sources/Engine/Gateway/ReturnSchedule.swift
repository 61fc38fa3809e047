/// When the clients of a relay that stops are to come back: spread over what their return costs, so that it never
/// takes more than a part of the processors, and the clients that are there already have the rest.
package struct ReturnSchedule {
  /// Returning clients may take one part in this number of the loops' time.
  static let share: Int64 = 4
  /// What a client costs beside `ArrivalCost`: it joins rooms, and catches up.
  static let joinMicroseconds: Int64 = 100
  /// The time over which few clients return; each adds a millisecond, up to the second.
  static let minimumMilliseconds: ClosedRange<Int64> = 500...5000
  package static let maximumMilliseconds: Int64 = 60_000
  /// How long another process takes to listen, at least. One that takes over listens already.
  static let startMilliseconds: Int64 = 200

  /// The time before the first client returns.
  private let start: Int64
  /// The time over which all return.
  package let spread: Int64
  /// How many clients of this loop return.
  private let count: Int64

  /// - Parameters:
  ///   - connections: those of all loops.
  ///   - count: those of this loop.
  ///   - microseconds: the cost of one.
  package init(
    connections: Int, loops: Int, count: Int, microseconds: Int64, isTakenOver: Bool
  ) {
    let cost = Int64(connections) * (microseconds + Self.joinMicroseconds)
    let milliseconds = cost * Self.share / Int64(loops) / 1000
    let minimum = min(
      Self.minimumMilliseconds.lowerBound + Int64(connections), Self.minimumMilliseconds.upperBound)
    spread = min(Self.maximumMilliseconds, max(minimum, milliseconds))
    start = isTakenOver ? 0 : Self.startMilliseconds
    self.count = Int64(max(1, count))
  }

  /// Returns after how many milliseconds a client returns: in the order of their ranks, each at another time.
  package func delay(
    ofRank rank: Int, using random: inout some RandomNumberGenerator
  ) -> Int64 {
    let begin = spread * min(Int64(rank), count - 1) / count
    let end = spread * (min(Int64(rank), count - 1) + 1) / count
    return start + Int64.random(in: begin...end, using: &random)
  }
}
