/// Text without what a browser does not need.
enum Minified {
  /// Joins tokens with a space only where two of them would become one, and without the comma before a
  /// closing bracket. Every statement ends with a semicolon, as Biome writes it, so no line break counts.
  static func script(_ tokens: [Token]) -> String {
    var text = ""
    var last: Token?
    for (index, token) in tokens.enumerated() {
      // An array whose last element is empty needs its comma.
      if token.text == ",", tokens[(index + 1)...].first?.closes == true,
        last?.text != "[", last?.text != ","
      {
        continue
      }
      if token.isSpaced, let last, needsSpace(last, token) { text += " " }
      text += token.text
      last = token
    }
    return text
  }

  /// Returns a module's tokens with its private names in one or two letters, the most frequent ones in one. They
  /// are seen by no other module.
  static func withShortNames(_ tokens: [Token]) -> [Token] {
    var counts: [String: Int] = [:]
    for token in tokens where token.isPrivateName { counts[token.text, default: 0] += 1 }
    let names = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
    let short = Dictionary(uniqueKeysWithValues: zip(names, names.indices.map(letters)))
    return tokens.map { token in
      guard token.isPrivateName, let name = short[token.text] else { return token }
      return Token(kind: .word, text: "#\(name)", isSpaced: token.isSpaced)
    }
  }

  private static func letters(_ index: Int) -> String {
    let last = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(index % 26)))
    return index < 26 ? last : letters(index / 26 - 1) + last
  }

  private static func needsSpace(_ left: Token, _ right: Token) -> Bool {
    switch (left.kind, right.kind) {
    case (.word, .word), (.regularExpression, .word), (.punctuation, .regularExpression): true
    default: left.text == right.text && ["+", "-"].contains(left.text)
    }
  }

  /// Removes the comments of a style sheet, and white space that separates nothing.
  static func style(_ text: String) -> String {
    var output: [UInt8] = []
    var isSpaced = false
    var quote: UInt8?
    let bytes = Array(text.utf8)
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      if quote == nil, bytes[index...].starts(with: "/*".utf8) {
        index += 2
        while index < bytes.count, !bytes[index...].starts(with: "*/".utf8) { index += 1 }
        index += 2
        isSpaced = true
        continue
      }
      index += 1
      if quote == nil, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
        isSpaced = true
        continue
      }
      if isSpaced, let last = output.last, !"{};:,>(".utf8.contains(last),
        !"{};,>)".utf8.contains(byte)
      {
        output.append(UInt8(ascii: " "))
      }
      isSpaced = false
      if quote == byte {
        quote = nil
      } else if quote == nil, "\"'".utf8.contains(byte) {
        quote = byte
      }
      output.append(byte)
    }
    return String(decoding: output, as: UTF8.self)
  }
}

extension Token {
  fileprivate var closes: Bool { kind == .punctuation && ")]}".contains(text) }
  fileprivate var isPrivateName: Bool { kind == .word && text.hasPrefix("#") }
}
