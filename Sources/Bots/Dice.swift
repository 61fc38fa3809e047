/// A bot's random numbers: each drawn from the seed and from what it is for, and from nothing
/// else, so that neither the order of events nor a restart changes them.
struct Dice: Sendable {
  let seed: UInt64

  /// - Parameter use: tells apart what one room and number are drawn for.
  func generator(_ use: StaticString, room: String, number: Int64, part: Int = 0) -> SplitMix64 {
    var state = SplitMix64(state: seed)
    for name in ["\(use)", room] { state.mix(name) }
    state.mix(UInt64(bitPattern: number))
    state.mix(UInt64(bitPattern: Int64(part)))
    return state
  }
}

/// SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014): tiny,
/// and the same on every machine.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  fileprivate mutating func mix(_ value: UInt64) {
    state ^= value
    state = next()
  }

  /// FNV-1a; `Hasher` would give another value in each run.
  fileprivate mutating func mix(_ name: String) {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    mix(hash)
  }

  /// A duration from `range`, in whole milliseconds above its lower bound.
  mutating func duration(in range: ClosedRange<Duration>) -> Duration {
    let span = (range.upperBound - range.lowerBound) / Duration.milliseconds(1)
    return range.lowerBound + .milliseconds(Int64.random(in: 0...Int64(span), using: &self))
  }
}
