/// A small generator whose whole state is its seed (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014): the same seed gives the same numbers everywhere.
struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Uniform in [0, 1): 53 bits, so that it is the same on every machine.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Uniform below `bound`; the bias of 2^-64 × bound is nothing here.
  mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  mutating func shuffle<Element>(_ elements: inout [Element]) {
    for index in elements.indices.reversed() {
      elements.swapAt(index, below(index + 1))
    }
  }
}
