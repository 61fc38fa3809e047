/// A random number generator with a state of eight bytes (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014): the same seed gives the same numbers in every run and on
/// every machine. For jitter, simulations and tests; its output is predictable, so it is not for
/// secrets.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  @usableFromInline var state: UInt64

  @inlinable
  public init(seed: UInt64) { state = seed }

  @inlinable
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
