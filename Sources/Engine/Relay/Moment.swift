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
