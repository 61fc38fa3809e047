/// An input event from a terminal.
public enum InputEvent: Equatable, Sendable {
  case key(Key)
  /// A bracketed paste, with line breaks as `\n`.
  case paste(String)
  case mouse(Mouse)
  /// The terminal's window has become focused, or not focused.
  case focus(Bool)
  /// A reply of the terminal to a query.
  case reply(TerminalReply)
}

/// A reply of a terminal to a query.
public enum TerminalReply: Equatable, Sendable {
  /// OSC 11: the background colour, each component from 0 to 1.
  case background(red: Double, green: Double, blue: Double)
  /// DECRPM: whether a private mode is supported.
  case mode(Int, isKnown: Bool)
  /// The flags of the kitty keyboard protocol.
  case keyboard(flags: Int)
  /// The kitty graphics protocol: whether a picture could be shown.
  case graphics(isKnown: Bool)
  /// DA1: the last reply; every terminal sends it.
  case attributes(hasSixel: Bool)
}
