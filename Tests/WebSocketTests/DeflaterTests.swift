import Mixing
import Testing
import WebSocket

/// The compressed form of a message, whatever its length.
func deflated(_ payload: [UInt8], by deflater: Deflater = Deflater()) -> [UInt8] {
  var output: [UInt8] = []
  let isDone = deflater.deflate(payload.span, to: &output, limitBytes: .max)
  precondition(isDone, "there is memory, and no limit")
  return output
}

/// The message of a compressed form.
func inflated(
  _ compressed: [UInt8], by inflater: Inflater = Inflater(), limitBytes: Int = 0
) throws(ProtocolViolation) -> [UInt8] {
  var output: [UInt8] = []
  try inflater.inflate(compressed.span, to: &output, limitBytes: limitBytes)
  return output
}

@Suite struct `Deflater and inflater, RFC 7692 §7․2` {
  let hello = Array("Hello".utf8)

  // MARK: The examples of §7.2.3

  @Test func `one block, and the next with and without the window of the first`() throws {
    let first: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    let alone = Deflater()
    #expect(deflated(hello, by: alone) == first)
    #expect(deflated(hello, by: alone) == first)
    let sharing = Deflater(keepsContext: true)
    #expect(deflated(hello, by: sharing) == first)
    let second: [UInt8] = [0xF2, 0x00, 0x11, 0x00, 0x00]
    #expect(deflated(hello, by: sharing) == second)

    let inflater = Inflater(keepsContext: true)
    #expect(try inflated(first, by: inflater) == hello)
    #expect(try inflated(second, by: inflater) == hello)
    // Without context the second has nothing to refer to.
    #expect(throws: ProtocolViolation.compressedDataInvalid) { try inflated(second) }
  }

