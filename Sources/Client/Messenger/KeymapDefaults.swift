internal import Terminal

extension Keymap {
  /// The defaults, as in other messengers, readline and mail readers.
  static let defaults: [Binding] =
    anywhere + writing + messages + conversations + members + choices

  private static let anywhere = section(
    "Everywhere", [.anywhere],
    [
      (.help, "f1", "show these keys"),
      (.switcher, "ctrl+k", "go to a conversation by name"),
      (.previousConversation, "alt+up", "previous conversation"),
      (.nextConversation, "alt+down", "next conversation"),
      (.previousUnread, "alt+shift+up", "previous unread conversation"),
      (.nextUnread, "alt+shift+down", "next unread conversation"),
      (
        .nthConversation, (1...9).map { "alt+\($0)" }.joined(separator: " "),
        "first to ninth conversation of the list"
      ),
      (.pageUp, "pageup", "scroll to older messages"),
      (.pageDown, "pagedown", "scroll to newer messages"),
      (.newest, "ctrl+end", "go to the newest message"),
      (.search, "ctrl+f", "search; Enter continues with older messages"),
      (.find, "ctrl+r", "search all conversations"),
      (.goToDate, "alt+g", "go to a date"),
      (.firstUnread, "alt+j", "go to the first unread message"),
      (.previousMention, "alt+,", "go to the previous message that mentions you"),
      (.nextMention, "alt+.", "go to the next message that mentions you"),
      (.mute, "alt+m", "mute; again: mentions only in a room; again: unmute"),
      (.compactList, "alt+c", "one or two rows for each conversation of the list"),
      (.sidebar, "alt+s", "show or hide the list"),
      (.nextPane, "shift+tab f6", "next pane"),
      (.previousPane, "shift+f6", "previous pane"),
      (.cancel, "escape", "close, cancel, return to the composer"),
      (.write, "alt+i", "write in the composer"),
      (.members, "alt+n", "show the members of the room"),
      (.markUnread, "alt+u", "mark the conversation as unread"),
      (.pin, "alt+p", "pin the conversation to the top, or no longer"),
      (.leave, "alt+x", "leave the conversation, and forget it"),
      (.reconnect, "alt+r", "reconnect now"),
      (.signIn, "alt+l", "sign in again, when this device was signed out"),
      (.redraw, "ctrl+l", "redraw the screen"),
      (.suspend, "ctrl+z", "suspend; fg brings it back"),
      (.quit, "ctrl+c ctrl+q", "quit"),
    ])

  private static let writing =
    section(
      "Writing", [.composer],
      [
        (.send, "enter", "send"),
        (.newLine, "alt+enter shift+enter ctrl+j", "new line"),
        (.complete, "tab", "complete @name, :emoji: or a path"),
        (.otherDraft, "alt+d", "the other draft, where two wschat have written"),
        (.lineUp, "up", "line up; if nothing is written, edit your last message"),
        (.lineDown, "down", "line down"),
        (.selectMessage, "shift+up ctrl+up", "select a message"),
        (.olderSent, "ctrl+p", "a text that you sent before; the draft waits"),
        (.newerSent, "ctrl+n", "the next sent text; after the newest, the draft"),
        (.editor, "ctrl+x", "write in $VISUAL or $EDITOR; its text comes back here"),
        (.clearDraft, "alt+z", "clear what is written; again: bring it back"),
      ])
    + section(
      "Writing", [.composer, .overlay],
      [
        (.left, "left", "left"),
        (.right, "right", "right"),
        (.wordLeft, "ctrl+left alt+left alt+b", "word left"),
        (.wordRight, "ctrl+right alt+right alt+f", "word right"),
        (.lineStart, "ctrl+a home", "start of the line"),
        (.lineEnd, "ctrl+e end", "end of the line"),
        (.deleteBackward, "backspace shift+backspace ctrl+h", "delete backward"),
        (.deleteForward, "delete ctrl+d", "delete forward"),
        (.deleteWord, "ctrl+w alt+backspace ctrl+backspace", "delete the previous word"),
        (.deleteToStart, "ctrl+u", "delete to the start of the line"),
        (.deleteToEnd, "alt+k", "delete to the end of the line"),
        (.yank, "ctrl+y", "insert the last deleted text"),
      ])

  private static let messages = section(
    "Messages", [.messages],
    [
      (.up, "up k ctrl+up", "older message"),
      (.down, "down j ctrl+down", "newer message"),
      (.extendUp, "shift+up", "select the older message as well"),
      (.extendDown, "shift+down", "select the newer message as well"),
      (.mark, "v", "select several: up and down take more; again: one"),
      (.first, "home", "oldest loaded message"),
      (.newest, "end", "newest message"),
      (.halfPageUp, "ctrl+u", "half a page up"),
      (.halfPageDown, "ctrl+d", "half a page down"),
      (.choose, "enter", "actions"),
      (.copy, "c", "copy; several with time and name"),
      (.reply, "r", "reply"),
      (.edit, "e", "edit"),
      (.delete, "d delete", "delete"),
      (.react, "+", "react"),
      (.forward, "f", "forward to another conversation"),
      (.openLink, "o", "open the link"),
      (.openFile, "O", "open the file"),
      (.saveFile, "s", "save the file"),
      (.copyLink, "L", "copy the link to the file"),
      (.retry, "R", "resend a failed message"),
      (.discard, "x", "discard a message that failed, or was not sent yet"),
      (.nextPane, "tab", "next pane"),
      (.help, "?", "show these keys"),
    ])

  private static let conversations = section(
    "Conversations", [.list],
    [
      (.up, "up k", "up"),
      (.down, "down j", "down"),
      (.first, "home", "first"),
      (.last, "end", "last"),
      (.halfPageUp, "ctrl+u", "half a page up"),
      (.halfPageDown, "ctrl+d", "half a page down"),
      (.choose, "enter", "open"),
      (.filter, "/", "filter by name"),
      (.nextPane, "tab", "next pane"),
      (.help, "?", "show these keys"),
    ])

  private static let members = section(
    "Members of a room", [.members],
    [
      (.up, "up k", "up"),
      (.down, "down j", "down"),
      (.choose, "enter", "write to the member"),
      (.muteMember, "m", "mute the member for an hour, or no longer"),
      (.removeMember, "d delete", "remove the member from the room"),
      (.banMember, "b", "ban the member"),
      (.raiseRole, "+", "make a member a moderator, and a moderator an owner"),
      (.lowerRole, "-", "make an owner a moderator, and a moderator a member"),
    ])

  private static let choices = section(
    "Choices and searches", [.overlay],
    [
      (.up, "up", "up"),
      (.down, "down tab", "down"),
      (.choose, "enter", "choose"),
    ])

  private static func section(
    _ section: String, _ contexts: [Context], _ rows: [(Command, String, String)]
  ) -> [Binding] {
    rows.map { command, names, text in
      let keys = names.split(separator: " ").map { name -> KeySequence in
        guard case .success(let key) = Key.named(String(name)) else {
          preconditionFailure("the table of keys names \(name)")
        }
        return KeySequence(key)
      }
      return Binding(
        section: section, command: command, contexts: contexts, sequences: keys, text: text)
    }
  }
}
