internal import Emojis
internal import Terminal

/// Choosing an emoji to react with.
extension Chat {
  /// The number of emoji that are offered for a name.
  static let reactionsLimit = 60
  /// What the relay accepts as a reaction, in UTF-8.
  static let reactionLimitBytes = 64

  /// Returns the emoji that are offered: the usual ones, those whose name matches, or the one that
  /// was typed or pasted itself.
  func reactionChoices(for query: LineEditor) -> [Emoji] {
    let text = query.text.trimmingPrefix(":")
    if text.isEmpty { return Emoji.quick.map { Emoji(emoji: $0, code: "") } }
    if text.count == 1, let scalar = text.unicodeScalars.first, !scalar.isASCII,
      scalar.properties.isEmoji, text.utf8.count <= Self.reactionLimitBytes
    {
      return [Emoji(emoji: String(text), code: "")]
    }
    let name = text.last == ":" ? text.dropLast() : text
    return Array(Emoji.matching(String(name)).prefix(Self.reactionsLimit))
  }

  /// Takes a typed character: a digit chooses one of the usual emoji, unless a name is being typed.
  mutating func typeInReactions(_ text: String, _ query: LineEditor, _ effects: inout [Effect]) {
    if query.isEmpty, let number = Int(text), Emoji.quick.indices.contains(number - 1) {
      return react(at: number - 1, query, &effects)
    }
    insertInReactions(text, query)
  }

  mutating func insertInReactions(_ text: String, _ query: LineEditor) {
    var query = query
    if insert(text, into: &query) { overlay = .reactions(selected: 0, query: query) }
  }

  mutating func performInReactions(
    _ command: Command, _ selected: Int, _ query: LineEditor, _ effects: inout [Effect]
  ) {
    guard selectedMessage != nil else { return overlay = nil }
    var query = query
    var move = command
    // The usual ones are in a row, the found ones below each other, with a name to edit above them.
    if query.isEmpty {
      if command == .left { move = .up }
      if command == .right { move = .down }
    }
    if let moved = Self.move(move, selected, of: reactionChoices(for: query).count) {
      overlay = .reactions(selected: moved, query: query)
    } else if command == .choose || command == .send {
      react(at: selected, query, &effects)
    } else {
      let name = query.text
      guard query.perform(command) else { return }
      overlay = .reactions(selected: query.text == name ? selected : 0, query: query)
    }
  }

  private mutating func react(at place: Int, _ query: LineEditor, _ effects: inout [Effect]) {
    let choices = reactionChoices(for: query)
    guard choices.indices.contains(place), let message = selectedMessage else { return }
    overlay = nil
    react(choices[place].emoji, to: message, &effects)
  }
}
