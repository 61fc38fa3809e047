public import Terminal

extension Key {
  /// Why a text is not the name of a key.
  public enum Unnameable: Error, Equatable, Sendable {
    /// There is no key of this name.
    case unknown(String)
    /// Terminals send the same bytes for it as for another key.
    case sameAs(String)
  }

  /// Parses the name of a key in a configuration: `ctrl+k`, `alt+up`, `f1`, `shift+tab`, `?`.
  /// Modifiers and names are case-insensitive; characters are literal.
  public static func named(_ name: String) -> Result<Key, Unnameable> {
    var modifiers: Modifiers = []
    var rest = name[...]
    while let plus = rest.dropFirst().firstIndex(of: "+"),
      rest.index(after: plus) < rest.endIndex
    {
      let word = rest[..<plus].lowercased()
      switch word {
      case "ctrl", "control": modifiers.insert(.control)
      case "alt", "meta": modifiers.insert(.alt)
      case "shift": modifiers.insert(.shift)
      default: return .failure(.unknown(name))
      }
      rest = rest[rest.index(after: plus)...]
    }
    let word = rest.lowercased()
    if let code = codes[word] ?? function(word) { return .success(Key(code, modifiers)) }
    guard rest.count == 1, let character = rest.first, !character.isWhitespace else {
      return .failure(.unknown(name))
    }
    return typed(character, modifiers, name)
  }

  private static func typed(
    _ character: Character, _ modifiers: Modifiers, _ name: String
  ) -> Result<Key, Unnameable> {
    let lower = single(character.lowercased()) ?? character
    if modifiers.contains(.control) {
      switch lower {
      case "m": return .failure(.sameAs("enter"))
      case "i": return .failure(.sameAs("tab"))
      case "[": return .failure(.sameAs("escape"))
      case _ where modifiers.contains(.shift):
        let others = modifiers.contains(.alt) ? "ctrl+alt+" : "ctrl+"
        return .failure(.sameAs(others + String(lower)))
      default: return .success(Key(.character(lower), modifiers))
      }
    }
    guard modifiers.contains(.shift) else { return .success(Key(.character(character), modifiers)) }
    // Shift is part of the character; only for letters is the shifted character known.
    guard let upper = single(character.uppercased()), upper != lower else {
      return .failure(.unknown(name))
    }
    return .success(Key(.character(upper), modifiers.subtracting(.shift)))
  }

  private static func single(_ text: String) -> Character? { text.count == 1 ? text.first : nil }

  private static func function(_ word: String) -> Code? {
    guard word.first == "f", let number = Int(word.dropFirst()), 1...24 ~= number,
      word.dropFirst() == String(number)
    else { return nil }
    return .function(number)
  }

  private static let codes: [String: Code] = [
    "enter": .enter, "return": .enter, "tab": .tab, "backspace": .backspace, "delete": .delete,
    "del": .delete, "insert": .insert, "ins": .insert, "escape": .escape, "esc": .escape,
    "up": .up, "down": .down, "left": .left, "right": .right, "home": .home, "end": .end,
    "pageup": .pageUp, "pgup": .pageUp, "pagedown": .pageDown, "pgdn": .pageDown,
    "space": .character(" "), "plus": .character("+"),
  ]

  /// The possible names, for an error message.
  static let names =
    "a character, or enter, tab, space, backspace, delete, insert, escape, up, down, left, right, "
    + "home, end, pageup, pagedown, f1 to f24, with ctrl+, alt+ or shift+ before it"

  /// The name as displayed: "Ctrl+K", "Alt+↑".
  public var label: String {
    var label = ""
    if modifiers.contains(.control) { label += "Ctrl+" }
    if modifiers.contains(.alt) { label += "Alt+" }
    if modifiers.contains(.shift) { label += "Shift+" }
    switch code {
    case .character(" "): label += "Space"
    case .character(let character) where modifiers.isEmpty: label.append(character)
    case .character(let character):
      if character.isUppercase, !modifiers.contains(.control) { label += "Shift+" }
      label += character.uppercased()
    case .enter: label += "Enter"
    case .tab: label += "Tab"
    case .backspace: label += "Backspace"
    case .delete: label += "Del"
    case .insert: label += "Ins"
    case .escape: label += "Esc"
    case .up: label += "↑"
    case .down: label += "↓"
    case .left: label += "←"
    case .right: label += "→"
    case .home: label += "Home"
    case .end: label += "End"
    case .pageUp: label += "PgUp"
    case .pageDown: label += "PgDn"
    case .function(let number): label += "F\(number)"
    }
    return label
  }
}
