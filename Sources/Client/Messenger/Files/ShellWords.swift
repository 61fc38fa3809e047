/// The words of a line, as a shell reads them: so terminals write the path of a file that is dropped on
/// them, and so a person writes one with a space. A backslash takes the next character as it is, and
/// quotes all within them; nothing else has a meaning.
struct ShellWords: Equatable, Sendable {
  struct Word: Equatable, Sendable {
    var text: String
    /// Its characters in the line, with quotes and backslashes.
    var range: Range<Int>
    /// Whether it was written with a quote or a backslash.
    var isQuoted = false
    /// Whether a quote in it is not closed, or nothing follows its last backslash.
    var isOpen = false
  }

  private(set) var words: [Word] = []
  /// Whether white space follows the last word.
  private(set) var endsWithSpace = true

  init(_ line: some Collection<Character>) {
    var word: Word?
    var quote: Character?
    var escapes = false
    for (index, character) in line.enumerated() {
      if quote == nil, !escapes, character.isWhitespace {
        if let word { words.append(word) }
        word = nil
        continue
      }
      var current = word ?? Word(text: "", range: index..<index)
      switch character {
      case _ where escapes:
        // Within double quotes it is a backslash, unless it has a meaning (POSIX, 2.2.3).
        if quote != nil, character != "\"", character != "\\" { current.text.append("\\") }
        current.text.append(character)
        escapes = false
      case "\\" where quote != "'": (escapes, current.isQuoted) = (true, true)
      case "'", "\"":
        if quote == character {
          quote = nil
        } else if quote == nil {
          (quote, current.isQuoted) = (character, true)
        } else {
          current.text.append(character)
        }
      default: current.text.append(character)
      }
      current.range = current.range.lowerBound..<index + 1
      current.isOpen = quote != nil || escapes
      word = current
    }
    endsWithSpace = word == nil
    if let word { words.append(word) }
  }

  /// Returns a text that is read as this word.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      let isPlain =
        character.isLetter || character.isNumber || "/._-+=@%:,~".contains(character)
      if !isPlain { escaped.append("\\") }
      escaped.append(character)
    }
    return escaped
  }
}
