import Testing

@testable import Wire

@Suite struct `Text, eight bytes at a time` {
  @Test func `finds the first byte that needs an escape, at any place`() {
    for byte in UInt8.min...UInt8.max {
      for length in 0..<20 {
        for place in 0...length {
          var text = [UInt8](repeating: UInt8(ascii: "x"), count: length)
          // Neighbours that differ by one are those that a borrow would affect.
          for index in text.indices {
            text[index] = [0x20, 0x21, 0x23, 0x5B, 0x5D, 0xFF][index % 6]
          }
          if place < length { text[place] = byte }
          let expected = text.firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C } ?? length
          #expect(text.span.plainEnd(from: 0) == expected)
          if expected > 2 { #expect(text.span.plainEnd(from: 2) == expected) }
        }
      }
    }
  }

  @Test func `a word is plain if all of it is ASCII without control characters`() {
    for byte in UInt8.min...UInt8.max {
      for place in 0..<8 {
        var text = [UInt8](repeating: 0x20, count: 9)
        text[place] = byte
        let word = text.span.plainWord(at: 0)
        #expect(word.isPlain == (0x20..<0x7F).contains(byte))
        #expect(word.isBlank == (byte == 0x20))
        #expect(!text.span.plainWord(at: 2).isPlain)
      }
    }
  }

  @Test func `is copied up to the first byte that needs an escape, and no further`() {
    for byte in [UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x1F, 0x20, 0x7F, 0xFF] {
      for length in 0..<40 {
        for place in 0...length {
          var text = (0..<length).map { UInt8(ascii: "a") + UInt8($0 % 26) }
          if place < length { text[place] = byte }
          var copy: [UInt8] = []
          copy.append(addingCapacity: length + 1) { output in
            output.append(UInt8(ascii: "<"))
            #expect(output.append(plainStartOf: text.span) == text.span.plainEnd(from: 0))
          }
          #expect(copy == [UInt8(ascii: "<")] + text[..<text.span.plainEnd(from: 0)])
        }
      }
    }
  }

  @Test func `numbers have the digits that Swift gives them`() {
    var numbers: [Int64] = [.min, .max, 0]
    var power: Int64 = 1
    for _ in 0..<19 {
      for number in [power - 1, power, power + 1, power * 9] { numbers += [number, -number] }
      power = power < 1_000_000_000_000_000_000 ? power * 10 : power
    }
    for number in numbers {
      var text: [UInt8] = []
      text.append(decimal: number)
      #expect(String(decoding: text, as: UTF8.self) == "\(number)")
    }
  }

  @Test(arguments: 1...30) func `bytes are equal only if all are`(length: Int) {
    let name = (0..<length).map { UInt8(ascii: "b") + UInt8($0 % 20) }
    func isEqual(to other: [UInt8]) -> Bool { name.span.equals(other.span) }
    #expect(isEqual(to: name + []))
    #expect(!isEqual(to: Array(name.dropLast())))
    for place in 0..<length {
      var other = name
      other[place] = UInt8(ascii: "a")
      #expect(!isEqual(to: other))
    }
  }
}
