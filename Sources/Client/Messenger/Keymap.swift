public import Terminal

/// The key bindings: one table that drives the keys and the help, and that the configuration can
/// change.
public struct Keymap: Equatable, Sendable {
  /// The part of the screen to which keys apply.
  public enum Context: String, CaseIterable, Hashable, Sendable {
    /// Everywhere, unless the current context binds the key.
    case anywhere
    case composer
    case messages
    case list
    /// In overlays, in the search and in the filter.
    case overlay

    /// Whether a key that types a character is inserted into a text there.
    var isTyped: Bool { self == .composer || self == .overlay || self == .anywhere }
  }

  /// A row of the table: the description of a command for the help, and its keys.
  public struct Binding: Equatable, Sendable {
    public var section: String
    public var command: Command
    public var contexts: [Context]
    public var keys: [Key]
    /// The description.
    public var text: String
  }

  /// A key with two commands.
  public struct Conflict: Error, Equatable, Sendable {
    public var key: Key
    public var commands: [Command]
  }

  /// The table, in the order of the help.
  public private(set) var bindings = Keymap.defaults
  private var commands: [Context: [Key: Command]] = [:]

  /// Creates the default bindings.
  public init() { index() }

  /// Returns the command of a key; `nil` if there is none, which in the composer means that the
  /// character is typed.
  public func command(for key: Key, in context: Context) -> Command? {
    commands[context]?[key] ?? commands[.anywhere]?[key]
  }

  /// Returns the first key of a command as displayed ("Ctrl+K"); `nil` if it has none.
  public func label(of command: Command, in context: Context) -> String? {
    for wanted in [context, .anywhere] {
      for binding in bindings
      where binding.command == command && binding.contexts.contains(wanted) {
        if let key = binding.keys.first(where: { Self.takes($0, in: wanted) }) { return key.label }
      }
    }
    return nil
  }

  /// All bindings as displayed, by section.
  public var help: [(section: String, rows: [(keys: String, text: String)])] {
    var help: [(section: String, rows: [(keys: String, text: String)])] = []
    for binding in bindings {
      let keys = binding.keys.filter { key in
        binding.contexts.contains { Self.takes(key, in: $0) }
      }
      if keys.isEmpty { continue }
      if help.last?.section != binding.section { help.append((binding.section, [])) }
      let labels = keys.map(\.label).joined(separator: ", ")
      help[help.count - 1].rows.append((labels, binding.text))
    }
    return help
  }

  // MARK: Changes

  /// Replaces all keys of a command. A key that the command had keeps its contexts; a new one
  /// applies in all contexts of the command, except that a key that types a character applies only
  /// where no text is entered.
  public mutating func remap(_ command: Command, to keys: [Key]) {
    let had = Set(Self.defaults.filter { $0.command == command }.flatMap(\.keys))
    for index in bindings.indices where bindings[index].command == command {
      let own = Self.defaults[index].keys
      bindings[index].keys = keys.filter { !had.contains($0) || own.contains($0) }
    }
    index()
  }

  /// Keys with two commands, of which only one would be executed.
  public var conflicts: [Conflict] {
    var conflicts: [Conflict] = []
    for (index, later) in bindings.enumerated() {
      for earlier in bindings[..<index] where earlier.command != later.command {
        for key in later.keys where earlier.keys.contains(key) {
          let commands = [earlier.command, later.command]
          let isKnown = conflicts.contains { $0.key == key && Set($0.commands) == Set(commands) }
          if Self.meet(earlier, later, key), !isKnown {
            conflicts.append(Conflict(key: key, commands: commands))
          }
        }
      }
    }
    return conflicts
  }

  /// Whether a key can be bound to a command at all; false if it would be typed in all of the
  /// command's contexts.
  public func canBind(_ key: Key, to command: Command) -> Bool {
    bindings.contains { binding in
      binding.command == command && binding.contexts.contains { Self.takes(key, in: $0) }
    }
  }

  private static func takes(_ key: Key, in context: Context) -> Bool {
    !(context.isTyped && key.isTyped)
  }

  private static func meet(_ a: Binding, _ b: Binding, _ key: Key) -> Bool {
    let first = a.contexts.filter { takes(key, in: $0) }
    let second = b.contexts.filter { takes(key, in: $0) }
    if first.isEmpty || second.isEmpty { return false }
    return first.contains(.anywhere) || second.contains(.anywhere)
      || first.contains(where: second.contains)
  }

  private mutating func index() {
    commands = [:]
    for binding in bindings {
      for context in binding.contexts {
        for key in binding.keys where Self.takes(key, in: context) {
          commands[context, default: [:]][key] = binding.command
        }
      }
    }
  }
}

extension Key {
  /// Whether it inserts a character into a text.
  var isTyped: Bool {
    if case .character = code { return modifiers.isDisjoint(with: [.control, .alt]) }
    return false
  }
}
