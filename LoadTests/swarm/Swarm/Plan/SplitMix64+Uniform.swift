import Mixing

extension SplitMix64 {
  /// Returns a uniform value in [0, 1): 53 bits, so that it is the same on every machine.
  mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a uniform value below `bound`; the bias of 2^-64 × bound is negligible.
  mutating func below(_ bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }

  mutating func shuffle<Element>(_ elements: inout [Element]) {
    for index in elements.indices.reversed() {
      elements.swapAt(index, below(index + 1))
    }
  }
}
