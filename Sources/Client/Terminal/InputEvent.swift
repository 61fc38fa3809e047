/// What a terminal sends.
public enum InputEvent: Equatable, Sendable {
  case key(Key)
  /// Pasted in brackets: as it is, with line breaks as `\n`.
  case paste(String)
  case mouse(Mouse)
  /// The terminal's window has the keyboard, or has it no more.
  case focus(Bool)
  /// What the terminal says of itself, when asked.
  case reply(TerminalReply)
}

/// Answers of a terminal to questions.
public enum TerminalReply: Equatable, Sendable {
  /// OSC 11: the colour behind the text, each part from 0 to 1.
  case background(red: Double, green: Double, blue: Double)
  /// DECRPM: whether a private mode is known.
  case mode(Int, isKnown: Bool)
  /// The flags of the kitty keyboard protocol.
  case keyboard(flags: Int)
  /// DA1: the end of the answers; every terminal gives it.
  case attributes
}
