import Mixing
import Testing
import WebSocket

@Suite struct `Masking, RFC 6455 §5.3` {
  @Test func `every alignment, length and phase gives what the RFC's formula gives`() {
    var random = SplitMix64(seed: 1)
    let key: UInt32 = 0x8F3D_21FA
    let wireKey = [0xFA, 0x21, 0x3D, 0x8F] as [UInt8]
    let original = random.bytes(64)
    for start in 0..<9 {
      for length in 0...40 {
        for phase in 0..<9 {
          var bytes = original
          var span = bytes.mutableSpan
          Masking.apply(key, phase: phase, to: &span, in: start..<start + length)
          var expected = original
          for index in 0..<length { expected[start + index] ^= wireKey[(phase + index) % 4] }
          #expect(bytes == expected, "start \(start), length \(length), phase \(phase)")
        }
      }
    }
  }

  @Test func `the example of §5․7`() {
    var bytes: [UInt8] = [0x7F, 0x9F, 0x4D, 0x51, 0x58]
    var span = bytes.mutableSpan
    Masking.apply(0x3D21_FA37, to: &span, in: 0..<5)
    #expect(bytes == Array("Hello".utf8))
  }
}
