/// The texts that the user has written in this run: what was sent, to write it again, and what was
/// cleared, to bring it back. Both are bounded; the oldest go first.
struct WrittenTexts: Sendable {
  /// The number of sent texts of all conversations.
  static let sentLimit = 200
  /// Their size in UTF-8.
  static let sentLimitBytes = 262_144
  /// The number of cleared texts of all conversations.
  static let clearedLimit = 16

  /// Oldest first.
  private(set) var sent: [(room: String, text: String)] = []
  private var sentBytes = 0
  /// Oldest first.
  private var cleared: [(room: String, text: TextEditor)] = []

  /// Remembers a text as it was written, a command with its slash.
  mutating func recordSent(_ text: String, in room: String) {
    guard text.utf8.count <= Self.sentLimitBytes else { return }
    sent.append((room, text))
    sentBytes += text.utf8.count
    while sent.count > Self.sentLimit || sentBytes > Self.sentLimitBytes {
      sentBytes -= sent.removeFirst().text.utf8.count
    }
  }

  mutating func recordCleared(_ text: TextEditor, in room: String) {
    cleared.append((room, text))
    if cleared.count > Self.clearedLimit { cleared.removeFirst() }
  }

  /// Removes and returns the text that was cleared last in a conversation.
  mutating func takeCleared(in room: String) -> TextEditor? {
    cleared.lastIndex { $0.room == room }.map { cleared.remove(at: $0).text }
  }
}

/// Going through the texts that were sent in a conversation, while the draft waits.
struct Recall: Sendable {
  /// Newest first.
  let texts: [String]
  /// The text that is shown.
  private(set) var index = 0
  /// What was being written before, with its cursor.
  let draft: TextEditor
  /// The texts that were changed, by index, as long as the user goes through them.
  private var changed: [Int: TextEditor] = [:]

  init(_ texts: [String], instead draft: TextEditor) {
    self.texts = texts
    self.draft = draft
  }

  /// Whether the last move went back to the draft.
  private(set) var isAtDraft = false

  /// Whether the editor has another text than the one that was sent.
  func isChanged(_ editor: TextEditor) -> Bool { editor.text != texts[index] }

  /// Returns the next older or newer text; the draft after the newest, and `nil` at the oldest.
  mutating func move(_ offset: Int, from editor: TextEditor) -> TextEditor? {
    let next = index + offset
    guard next < texts.count else { return nil }
    changed[index] = isChanged(editor) ? editor : nil
    isAtDraft = next < 0
    if isAtDraft { return draft }
    index = next
    return changed[next] ?? TextEditor(texts[next])
  }
}
