/// A command that can be bound to keys. The raw value is its name in the configuration.
public enum Command: String, CaseIterable, Hashable, Sendable {
  // Anywhere.
  case quit, suspend, redraw, help
  case switcher
  case nextConversation = "next-conversation"
  case previousConversation = "previous-conversation"
  case nextUnread = "next-unread"
  /// The conversation at the place in the list that the key has among the keys of the command.
  case nthConversation = "nth-conversation"
  case previousUnread = "previous-unread"
  case pageUp = "page-up"
  case pageDown = "page-down"
  case newest, search, mute, pin, reconnect
  /// Signs in again when the relay has ended the session of this device.
  case signIn = "sign-in"
  /// Searches all conversations.
  case find
  case goToDate = "go-to-date"
  case firstUnread = "first-unread"
  case previousMention = "previous-mention"
  case nextMention = "next-mention"
  case markUnread = "mark-unread"
  /// Shows the members of the room.
  case members
  /// Leaves the conversation and forgets it.
  case leave
  case compactList = "compact-list"
  case sidebar
  case nextPane = "next-pane"
  case previousPane = "previous-pane"
  case cancel
  /// Goes to the composer.
  case write
  /// Moves from the composer to the messages and selects the newest.
  case selectMessage = "select-message"
  // In the composer.
  case send
  case newLine = "new-line"
  case complete
  /// Puts another draft into the composer, where two instances of wschat have written at once.
  case otherDraft = "other-draft"
  /// ↑ in the first line: edits the user's last message if the composer is empty, else moves up a
  /// line.
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
  /// Opens the text in `$VISUAL` or `$EDITOR`.
  case editor
  /// Clears the composer, or brings back what was cleared.
  case clearDraft = "clear-draft"
  /// A text that was sent before, instead of the draft.
  case olderSent = "older-sent"
  case newerSent = "newer-sent"
  // In a list of conversations, messages or choices.
  case up, down, first, last, choose, filter
  case halfPageUp = "half-page-up"
  case halfPageDown = "half-page-down"
  // On the selected message.
  case extendUp = "extend-up"
  case extendDown = "extend-down"
  /// Begins or ends a selection of several messages.
  case mark
  case copy, reply, edit, delete, react, forward
  case openLink = "open-link"
  case openFile = "open-file"
  case saveFile = "save-file"
  /// Copies the address of the file.
  case copyLink = "copy-link"
  case retry, discard
  // On the selected member of a room.
  case muteMember = "mute-member"
  case removeMember = "remove-member"
  case banMember = "ban-member"
  case raiseRole = "raise-role"
  case lowerRole = "lower-role"
}
