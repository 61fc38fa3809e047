/// Writing in the user's editor, which covers the screen meanwhile.
extension Chat {
  mutating func openEditor(_ effects: inout [Effect]) {
    guard let room = timeline?.room else { return complain("Choose a conversation first.") }
    editorRoom = room
    completion = nil
    effects.append(.edit(composer.text, limitBytes: composer.capacityBytes))
  }

  /// Takes the text that the editor has left; it is not sent.
  mutating func takeEdited(_ text: String, _ effects: inout [Effect]) {
    guard let room = editorRoom else { return }
    endEditor(&effects)
    var text = text[...]
    // Editors end the last line; the message has none more than it had.
    while text.last?.isNewline == true { text.removeLast() }
    guard timeline?.room == room else {
      conversations[room]?.draft = String(text)
      effects.append(.save(room))
      return
    }
    if text == composer.text { return }
    var editor = TextEditor()
    editor.killed = composer.killed
    do {
      try editor.insert(String(text))
    } catch {
      return complain(Self.describe(error))
    }
    if editor.isEmpty { written.recordCleared(composer, in: room) }
    composer = editor
    enter(.composer)
    composed(&effects)
  }

  mutating func takeNotEdited(_ reason: String, _ effects: inout [Effect]) {
    endEditor(&effects)
    complain(reason)
  }

  /// The screen is seen again.
  private mutating func endEditor(_ effects: inout [Effect]) {
    editorRoom = nil
    recordInput(&effects)
    markRead(&effects)
  }
}
