/// A value that can be written as JSON (RFC 8259).
protocol JSONValue {
  /// Appends the value to a text, without white space.
  func write(to text: inout String)
}

/// A JSON object; its members keep their order, and those that are `nil` are left out.
struct JSONObject: JSONValue, ExpressibleByDictionaryLiteral {
  private var members: [(key: String, value: any JSONValue)]

  init(_ members: [(String, any JSONValue)]) { self.members = members }

  init(dictionaryLiteral members: (String, (any JSONValue)?)...) {
    self.init(members.compactMap { key, value in value.map { (key, $0) } })
  }

  static func + (first: JSONObject, second: JSONObject) -> JSONObject {
    JSONObject(first.members + second.members)
  }

  /// The object as a document; ends with a newline.
  var document: String {
    var text = ""
    write(to: &text)
    return text + "\n"
  }

  func write(to text: inout String) {
    text += "{"
    for (index, member) in members.enumerated() {
      if index > 0 { text += "," }
      member.key.write(to: &text)
      text += ":"
      member.value.write(to: &text)
    }
    text += "}"
  }
}

extension Array: JSONValue where Element: JSONValue {
  func write(to text: inout String) {
    text += "["
    for (index, element) in enumerated() {
      if index > 0 { text += "," }
      element.write(to: &text)
    }
    text += "]"
  }
}

extension String: JSONValue {
  func write(to text: inout String) {
    text += "\""
    for scalar in unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\u{0}"..<" ":
        text += scalar.value < 16 ? "\\u000" : "\\u00"
        text += String(scalar.value, radix: 16)
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension Int: JSONValue {
  func write(to text: inout String) { text += "\(self)" }
}

extension Double: JSONValue {
  /// Writes integers without a decimal point.
  func write(to text: inout String) { text += Int(exactly: self).map(String.init) ?? "\(self)" }
}

extension Bool: JSONValue {
  func write(to text: inout String) { text += self ? "true" : "false" }
}