  @Test(arguments: [
    // Without compression; with BFINAL; in two blocks.
    [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
    [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
    [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
    // A last block without the byte that should follow.
    [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00],
  ])
  func `other encodings of Hello`(compressed: [UInt8]) throws {
    let inflater = Inflater()
    #expect(try inflated(compressed, by: inflater) == hello)
    #expect(try inflated(compressed, by: inflater) == hello)
    // A reference to it is understood, although a last block came before.
    let sharing = Inflater(keepsContext: true)
    #expect(try inflated(compressed, by: sharing) == hello)
    #expect(try inflated([0xF2, 0x00, 0x11, 0x00, 0x00], by: sharing) == hello)
  }

  @Test func `an empty message`() throws {
    let sharing = Deflater(keepsContext: true)
    for deflater in [Deflater(), sharing, sharing] {
      #expect(deflated([], by: deflater) == [0])
    }
    let inflater = Inflater(keepsContext: true)
    #expect(try inflated([0], by: inflater) == [])
    // Some implementations that keep context send nothing at all.
    #expect(try inflated([], by: inflater) == [])
    #expect(try inflated(deflated(hello), by: inflater) == hello)
  }

  // MARK: Corrupt input

  @Test func `a stream that is not deflate, or ends in the middle, is an error`() throws {
    let whole = deflated(Array("abcabcabcabc, and so on and so on".utf8))
    let inflater = Inflater()
    var errors = 0
    for count in 1..<whole.count {
      // A truncated stream may by chance look complete.
      do throws(ProtocolViolation) {
        let cut = try inflated(Array(whole.prefix(count)), by: inflater)
        #expect(cut.count < 33, "\(count)")
      } catch {
        #expect(error == .compressedDataInvalid)
        errors += 1
      }
    }
    #expect(errors > whole.count / 2)
    for bytes in [[0x07], [0xFF, 0xFF], [0x00, 0x05, 0x00, 0x00, 0x00]] as [[UInt8]] {
      #expect(throws: ProtocolViolation.compressedDataInvalid) {
        try inflated(bytes, by: inflater)
      }
    }
    #expect(try inflated(deflated(hello), by: inflater) == hello, "an error leaves no trace")
  }

  @Test func `random bytes do no more than fail`() {
    var random = SplitMix64(seed: 7692)
    let inflater = Inflater()
    for _ in 0..<20_000 {
      var output: [UInt8] = []
      let bytes = random.bytes(Int.random(in: 1...40, using: &random))
      do throws(ProtocolViolation) {
        try inflater.inflate(bytes.span, to: &output, limitBytes: 1000)
      } catch {
        #expect(error == .compressedDataInvalid || error == .messageTooBig(limitBytes: 1000))
      }
      #expect(output.count <= 1001)
    }
  }

  // MARK: Limits

  @Test func `a message as long as the limit passes, one byte more does not`() throws {
    let payload = [UInt8](repeating: 0x61, count: 5000)
    let compressed = deflated(payload)
    #expect(try inflated(compressed, limitBytes: 5000) == payload)
    #expect(throws: ProtocolViolation.messageTooBig(limitBytes: 4999)) {
      try inflated(compressed, limitBytes: 4999)
    }
  }

  @Test func `a gibibyte compressed to a mebibyte stops at the limit, at no further cost`() {
    let part = deflated([UInt8](repeating: 0, count: 1 << 20)) + [0x00, 0x00, 0xFF, 0xFF]
    var bomb: [UInt8] = []
    for _ in 0..<1024 { bomb += part }
    #expect(bomb.count < 3 << 19)
    var output: [UInt8] = []
    let limitBytes = 65536
    do throws(ProtocolViolation) {
      try Inflater().inflate(bomb.span, to: &output, limitBytes: limitBytes)
      Issue.record("inflated")
    } catch {
      #expect(error == .messageTooBig(limitBytes: limitBytes))
    }
    #expect(output.count <= limitBytes + 1)
    #expect(output.capacity <= 4 * limitBytes)
  }

  @Test func `the compressed form is at most as long as allowed, or there is none`() throws {
    var random = SplitMix64(seed: 3)
    let deflater = Deflater(keepsContext: true)
    let inflater = Inflater(keepsContext: true)
    let text = Array("The quick brown fox jumps over the lazy dog. ".utf8)
    for limitBytes in 0...60 {
      var output: [UInt8] = [1, 2, 3]
      let payload = limitBytes % 3 == 0 ? random.bytes(80) : text + random.bytes(3)
      let fits = deflater.deflate(payload.span, to: &output, limitBytes: limitBytes)
      #expect(Array(output.prefix(3)) == [1, 2, 3])
      #expect(output.count <= 3 + (fits ? limitBytes : 0))
      // Later messages do not refer to data that was not sent.
      if fits { #expect(try inflated(Array(output.dropFirst(3)), by: inflater) == payload) }
    }
  }

  // MARK: Round trips

  @Test(arguments: [false, true])
  func `compressed data is inflated, with small and large windows`(keepsContext: Bool) throws {
    var random = SplitMix64(seed: 12)
    for windowBits in [9, 12, 15] {
      let deflater = Deflater(
        windowBits: windowBits, level: Int.random(in: 1...9, using: &random),
        keepsContext: keepsContext)
      let inflater = Inflater(windowBits: windowBits, keepsContext: keepsContext)
      let shared = Inflater(keepsContext: keepsContext)
      for length in [0, 1, 100, 513, 5000, 33_000, 70_000, 0, 0, 20] {
        // Some of it repeats at a distance, so that windows of all sizes matter.
        let unit = random.bytes(Int.random(in: 1...40_000, using: &random))
        var payload: [UInt8] = []
        while payload.count < length { payload += unit.prefix(length - payload.count) }
        let compressed = deflated(payload, by: deflater)
        #expect(try inflated(compressed, by: inflater) == payload)
        #expect(try inflated(compressed, by: shared) == payload)
      }
    }
  }

  @Test func `streams are created as needed, and then shared`() {
    let streams = DeflateStreams(level: 1)
    #expect(streams.deflater(windowBits: 8) == nil)
    #expect(streams.deflater() === streams.deflater(windowBits: 15))
    #expect(streams.deflater() === streams.widestDeflater)
    #expect(streams.deflater(windowBits: 9)?.windowBits == 9)
    #expect(streams.inflater === streams.inflater)
  }
}
