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
    /// In the list of a room's members.
    case members
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
    public var sequences: [KeySequence]
    /// The description.
    public var text: String

    /// The keys that are not part of a longer sequence.
    public var keys: [Key] { sequences.compactMap(\.single) }
  }

  /// A key with two commands, or a sequence that begins with another one: only one of the commands
  /// would be executed.
  public struct Conflict: Error, Equatable, Sendable {
    public var key: KeySequence
    /// The same, or one of which `key` is the beginning, or one with which `key` begins.
    public var other: KeySequence
    /// The command of `other`, then that of `key`.
    public var commands: [Command]

    init(key: KeySequence, other: KeySequence, commands: [Command]) {
      self.key = key
      self.other = other
      self.commands = commands
    }

    init(key: Key, commands: [Command]) {
      self.init(key: KeySequence(key), other: KeySequence(key), commands: commands)
    }
  }

  /// What pressed keys mean.
  public enum Meaning: Equatable, Sendable {
    case command(Command)
    /// A sequence begins with them.
    case prefix
    case none
  }

  /// The table, in the order of the help.
  public private(set) var bindings: [Binding]
  public let name: Name
  private var commands: [Context: [KeySequence: Command]] = [:]
  private var prefixes: [Context: Set<KeySequence>] = [:]

  /// Creates the bindings that come with wschat.
  public init(_ name: Name = .default) {
    self.name = name
    bindings = Self.bindings(of: name)
    index()
  }

  /// Whether letters are commands in the list and on the messages, and are never typed there.
  public var isModal: Bool { name == .vim }

  /// Returns the command of a key; `nil` if there is none, which in the composer means that the
  /// character is typed.
  public func command(for key: Key, in context: Context) -> Command? {
    guard case .command(let command) = meaning(of: KeySequence(key), in: context) else {
      return nil
    }
    return command
  }

  /// Returns what keys mean that were pressed one after the other.
  public func meaning(of sequence: KeySequence, in context: Context) -> Meaning {
    if let command = commands[context]?[sequence] ?? commands[.anywhere]?[sequence] {
      return .command(command)
    }
    let begins = [context, .anywhere].contains { prefixes[$0]?.contains(sequence) == true }
    return begins ? .prefix : .none
  }

  /// Returns the keys that continue a sequence, and what they do.
  func continuations(
    of start: KeySequence, in context: Context
  ) -> [(key: String, what: String)] {
    bindings.flatMap { binding -> [(key: String, what: String)] in
      guard binding.contexts.contains(where: { $0 == context || $0 == .anywhere }) else {
        return []
      }
      return binding.sequences.filter { $0.extends(start) }.map {
        (key: $0.rest(after: start).label, what: binding.text)
      }
    }
  }

  /// Returns the place of a key among those of a command, from 0.
  func place(of sequence: KeySequence, of command: Command) -> Int? {
    bindings.lazy.filter { $0.command == command }
      .compactMap { $0.sequences.firstIndex(of: sequence) }.first
  }

  /// Returns the first key of a command as displayed ("Ctrl+K"); `nil` if it has none.
  public func label(of command: Command, in context: Context) -> String? {
    for wanted in [context, .anywhere] {
      for binding in bindings
      where binding.command == command && binding.contexts.contains(wanted) {
        if let key = binding.sequences.first(where: { Self.takes($0, in: wanted) }) {
          return key.label
        }
      }
    }
    return nil
  }

  /// All bindings as displayed, by section.
  public var help: [(section: String, rows: [(keys: String, text: String)])] {
    var help: [(section: String, rows: [(keys: String, text: String)])] = []
    for binding in bindings {
      let keys = binding.sequences.filter { key in
        binding.contexts.contains { Self.takes(key, in: $0) }
      }
      if keys.isEmpty { continue }
      if help.last?.section != binding.section { help.append((binding.section, [])) }
      help[help.count - 1].rows.append((KeySequence.label(of: keys), binding.text))
    }
    return help
  }

  // MARK: Changes

  /// Replaces all keys of a command. A key that the command had keeps its contexts; a new one
  /// applies in all contexts of the command, except that a key that types a character applies only
  /// where no text is entered.
  public mutating func remap(_ command: Command, to keys: [Key]) {
    remap(command, toSequences: keys.map { KeySequence($0) })
  }

  /// The same, with sequences of keys.
  public mutating func remap(_ command: Command, toSequences keys: [KeySequence]) {
    let table = Self.bindings(of: name)
    let had = Set(table.filter { $0.command == command }.flatMap(\.sequences))
    for index in bindings.indices where bindings[index].command == command {
      let own = table[index].sequences
      bindings[index].sequences = keys.filter { !had.contains($0) || own.contains($0) }
    }
    index()
  }

  /// Keys with two commands, of which only one would be executed.
  public var conflicts: [Conflict] {
    var conflicts: [Conflict] = []
    for (index, later) in bindings.enumerated() {
      for earlier in bindings[...index] {
        for (key, other) in Self.clashes(earlier, later) {
          let commands = [earlier.command, later.command]
          let isKnown = conflicts.contains { $0.key == key && Set($0.commands) == Set(commands) }
          if Self.meet(earlier, later, key), !isKnown {
            conflicts.append(Conflict(key: key, other: other, commands: commands))
          }
        }
      }
    }
    return conflicts
  }

  /// Returns the keys of two rows that are the same, or of which one begins with the other.
  private static func clashes(
    _ earlier: Binding, _ later: Binding
  ) -> [(KeySequence, KeySequence)] {
    later.sequences.flatMap { key in
      earlier.sequences.filter { other in
        key.extends(other) || other.extends(key)
          || (key == other && earlier.command != later.command)
      }.map { (key, $0) }
    }
  }

  /// Whether a key can be bound to a command at all; false if it would be typed in all of the
  /// command's contexts.
  public func canBind(_ key: Key, to command: Command) -> Bool {
    canBind(KeySequence(key), to: command)
  }

  /// The same for a sequence, of which the first key decides.
  public func canBind(_ key: KeySequence, to command: Command) -> Bool {
    bindings.contains { binding in
      binding.command == command && binding.contexts.contains { Self.takes(key, in: $0) }
    }
  }

  private static func takes(_ key: KeySequence, in context: Context) -> Bool {
    !(context.isTyped && key.isTyped)
  }

  private static func meet(_ a: Binding, _ b: Binding, _ key: KeySequence) -> Bool {
    let first = a.contexts.filter { takes(key, in: $0) }
    let second = b.contexts.filter { takes(key, in: $0) }
    if first.isEmpty || second.isEmpty { return false }
    return first.contains(.anywhere) || second.contains(.anywhere)
      || first.contains(where: second.contains)
  }

  private mutating func index() {
    commands = [:]
    prefixes = [:]
    for binding in bindings {
      for context in binding.contexts {
        for key in binding.sequences where Self.takes(key, in: context) {
          commands[context, default: [:]][key] = binding.command
          prefixes[context, default: []].formUnion(key.prefixes)
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
