/// Finds web links in a text.
public enum Links {
  /// Returns the `http://` and `https://` links in order, without surrounding punctuation: a
  /// closing bracket belongs to a link that contains the opening one.
  public static func find(in text: String) -> [Range<String.Index>] {
    var links: [Range<String.Index>] = []
    var start = text.startIndex
    while let colon = text.utf8[start...].firstIndex(of: UInt8(ascii: ":")) {
      start = text.index(after: colon)
      guard text[start...].hasPrefix("//"), let scheme = scheme(before: colon, in: text),
        scheme >= links.last?.upperBound ?? text.startIndex
      else { continue }
      let host = text.index(start, offsetBy: 2)
      let end = end(of: text, from: host)
      guard end > host, text[host].isLetter || text[host].isNumber || text[host] == "["
      else { continue }
      links.append(scheme..<end)
      start = end
    }
    return links
  }

  /// Returns where the scheme begins that ends here, if it does not continue a word.
  private static func scheme(before colon: String.Index, in text: String) -> String.Index? {
    for scheme in ["https", "http"] {
      guard let start = text.index(colon, offsetBy: -scheme.count, limitedBy: text.startIndex),
        text[start..<colon].lowercased() == scheme
      else { continue }
      guard start > text.startIndex else { return start }
      let before = text[text.index(before: start)]
      // In scripts without spaces a link may follow a word directly.
      return before.isASCII && (before.isLetter || before.isNumber) ? nil : start
    }
    return nil
  }

  private static func end(of text: String, from host: String.Index) -> String.Index {
    let run = text[host...].prefix(while: isAllowed)
    // Counts brackets, to decide which closing ones belong to the link.
    var counts: [Character: Int] = [:]
    for character in run where "()[]".contains(character) { counts[character, default: 0] += 1 }
    var link = run
    while let last = link.last {
      if let opening = [")": "(", "]": "["][last] as Character? {
        guard counts[last, default: 0] > counts[opening, default: 0] else { break }
        counts[last, default: 0] -= 1
      } else if !".,;:!?'*_~…。、，！？：；）】」』》“”’".contains(last) {
        break
      }
      link = link.dropLast()
    }
    return link.endIndex
  }

  private static func isAllowed(_ character: Character) -> Bool {
    if let byte = character.asciiValue, byte > 0x20, byte < 0x7F {
      switch Unicode.Scalar(byte) {
      case "<", ">", "\"", "`", "{", "}", "|", "\\", "^": return false
      default: return true
      }
    }
    if character.isWhitespace { return false }
    // Excludes invisible characters and those that change the text direction.
    return character.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned: false
      default: true
      }
    }
  }
}
