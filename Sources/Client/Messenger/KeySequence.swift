public import Terminal

/// One key, or several that are pressed one after the other, such as `g g`.
public struct KeySequence: Hashable, Sendable {
  static let keysLimit = 4

  /// Never empty.
  public let keys: [Key]

  public init(_ key: Key) { keys = [key] }

  private init(keys: [Key]) { self.keys = keys }

  /// Parses the name of a key, or the names of several with spaces between them.
  public static func named(_ name: String) -> Result<KeySequence, Key.Unnameable> {
    let words = name.split(separator: " ")
    guard words.count > 1 else {
      return Key.named(words.first.map(String.init) ?? name).map(KeySequence.init)
    }
    guard words.count <= keysLimit else { return .failure(.unknown(name)) }
    var keys: [Key] = []
    for word in words {
      switch Key.named(String(word)) {
      case .success(let key): keys.append(key)
      case .failure(.unknown): return .failure(.unknown(name))
      case .failure(let failure): return .failure(failure)
      }
    }
    return .success(KeySequence(keys: keys))
  }

  /// The key, if it is only one.
  public var single: Key? { keys.count == 1 ? keys[0] : nil }

  /// Whether its first key inserts a character into a text.
  var isTyped: Bool { keys[0].isTyped }

  func adding(_ key: Key) -> KeySequence { KeySequence(keys: keys + [key]) }

  /// The sequences with which it begins, without itself.
  var prefixes: [KeySequence] {
    (1..<max(1, keys.count)).map { KeySequence(keys: Array(keys.prefix($0))) }
  }

  /// Whether it begins with another sequence, and goes on.
  func extends(_ other: KeySequence) -> Bool {
    keys.count > other.keys.count && keys.starts(with: other.keys)
  }

  /// The keys after those of a sequence with which it begins.
  func rest(after start: KeySequence) -> KeySequence {
    KeySequence(keys: Array(keys.dropFirst(start.keys.count)))
  }

  /// As displayed: "Ctrl+K", "gg", "Ctrl+X Ctrl+E".
  public var label: String {
    let isPlain = keys.allSatisfy { key in
      guard case .character(let character) = key.code else { return false }
      return key.modifiers.isEmpty && character != " "
    }
    return keys.map(\.label).joined(separator: isPlain ? "" : " ")
  }

  /// Several as displayed; digits that follow each other are one: "Alt+1…9".
  static func label(of sequences: [KeySequence]) -> String {
    var labels: [String] = []
    var index = 0
    while index < sequences.count {
      var end = index + 1
      while end < sequences.count, sequences[end - 1].isFollowed(by: sequences[end]) { end += 1 }
      if end - index > 2, case .character(let last)? = sequences[end - 1].single?.code {
        labels.append("\(sequences[index].label)…\(last)")
      } else {
        labels += sequences[index..<end].map(\.label)
      }
      index = end
    }
    return labels.joined(separator: ", ")
  }

  private func isFollowed(by next: KeySequence) -> Bool {
    guard let one = single, let other = next.single, one.modifiers == other.modifiers,
      case .character(let character) = one.code, case .character(let following) = other.code,
      let digit = character.wholeNumberValue, let nextDigit = following.wholeNumberValue
    else { return false }
    return digit + 1 == nextDigit
  }
}
