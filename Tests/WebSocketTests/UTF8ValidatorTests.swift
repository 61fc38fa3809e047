import Mixing
import Testing
import WebSocket

@Suite struct `UTF-8 validator, RFC 3629` {
  /// For every prefix of an encoded scalar (a one, then its bytes), the bytes that may follow:
  /// from Swift's own encoder, for all 1,112,064 scalars.
  static func followers() -> [UInt32: [Bool]] {
    var followers: [UInt32: [Bool]] = [:]
    var lastPrefix: UInt32 = 0
    var last = [Bool](repeating: false, count: 256)
    for value in UInt32(0)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let bytes = UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      var prefix: UInt32 = 1
      for (index, byte) in bytes.enumerated() {
        if index == bytes.count - 1, prefix == lastPrefix {
          last[Int(byte)] = true
        } else {
          followers[lastPrefix] = last
          last = followers[prefix] ?? [Bool](repeating: false, count: 256)
          last[Int(byte)] = true
          lastPrefix = prefix
        }
        prefix = prefix << 8 | UInt32(byte)
      }
    }
    followers[lastPrefix] = last
    return followers
  }

  @Test func `every byte after every prefix is accepted exactly if a scalar continues so`() {
    let followers = Self.followers()
    var wrong: [String] = []
    var checked = 0
    for (prefix, allowed) in followers where prefix != 0 {
      var before = UTF8Validator()
      for shift in stride(from: 24, through: 0, by: -8) where prefix >> shift > 1 {
        let byte = UInt8(truncatingIfNeeded: prefix >> shift)
        let bytes: InlineArray<1, UInt8> = [byte]
        if !before.accept(bytes.span) { wrong.append("prefix \(String(prefix, radix: 16))") }
      }
      for byte in UInt8.min...UInt8.max {
        var validator = before
        let bytes: InlineArray<1, UInt8> = [byte]
        let accepted = validator.accept(bytes.span)
        let next = prefix << 8 | UInt32(byte)
        let isEnd = prefix >= 1 << 24 || followers[next] == nil
        if accepted != allowed[Int(byte)] || accepted && validator.isComplete != isEnd {
          wrong.append("\(byte) after \(String(prefix, radix: 16))")
        }
        checked += 1
      }
    }
    #expect(wrong.isEmpty, "\(wrong.count) of \(checked), as \(wrong.prefix(5))")
    // 1 empty; leads of 2, 3 and 4 bytes; 2 of 3 and of 4; 3 of 4.
    #expect(followers.count - 1 == 1 + 30 + 16 + 5 + (1024 - 64) + 256 + 16384)
  }

  @Test func `random and broken text, in any pieces, is judged as by Swift's decoder`() {
    var random = SplitMix64(seed: 2)
    for _ in 0..<3000 {
      let scalars = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        Unicode.Scalar.random(using: &random)
      }
      var text = Array(String(String.UnicodeScalarView(scalars)).utf8)
      if Bool.random(using: &random), !text.isEmpty {
        let index = Int.random(in: 0..<text.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: text[index] = UInt8.random(in: 0...255, using: &random)
        case 1: text.remove(at: index)
        default: text.removeSubrange(index...)
        }
      }
      var validator = UTF8Validator()
      let isValid =
        random.cuts(text.count).allSatisfy { validator.accept(text.span.extracting($0)) }
        && validator.isComplete
      #expect(isValid == (String(validating: text, as: UTF8.self) != nil), "\(text)")
    }
  }

  @Test func `a bad byte is found at any place among ASCII`() {
    for length in 0..<40 {
      for bad in 0..<length {
        var text = [UInt8](repeating: UInt8(ascii: "a"), count: length)
        text[bad] = 0xFF
        var validator = UTF8Validator()
        let accepted = validator.accept(text.span)
        #expect(!accepted, "\(bad) of \(length)")
      }
    }
  }
}
