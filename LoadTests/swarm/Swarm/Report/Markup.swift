/// A writer of HTML and SVG: elements are always closed, and all text and attribute values are
/// escaped.
struct Markup {
  private(set) var text = ""

  /// Begins with a document's first line; the rest follows as elements.
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

  /// Writes an element without content, `<name/>`: a void element of HTML, or one of SVG.
  mutating func empty(_ name: StaticString, _ attributes: KeyValuePairs<String, String>) {
    text += "<\(name)"
    write(attributes)
    text += "/>\n"
  }

  /// Writes a table that scrolls horizontally on a narrow screen.
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

  /// Writes escaped text.
  mutating func words(_ words: String) { text += Self.escaped(words) }

  /// Writes a trusted style sheet, which HTML does not unescape.
  mutating func style(_ sheet: StaticString) { text += "<style>\(sheet)</style>\n" }

  private mutating func write(_ attributes: KeyValuePairs<String, String>) {
    for (name, value) in attributes { text += " \(name)=\"\(Self.escaped(value))\"" }
  }

  /// Escapes text, and removes characters that could end the document early or change the text
  /// direction.
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
