/// Something that a key can do. The raw value is its name in the configuration.
public enum Command: String, CaseIterable, Hashable, Sendable {
  // Anywhere.
  case quit, suspend, redraw, help
  case switcher
  case nextConversation = "next-conversation"
  case previousConversation = "previous-conversation"
  case nextUnread = "next-unread"
  case previousUnread = "previous-unread"
  case pageUp = "page-up"
  case pageDown = "page-down"
  case newest, search, mute
  case nextPane = "next-pane"
  case previousPane = "previous-pane"
  case cancel
  /// From the composer to the messages, the newest selected.
  case selectMessage = "select-message"
  // While something is written.
  case send
  case newLine = "new-line"
  case complete
  /// ↑ at the first line: the last message of one's own if nothing is written, else line up.
  case lineUp = "line-up"
  case lineDown = "line-down"
  case left, right
  case wordLeft = "word-left"
  case wordRight = "word-right"
  case lineStart = "line-start"
  case lineEnd = "line-end"
  case deleteBackward = "delete-backward"
  case deleteForward = "delete-forward"
  case deleteWord = "delete-word"
  case deleteToStart = "delete-to-start"
  case deleteToEnd = "delete-to-end"
  case yank
  // In a list: of conversations, of messages, of choices.
  case up, down, first, last, choose, filter
  // With the selected message.
  case copy, reply, edit, delete, react, forward
  case openLink = "open-link"
  case retry, discard
}
