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

/// A small fast generator (Vigna, "splitmix64"): for jitter and names, where a seed must replay.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
