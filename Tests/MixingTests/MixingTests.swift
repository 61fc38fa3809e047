import Mixing
import Testing

@Suite struct `Mixing` {
  @Test func `SplitMix64 gives the numbers of its reference implementation`() {
    var random = SplitMix64(seed: 1_234_567)
    #expect(
      (0..<3).map { _ in random.next() } == [
        6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423,
      ])
  }

  @Test(
    arguments: [
      ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
    ] as [(String, UInt64)])
  func `FNV-1a gives the values of its authors`(text: String, value: UInt64) {
    #expect(FNV1a.hash(text) == value)
    var hash = FNV1a()
    for byte in text.utf8 { hash.combine(byte) }
    #expect(hash.value == value)
  }
}
