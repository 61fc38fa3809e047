internal import Emojis

/// The completions that Tab offers for the word before the cursor.
public struct Completion: Equatable, Sendable {
  /// Best first; never empty.
  public var candidates: [Candidate]
  public var selected: Int

  public struct Candidate: Equatable, Sendable {
    /// The text that replaces the word.
    public var replacement: String
    /// The text that is displayed.
    public var label: String

    public init(replacement: String, label: String) {
      self.replacement = replacement
      self.label = label
    }
  }

  /// Finds completions for the word before the cursor: users after `@` and where a command names one,
  /// emoji after `:` and at least two characters; `nil` if there are none.
  ///
  /// - Parameters:
  ///   - users: The users who can be mentioned, the most likely ones first; this order breaks ties.
  ///   - commands: Those that a slash at the start may begin; all that match are offered.
  ///   - limit: The maximum number of users or emoji.
  public init?(
    before editor: TextEditor, users: @autoclosure () -> [(user: String, name: String)],
    commands: [SlashCommand] = [], limit: Int = 8
  ) {
    if !commands.isEmpty, let start = editor.slashWord {
      candidates = SlashCommand.matching(String(start), in: commands).map {
        Candidate(
          replacement: $0.arguments.isEmpty ? "/\($0.names[0])" : "/\($0.names[0]) ",
          label: "\($0.usage)  \($0.text)")
      }
    } else if let word = editor.completable {
      let query = String(word.dropFirst())
      candidates =
        word.first == "@"
        ? Self.mentions(query, users(), limit: limit) : Self.emoji(query, limit: limit)
    } else if !commands.isEmpty, let word = editor.commandUser {
      candidates = Self.mentions(String(word), users(), limit: limit)
      for index in candidates.indices { candidates[index].replacement.removeFirst() }
    } else {
      return nil
    }
    if candidates.isEmpty { return nil }
    selected = 0
  }

  /// Offers paths; `nil` if there are none.
  init?(paths: [String]) {
    if paths.isEmpty { return nil }
    candidates = paths.map {
      let path = ShellWords.escaped($0)
      return Candidate(replacement: path.hasSuffix("/") ? path : "\(path) ", label: $0)
    }
    selected = 0
  }

  private static func mentions(
    _ query: String, _ users: [(user: String, name: String)], limit: Int
  ) -> [Candidate] {
    let fuzzy = Fuzzy(query)
    var scored: [(score: Int, place: Int)] = []
    for (place, person) in users.enumerated() {
      if let score = fuzzy.score(person.user, person.name) { scored.append((score, place)) }
    }
    scored.sort { $0.score != $1.score ? $0.score > $1.score : $0.place < $1.place }
    return scored.prefix(limit).map { scored in
      let person = users[scored.place]
      return Candidate(
        replacement: "@\(person.user) ",
        label: person.name == person.user ? "@\(person.user)" : "\(person.name)  @\(person.user)")
    }
  }

  private static func emoji(_ query: String, limit: Int) -> [Candidate] {
    guard query.count >= 2 else { return [] }
    return Emoji.matching(query).prefix(limit).map {
      Candidate(replacement: $0.emoji, label: "\($0.emoji) :\($0.code):")
    }
  }
}

extension TextEditor {
  /// Replaces the word before the cursor that can be completed, or inserts at the cursor if there
  /// is none. Does nothing if the text does not fit.
  public mutating func replaceWord(with text: String) {
    let count = text.hasPrefix("/") ? slashWord.map { $0.count + 1 } : completable?.count
    try? replace(last: pathWord?.count ?? count ?? commandUser?.count ?? 0, with: text)
  }

  /// The word before the cursor where a command takes a path: what it says, and its characters.
  var pathWord: (text: String, count: Int)? {
    let before = lines[line][..<column]
    guard line == 0, let end = before.firstIndex(where: \.isWhitespace),
      case .command(let command, _) = SlashCommand.read(String(before)), command.takesPath
    else { return nil }
    let words = ShellWords(before[end...])
    // What follows is a caption.
    if words.words.contains(where: { $0.text == "--" && !$0.isQuoted }) { return nil }
    guard !words.endsWithSpace, let last = words.words.last else { return ("", 0) }
    return (last.text, last.range.count)
  }

  /// The first argument of a command that names a user, if the cursor is in it.
  fileprivate var commandUser: ArraySlice<Character>? {
    let before = lines[line][..<column]
    guard line == 0, let end = before.firstIndex(where: \.isWhitespace),
      case .command(let command, _) = SlashCommand.read(String(before)), command.takesUser
    else { return nil }
    let word = before[end...].drop(while: \.isWhitespace)
    return word.contains(where: \.isWhitespace) ? nil : word
  }

  /// The letters after a slash at the start of the text, if the cursor follows them.
  fileprivate var slashWord: ArraySlice<Character>? {
    let before = lines[line][..<column]
    guard line == 0, before.first == "/", !before.dropFirst().contains("/"),
      !before.contains(where: \.isWhitespace)
    else { return nil }
    return before.dropFirst()
  }

  /// The word before the cursor, with the `@` or `:` at its start.
  fileprivate var completable: ArraySlice<Character>? {
    let before = lines[line][..<column]
    // Longer words are not completed.
    guard let sign = before.suffix(64).lastIndex(where: { $0 == "@" || $0 == ":" }) else {
      return nil
    }
    let isSeparate =
      before[..<sign].last.map { !$0.isLetter && !$0.isNumber && $0 != "@" && $0 != ":" } ?? true
    let word = before[sign...]
    return isSeparate && !word.contains(where: \.isWhitespace) ? word : nil
  }
}
