/// The current time by both clocks. Pure modules take it as a parameter and read no clock.
public struct Moment: Sendable {
  /// Milliseconds of the monotonic clock, whose zero has no meaning.
  public var monotonic: Int64
  /// The microseconds of that clock beyond its milliseconds.
  public var fractionMicroseconds: Int64
  /// Milliseconds since 1970.
  public var wall: Int64

  public init(monotonic: Int64, fractionMicroseconds: Int64 = 0, wall: Int64) {
    self.monotonic = monotonic
    self.fractionMicroseconds = fractionMicroseconds
    self.wall = wall
  }

  /// The monotonic clock in microseconds.
  public var microseconds: Int64 { monotonic * 1000 + fractionMicroseconds }
}

/// Returns the earlier of two deadlines, each nil if there is none. Every turn asks, so there is no
/// array.
func earlier(_ a: Int64?, _ b: Int64?) -> Int64? {
  guard let a, let b else { return a ?? b }
  return min(a, b)
}
