public import Emojis
internal import Terminal

extension Emoji {
  private static let byCode = Dictionary(
    uniqueKeysWithValues: all.map { (Substring($0.code), $0.emoji) })
  private static let longestCode = all.reduce(0) { max($0, $1.code.utf8.count) }

  /// Returns the text with the emoji instead of their names (`:tada:`). Unknown names stay, and
  /// everything within code (between backticks) and links. A name neither follows a word nor is
  /// followed by one: `a:b:c`, `12:30:45` and `std::x::y` stay as they are.
  public static func replacingCodes(in text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: ":")) else { return text }
    var excluded = code(in: text) + Links.find(in: text)
    excluded.sort { $0.lowerBound < $1.lowerBound }
    var next = 0
    var result = ""
    var index = text.startIndex
    var previous: Character?
    while index < text.endIndex {
      while next < excluded.count, excluded[next].upperBound <= index { next += 1 }
      if next < excluded.count, excluded[next].contains(index) {
        result += text[index..<excluded[next].upperBound]
        index = excluded[next].upperBound
        previous = result.last
        continue
      }
      if text[index] == ":", !isWord(previous), previous != ":",
        let found = name(at: index, in: text)
      {
        result += found.emoji
        index = found.end
        // Another name may follow at once.
        previous = nil
        continue
      }
      previous = text[index]
      result.append(text[index])
      index = text.index(after: index)
    }
    return result
  }

  /// Returns the emoji whose name begins at a colon, and where the name ends.
  private static func name(
    at colon: String.Index, in text: String
  ) -> (emoji: String, end: String.Index)? {
    let start = text.index(after: colon)
    let rest = text.utf8[start...]
    guard let end = rest.prefix(longestCode + 1).firstIndex(of: UInt8(ascii: ":")),
      let emoji = byCode[text[start..<end]]
    else { return nil }
    let after = text.utf8.index(after: end)
    guard after < text.endIndex else { return (emoji, after) }
    let isColon = text[after] == ":"
    if isWord(text[after]) || (isColon && name(at: after, in: text) == nil) { return nil }
    return (emoji, after)
  }

  /// Whether a character is of a word; between wide ones (CJK) nothing separates words.
  private static func isWord(_ character: Character?) -> Bool {
    guard let character, character.isLetter || character.isNumber || character == "_" else {
      return false
    }
    return TextWidth.columns(of: character) < 2
  }

  /// Returns the ranges of code: from a run of backticks to the next run of the same length, as in
  /// CommonMark. A run without another is text.
  private static func code(in text: String) -> [Range<String.Index>] {
    var runs: [Range<String.Index>] = []
    var index = text.startIndex
    while let start = text.utf8[index...].firstIndex(of: UInt8(ascii: "`")) {
      index = text.utf8[start...].firstIndex { $0 != UInt8(ascii: "`") } ?? text.endIndex
      runs.append(start..<index)
    }
    // The runs of each length, the last first, so that the next one is found at once.
    var later: [Int: [Int]] = [:]
    func length(_ run: Range<String.Index>) -> Int { text.utf8[run].count }
    for (place, run) in runs.enumerated().reversed() {
      later[length(run), default: []].append(place)
    }
    var code: [Range<String.Index>] = []
    var place = 0
    while place < runs.count {
      let length = length(runs[place])
      while let other = later[length]?.last, other <= place { later[length]?.removeLast() }
      guard let end = later[length]?.last else {
        place += 1
        continue
      }
      code.append(runs[place].lowerBound..<runs[end].upperBound)
      place = end + 1
    }
    return code
  }
}
