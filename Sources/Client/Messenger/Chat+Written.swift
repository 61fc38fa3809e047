import Wire

/// Clearing what is written, and writing again what was sent.
extension Chat {
  /// Sends the composer's text and remembers it; the draft that waited meanwhile comes back.
  mutating func sendWritten(_ effects: inout [Effect]) {
    let (room, text, draft) = (timeline?.room, composer.text, recall?.draft)
    var isEdit = false
    if case .edit = composition { isEdit = true }
    sendComposed(&effects)
    guard !isEdit, let room, composer.text != text else { return }
    let sent = Self.trimmed(text)
    if !sent.isEmpty { written.recordSent(sent, in: room) }
    guard let draft, !draft.isEmpty, timeline?.room == room, composer.isEmpty else { return }
    composer = draft
    // With the message, so that neither is lost.
    saveDraft(&effects)
  }

  // MARK: Clearing

  /// Clears the composer; an empty one gets back what was cleared last. The message that is being
  /// replied to or edited stays the same.
  mutating func clearDraft(_ effects: inout [Effect]) {
    guard let room = timeline?.room else { return complain("Choose a conversation first.") }
    let text: TextEditor
    if let recall {
      endRecall()
      text = recall.draft
    } else if composer.isEmpty {
      guard let cleared = written.takeCleared(in: room) else {
        return complain("Nothing was cleared in this conversation.", isError: false)
      }
      text = cleared
    } else {
      written.recordCleared(composer, in: room)
      text = TextEditor()
    }
    write(text, &effects)
  }

  // MARK: What was sent

  /// Goes to an older (1) or newer (-1) text that was sent in this conversation; after the newest,
  /// back to the draft.
  mutating func recallSent(_ offset: Int, _ effects: inout [Effect]) {
    guard let room = timeline?.room else { return complain("Choose a conversation first.") }
    if var recall {
      guard let text = recall.move(offset, from: composer) else { return }
      if recall.isAtDraft {
        endRecall()
      } else {
        self.recall = recall
      }
      return write(text, &effects)
    }
    guard offset > 0 else { return }
    let texts = sentTexts(in: room)
    guard let newest = texts.first else {
      return complain("You have sent nothing in this conversation yet.", isError: false)
    }
    recall = Recall(texts, instead: composer)
    write(TextEditor(newest), &effects)
  }

  /// Returns the texts sent in this run as they were written, then the loaded older messages of the
  /// user; newest first.
  private func sentTexts(in room: String) -> [String] {
    var texts = written.sent.filter { $0.room == room }.map(\.text)
    let older = timeline?.messages.filter {
      $0.isOwn && !$0.isDeleted && $0.forwardedFrom == nil && $0.file == nil
        && !$0.key.id.hasPrefix("\(idPrefix)-")
    }
    texts.insert(contentsOf: older?.map { SlashCommand.escaped($0.text) } ?? [], at: 0)
    var newest: [String] = []
    for text in texts.reversed() where text != newest.last && !text.isEmpty {
      newest.append(text)
      if newest.count == WrittenTexts.sentLimit { break }
    }
    return newest
  }

  /// The text to store as the draft: not one that was sent before, and is merely looked at.
  var draftText: String {
    guard let recall else { return composer.text }
    return recall.draft.isBlank && recall.isChanged(composer) ? composer.text : recall.draft.text
  }

  /// Ends the going through sent texts; one that was changed can be brought back.
  mutating func endRecall() {
    if let recall, recall.isChanged(composer), let room = timeline?.room, !composer.isBlank {
      written.recordCleared(composer, in: room)
    }
    recall = nil
  }

  private mutating func write(_ text: TextEditor, _ effects: inout [Effect]) {
    let killed = composer.killed
    composer = text
    composer.killed = killed
    composed(&effects)
  }
}
