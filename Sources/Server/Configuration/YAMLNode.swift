/// One value of a YAML document and the line it stands on, which a message to a person needs.
///
/// A scalar has no type until someone asks for one: `title: 5` is a title, `burst: 5` a number.
/// That leaves no room for YAML's surprises (`no` as a boolean, `1e3` as a text, `010` as 8).
struct YAMLNode: Equatable, Sendable {
  /// A mapping's entry, in the order of the file.
  struct Pair: Equatable, Sendable {
    var key: String
    var line: Int
    var value: YAMLNode
  }

  enum Content: Equatable, Sendable {
    /// `isPlain`: written without quotes, so that it may be a number, a boolean or nothing.
    case scalar(String, isPlain: Bool)
    case list([YAMLNode])
    /// No key occurs twice.
    case mapping([Pair])
  }

  /// Counted from 1.
  var line: Int
  var content: Content

  /// Whether nothing was written: `key:`, `key: ~`, `key: null`.
  var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return text.isEmpty || text == "~" || text == "null"
  }

  var text: String? {
    guard case .scalar(let text, _) = content, !isNull else { return nil }
    return text
  }

  /// `true` or `false`, nothing else.
  var boolean: Bool? {
    switch plain {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// Decimal digits with at most a minus sign in front; a leading zero, which YAML 1.1 reads as
  /// octal, is refused.
  func integer<Value: FixedWidthInteger>(as type: Value.Type = Value.self) -> Value? {
    guard let plain, let value = Value(plain), String(value) == plain else { return nil }
    return value
  }

  /// A decimal number, such as `2` or `0.5`.
  var number: Double? {
    guard let plain, plain.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 || $0 == 45 })
    else { return nil }
    return Double(plain)
  }

  var list: [YAMLNode]? {
    guard case .list(let elements) = content else { return nil }
    return elements
  }

  /// What was found, for a message: the text in quotes and cut short, or what it is.
  var shown: String {
    switch content {
    case _ where isNull: "empty"
    case .scalar(let text, _):
      YAMLText.quoted(text.count > 60 ? "\(text.prefix(60))…" : text)
    case .list: "a list"
    case .mapping: "a mapping"
    }
  }

  private var plain: String? {
    guard case .scalar(let text, isPlain: true) = content else { return nil }
    return text
  }
}

/// Text as YAML writes it.
enum YAMLText {
  /// As it is where no reader could take it for anything but text, in quotes otherwise.
  static func written(_ text: String) -> String {
    let isPlain =
      text.utf8.first.map { isLetter($0) || $0 == 46 || $0 == 47 } == true
      && text.utf8.allSatisfy {
        isLetter($0) || (48...57).contains($0) || [45, 46, 47, 95].contains($0)
      }
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
    let isNumber = text.lowercased() == ".inf" || text.lowercased() == ".nan"
    let isDecimal = text.hasPrefix(".") && text.dropFirst().utf8.first.map(isDigit) == true
    return isPlain && !words.contains(text.lowercased()) && !isNumber && !isDecimal
      ? text : quoted(text)
  }

  /// In double quotes, with control characters escaped.
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      // C0, DEL and C1, the line separators and the marks that turn the direction of text: none
      // of them belongs raw on a terminal.
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{200E}", "\u{200F}",
        "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}":
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (65...90).contains(byte) || (97...122).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (48...57).contains(byte)
  }
}
