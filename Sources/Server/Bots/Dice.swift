import Mixing

/// A bot's random numbers, each derived only from the seed and from its use, so that neither the
/// order of events nor a restart changes them.
struct Dice: Sendable {
  let seed: UInt64

  /// - Parameter use: distinguishes uses with the same room and number.
  func generator(_ use: StaticString, room: String, number: Int64, part: Int = 0) -> SplitMix64 {
    var state = seed
    func mix(_ value: UInt64) {
      var mixer = SplitMix64(seed: state ^ value)
      state = mixer.next()
    }
    for name in ["\(use)", room] { mix(FNV1a.hash(name)) }
    mix(UInt64(bitPattern: number))
    mix(UInt64(bitPattern: Int64(part)))
    return SplitMix64(seed: state)
  }
}

extension SplitMix64 {
  /// Returns a random duration in `range`, in whole milliseconds above its lower bound.
  mutating func duration(in range: ClosedRange<Duration>) -> Duration {
    let span = (range.upperBound - range.lowerBound) / Duration.milliseconds(1)
    return range.lowerBound + .milliseconds(Int64.random(in: 0...Int64(span), using: &self))
  }
}
