import Client
import Wire

/// Selecting a message, and the actions on it.
extension Chat {
  mutating func select(_ key: Message.Key) {
    timeline?.selected = key
    reveal(key)
  }

  mutating func performOnMessages(_ command: Command, _ effects: inout [Effect]) {
    switch command {
    case .up, .down, .first, .last, .halfPageUp, .halfPageDown: endUnmarkedSelection()
    default: break
    }
    switch command {
    case .up: moveSelection(-1, &effects)
    case .down: moveSelection(1, &effects)
    case .extendUp: extendSelection(-1, &effects)
    case .extendDown: extendSelection(1, &effects)
    case .mark: mark()
    case .halfPageUp: moveSelectionByHalf(-1, &effects)
    case .halfPageDown: moveSelectionByHalf(1, &effects)
    case .first:
      if let first = timeline?.messages.first {
        select(first.key)
        loadOlder(&effects)
      }
    case .last:
      showNewest(&effects)
      if let last = timeline?.messages.last { select(last.key) }
    case .cancel where isSelecting: timeline?.anchor = nil
    case .cancel: cancelOnMessages()
    case .choose, .send:
      guard let message = selectedMessage, !actions(for: message).isEmpty else { return }
      overlay = .actions(selected: 0)
    default:
      guard let message = selectedMessage else { return }
      if actions(for: message).contains(command) { return act(command, on: message, &effects) }
      if let reason = Self.whyNot(command, message) { complain(reason, isError: false) }
    }
  }

  /// Returns why an action is not possible for a message.
  private static func whyNot(_ command: Command, _ message: Message) -> String? {
    switch command {
    case .edit, .delete, .reply, .react, .forward, .copy, .openLink, .openFile, .saveFile,
      .copyLink, .retry, .discard:
      break
    default: return nil
    }
    if message.hidden != nil { return "Hidden messages have no content here." }
    if message.isNotice { return "This line is about the room, and is no message." }
    if message.isDeleted { return "This message was deleted." }
    switch command {
    case .edit where !message.isOwn, .delete where !message.isOwn:
      return "You can only change your own messages."
    case .edit where message.file != nil, .forward where message.file != nil:
      return "Captions are edited, and files are sent on, in the web page."
    case .openLink: return "This message has no link."
    case .openFile, .saveFile, .copyLink:
      if message.file == nil { return "This message has no file." }
      return "The relay has not confirmed this file yet."
    case .retry, .discard: return "This message was sent, and did not fail."
    default: return "The relay has not confirmed this message yet."
    }
  }

  mutating func moveSelection(_ offset: Int, _ effects: inout [Effect]) {
    guard let timeline, !timeline.messages.isEmpty else { return enter(.composer) }
    let here = timeline.selected.flatMap { timeline.index(of: $0) } ?? timeline.messages.count
    let place = here + offset
    if place >= timeline.messages.count {
      if timeline.isDetached { return loadNewer(&effects) }
      showNewest(&effects)
      return settings.keymap.isModal ? () : enter(.composer)
    }
    if place <= 5 { loadOlder(&effects) }
    if place >= 0 { select(timeline.messages[place].key) }
    markRead(&effects)
  }

  mutating func act(_ command: Command, on message: Message, _ effects: inout [Effect]) {
    overlay = nil
    switch command {
    case .copy: copy(message, &effects)
    case .reply:
      if case .edit = composition { endEditing() }
      composition = .reply(message.key)
      compositionTarget = message.seq
      enter(.composer)
    case .edit: edit(message, &effects)
    case .delete: overlay = .confirmDeletion(message.key)
    case .react: overlay = .reactions(selected: 0)
    case .forward: openSwitcher(forwarding: message.key)
    case .openLink:
      guard let link = Links.find(in: message.text).first else { return }
      effects.append(.open(String(message.text[link])))
    case .openFile, .saveFile, .copyLink:
      if let file = message.file { act(command, on: file, &effects) }
    case .retry: retry(message.key, &effects)
    case .discard:
      if cancelUpload(message.key, &effects) { return }
      if message.state == .waiting { return takeBack(message, edits: false, &effects) }
      discard(message.key, &effects)
      endAction()
    default: break
    }
  }

  /// Edits the user's last message.
  mutating func editLast(_ effects: inout [Effect]) {
    guard
      let message = timeline?.messages.last(where: { $0.isOwn && actions(for: $0).contains(.edit) })
    else { return }
    edit(message, &effects)
  }

  private mutating func edit(_ message: Message, _ effects: inout [Effect]) {
    guard message.seq != nil else { return takeBack(message, edits: true, &effects) }
    saveDraft(&effects)
    endRecall()
    composition = .edit(message.key)
    compositionTarget = message.seq
    composer = TextEditor(message.text)
    enter(.composer)
    reveal(message.key)
  }

  /// Asks for a message that waits to be sent.
  private mutating func takeBack(_ message: Message, edits: Bool, _ effects: inout [Effect]) {
    guard let room = timeline?.room else { return }
    if edits, !composer.isBlank || recall?.draft.isBlank == false {
      return complain("Send or delete what you are writing first.", isError: false)
    }
    effects.append(.takeBack(room: room, id: message.key.id, edits: edits))
  }

  mutating func takenBack(_ id: String, in room: String, edits: Bool) {
    guard let place = outgoing.firstIndex(where: { $0.send.id == id }), let user else { return }
    let line = removeOutgoing(at: place, .init(from: user, id: id))
    guard timeline?.room == room else { return }
    enter(.composer)
    guard edits, let text = line.send.asEntry.text else { return }
    recall = nil
    composer = TextEditor(SlashCommand.escaped(text))
    guard let seq = line.send.asEntry.replyTo else { return }
    compositionTarget = seq
    let target = timeline?.messages.first { $0.seq == seq }
    composition = .reply(target?.key ?? .init(from: "", id: ""))
  }

  mutating func delete(_ key: Message.Key, _ effects: inout [Effect]) {
    guard let room = timeline?.room, let seq = timeline?.message(key)?.seq else { return }
    if composition == .edit(key) { endEditing() }
    send(.init(room: room, id: nextID(), delete: seq), &effects)
    endAction()
  }

  mutating func react(_ emoji: String, to message: Message, _ effects: inout [Effect]) {
    guard let room = timeline?.room, let seq = message.seq, let user else { return }
    let has = message.reactions.contains { $0.emoji == emoji && $0.users.contains(user) }
    send(
      .init(room: room, id: nextID(), react: seq, emoji: emoji, isOn: !has), &effects)
    endAction()
  }

  mutating func forward(_ key: Message.Key, to room: String, _ effects: inout [Effect]) {
    guard let from = timeline?.room, let message = timeline?.message(key), let seq = message.seq
    else { return }
    let id = nextID()
    forwarded[id] = message
    open(room, &effects)
    send(
      .init(room: room, id: id, forward: .init(room: from, seq: seq, from: nil)), &effects)
  }
}
