/// The smallest piece of JavaScript with a meaning of its own (ECMA-262 §12).
struct Token: Equatable {
  enum Kind {
    /// An identifier, a keyword, a private name, or the digits of a number.
    case word
    /// One character.
    case punctuation
    case string, regularExpression
    /// The text of a template, from "`" or "}" up to "${" or "`".
    case template
  }

  var kind: Kind
  var text: String
  /// Whether white space or a comment is before it.
  var isSpaced = false
}

/// Splits JavaScript into tokens, without its comments.
///
/// A `/` divides after a closing bracket, a literal, or a word that is no keyword, and begins a regular
/// expression after anything else. That is wrong for a regular expression right after `if (…)` or a
/// block, which the page does not have.
struct Scanner {
  private let bytes: [UInt8]
  private var position = 0
  /// For each open `{`, whether it is the one of `${`.
  private var braces: [Bool] = []
  private var tokens: [Token] = []

  static func tokens(of script: String) throws(BundlingError) -> [Token] {
    var scanner = Scanner(bytes: Array(script.utf8))
    while true {
      let isSpaced = try scanner.skipSpace()
      let start = scanner.position
      guard start < scanner.bytes.count else { return scanner.tokens }
      let kind = try scanner.skipToken()
      let text = String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)
      scanner.tokens.append(Token(kind: kind, text: text, isSpaced: isSpaced))
    }
  }

  /// Skips white space and comments; returns whether there were any.
  private mutating func skipSpace() throws(BundlingError) -> Bool {
    let start = position
    while let byte = bytes[position...].first {
      if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") {
        position += 1
      } else if isNext("//") {
        position = bytes[position...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      } else if isNext("/*") {
        position += 2
        while !isNext("*/") { _ = try take() }
        position += 2
      } else {
        break
      }
    }
    return position > start
  }

  private mutating func skipToken() throws(BundlingError) -> Token.Kind {
    if skipWord() { return .word }
    switch try take() {
    case UInt8(ascii: "\""): try skip(past: UInt8(ascii: "\""))
    case UInt8(ascii: "'"): try skip(past: UInt8(ascii: "'"))
    case UInt8(ascii: "`"): return try skipTemplate()
    case UInt8(ascii: "{"):
      braces.append(false)
      return .punctuation
    case UInt8(ascii: "}"): return braces.popLast() == true ? try skipTemplate() : .punctuation
    case UInt8(ascii: "/") where !isAfterOperand:
      try skipRegularExpression()
      return .regularExpression
    default: return .punctuation
    }
    return .string
  }

  private mutating func skipWord() -> Bool {
    let start = position
    while let byte = bytes[position...].first, Self.isOfWord(byte) { position += 1 }
    return position > start
  }

  private mutating func skip(past end: UInt8) throws(BundlingError) {
    while true {
      let byte = try take()
      if byte == end { return }
      if byte == UInt8(ascii: "\\") { _ = try take() }
    }
  }

  private mutating func skipTemplate() throws(BundlingError) -> Token.Kind {
    while true {
      if isNext("${") {
        position += 2
        braces.append(true)
        return .template
      }
      let byte = try take()
      if byte == UInt8(ascii: "`") { return .template }
      if byte == UInt8(ascii: "\\") { _ = try take() }
    }
  }

  private mutating func skipRegularExpression() throws(BundlingError) {
    while true {
      switch try take() {
      case UInt8(ascii: "\\"): _ = try take()
      case UInt8(ascii: "["): try skip(past: UInt8(ascii: "]"))
      case UInt8(ascii: "/"):
        _ = skipWord()  // the flags
        return
      default: break
      }
    }
  }

  private mutating func take() throws(BundlingError) -> UInt8 {
    guard let byte = bytes[position...].first else {
      throw BundlingError("ends within a literal or a comment")
    }
    position += 1
    return byte
  }

  private func isNext(_ text: String) -> Bool { bytes[position...].starts(with: text.utf8) }

  /// The keywords after which an expression begins.
  private static let operators: Set = [
    "await", "case", "delete", "do", "else", "in", "instanceof", "new", "of", "return", "throw",
    "typeof", "void", "yield",
  ]

  private var isAfterOperand: Bool {
    guard let last = tokens.last else { return false }
    return switch last.kind {
    case .word: !Self.operators.contains(last.text)
    case .string, .regularExpression: true
    case .template: last.text.hasSuffix("`")
    case .punctuation: ")]}".contains(last.text)
    }
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
      UInt8(ascii: "#"), 0x80...:
      true
    default: false
    }
  }
}
