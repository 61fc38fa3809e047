/// Now, by both clocks; the pure modules are told, they never look.
public struct Moment: Sendable {
  /// Milliseconds of a clock that never goes back; its zero means nothing.
  public var monotonic: Int64
  /// What the first clock shows beyond its milliseconds.
  public var fractionMicroseconds: Int64
  /// Milliseconds since 1970.
  public var wall: Int64

  public init(monotonic: Int64, fractionMicroseconds: Int64 = 0, wall: Int64) {
    self.monotonic = monotonic
    self.fractionMicroseconds = fractionMicroseconds
    self.wall = wall
  }

  /// As `monotonic`, in microseconds.
  public var microseconds: Int64 { monotonic * 1000 + fractionMicroseconds }
}
