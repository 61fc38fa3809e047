internal import Terminal

/// Keys that are pressed one after the other, and what only some keymaps have.
extension Chat {
  /// The keys of a sequence that is not complete.
  struct PendingKeys: Equatable, Sendable {
    var sequence: KeySequence
    var context: Keymap.Context
    /// Milliseconds since 1970.
    var until: Int64
  }

  /// How long the next key of a sequence may take.
  static let sequenceMilliseconds: Int64 = 2000

  /// The command of a key, perhaps with the keys before it; `nil` if the key begins or continues a
  /// sequence, or if it ends one that is no command's.
  enum Pressed {
    case command(Command, KeySequence)
    case unbound
    case taken
  }

  mutating func press(_ key: Key) -> Pressed {
    let context = self.context
    var sequence = KeySequence(key)
    if let pendingKeys, pendingKeys.until > now, pendingKeys.context == context {
      sequence = pendingKeys.sequence.adding(key)
    }
    pendingKeys = nil
    switch settings.keymap.meaning(of: sequence, in: context) {
    case .command(let command): return .command(command, sequence)
    case .prefix:
      pendingKeys = PendingKeys(
        sequence: sequence, context: context, until: now + Self.sequenceMilliseconds)
      return .taken
    case .none:
      guard sequence.single != nil else {
        if key.code != .escape {
          complain("No command has the keys \(sequence.label).", isError: false)
        }
        return .taken
      }
      // Nothing is typed by accident where letters are commands.
      let isCommandMode = context == .messages || context == .list
      return settings.keymap.isModal && isCommandMode ? .taken : .unbound
    }
  }

  /// The keys that may follow those of an incomplete sequence.
  var pendingHints: [(key: String, what: String)]? {
    guard let pendingKeys else { return nil }
    let next = settings.keymap.continuations(of: pendingKeys.sequence, in: pendingKeys.context)
    return [(key: pendingKeys.sequence.label + "…", what: "")] + next
      + [(key: Key(.escape).label, what: "cancel")]
  }

  // MARK: Commands

  /// Opens the conversation at this place of the list, from 0.
  mutating func openListed(at place: Int, _ effects: inout [Effect]) {
    if isListStale { orderList() }
    guard listed.indices.contains(place) else {
      let count = listed.count == 1 ? "1 conversation" : "\(listed.count) conversations"
      return complain("The list has only \(count).", isError: false)
    }
    let room = listed[place]
    overlay = nil
    endFilter()
    openByCommand(room, &effects)
  }

  /// Opens a conversation. In a modal keymap letters stay commands, unless one is writing.
  mutating func openByCommand(_ room: String, _ effects: inout [Effect]) {
    let isWriting = pane == .composer
    open(room, &effects)
    guard settings.keymap.isModal, !isWriting else { return }
    leaveComposer()
    entersMessages = pane == .list
  }

  /// Goes to the composer from wherever the keys are.
  mutating func goToComposer(_ effects: inout [Effect]) {
    guard timeline != nil else { return complain("Choose a conversation first.") }
    overlay = nil
    if search != nil { performInSearch(.cancel, &effects) }
    endFilter()
    enter(.composer)
  }

  /// Handles Esc in the composer where it has nothing to end.
  mutating func leaveComposer() {
    if settings.keymap.isModal {
      enter(.messages)
      if pane == .composer { enter(.list) }
    } else if isNarrow {
      pane = .list
    }
  }

  /// Handles Esc on the messages: in a modal keymap it ends a reply or an edit, and stays.
  mutating func cancelOnMessages() {
    guard settings.keymap.isModal else { return enter(.composer) }
    if case .edit = composition {
      endEditing()
    } else {
      composition = .new
    }
  }

  /// Returns to the composer after an action on a message, or in a modal keymap to the messages.
  mutating func endAction() { enter(settings.keymap.isModal ? .messages : .composer) }

  /// Moves the selection by half a page, at least by one message.
  mutating func moveSelectionByHalf(_ direction: Int, _ effects: inout [Effect]) {
    let pane = layout.messages
    guard var viewport = viewport(in: pane, .plain), let timeline,
      var place = timeline.selected.flatMap({ timeline.index(of: $0) })
    else { return }
    var lines = 0
    var steps = 0
    while lines < max(1, pane.rows / 2), timeline.messages.indices.contains(place + direction) {
      lines += viewport.block(place).lines.count
      place += direction
      steps += 1
    }
    moveSelection(direction * max(1, steps), &effects)
  }
}
