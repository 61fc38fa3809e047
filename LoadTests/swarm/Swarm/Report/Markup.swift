/// HTML and SVG in the making: what is opened is closed, and every word and value is escaped.
struct Markup {
  private(set) var text = ""

  /// A document's first line; the rest follows as elements.
  init(prolog: StaticString = "") { text = "\(prolog)" }

  mutating func element(
    _ name: StaticString, _ attributes: KeyValuePairs<String, String> = [:],
    _ content: (inout Markup) -> Void
  ) {
    text += "<\(name)"
    write(attributes)
    text += ">"
    content(&self)
    text += "</\(name)>\n"
  }

  mutating func element(
    _ name: StaticString, _ attributes: KeyValuePairs<String, String>, _ words: String
  ) {
    element(name, attributes) { $0.words(words) }
  }

  mutating func element(_ name: StaticString, _ words: String) { element(name, [:], words) }

  /// An element without content, `<name/>`: of those that HTML calls void, or of SVG.
  mutating func empty(_ name: StaticString, _ attributes: KeyValuePairs<String, String>) {
    text += "<\(name)"
    write(attributes)
    text += "/>\n"
  }

  /// A table that is moved sideways by itself where the screen is narrow.
  mutating func table(_ titles: [String], _ rows: (inout Markup) -> Void) {
    element("div", ["class": "wide"]) { page in
      page.element("table") { page in
        page.element("thead") { page in
          page.element("tr") { page in for title in titles { page.element("th", title) } }
        }
        page.element("tbody") { rows(&$0) }
      }
    }
  }

  /// Text as a person should see it.
  mutating func words(_ words: String) { text += Self.escaped(words) }

  /// A style sheet of our own, which HTML does not unescape.
  mutating func style(_ sheet: StaticString) { text += "<style>\(sheet)</style>\n" }

  private mutating func write(_ attributes: KeyValuePairs<String, String>) {
    for (name, value) in attributes { text += " \(name)=\"\(Self.escaped(value))\"" }
  }

  /// Also without what could end a document early, or turn the direction of what follows.
  static func escaped(_ words: String) -> String {
    var escaped = ""
    for scalar in words.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\n", "\t": escaped.unicodeScalars.append(scalar)
      case "\u{0}"..<" ", "\u{7F}"..."\u{9F}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
        escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
