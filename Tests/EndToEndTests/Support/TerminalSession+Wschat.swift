import Glibc
import TestSupport

/// wschat on a terminal, as a person has it.
extension TerminalSession {
  /// - Parameters:
  ///   - arguments: in addition to the relay's address and `--user`.
  ///   - folder: a home with what an earlier one has left there.
  static func wschat(
    _ relay: RelayProcess, user: String = "ada", _ arguments: [String] = [], columns: Int = 80,
    rows: Int = 24, environment: [String] = [], in folder: TemporaryFolder? = nil
  ) throws -> TerminalSession {
    try TerminalSession(
      [Programs.wschat, relay.url, "--user", user] + arguments, columns: columns, rows: rows,
      environment: environment, in: folder)
  }

  /// Waits until it is connected and a conversation with that title is open.
  func waitForConversation(_ title: String) throws {
    try wait(for: "conversation with \(title)") { screen in
      screen.lines[0].contains(title) && screen.isConnected
    }
  }

  /// Goes to a conversation by its name, as Ctrl+K does.
  func go(to name: String) throws {
    try press("C-k")
    try wait(for: "Go to")
    try type(name)
    try wait(for: name)
    try press("Enter")
    try wait(forNo: "Go to")
  }

  /// Writes a text, sends it, and waits until it is among the messages.
  func say(_ text: String) throws {
    try type(text)
    try wait(for: "the text in the composer") { $0.composer.contains(text) }
    try press("Enter")
    try wait(for: "the text above the composer") {
      !$0.composer.contains(text) && $0.conversation.contains { $0.contains(text) }
    }
  }

  /// The window gets the keyboard, or loses it, and wschat knows: a letter that follows is shown.
  func focus(_ hasFocus: Bool) throws {
    try type(hasFocus ? "\u{1B}[I§" : "\u{1B}[O§")
    try wait(for: "a letter in the composer") { $0.composer.contains("§") }
    try press("BSpace")
    try wait(forNo: "§")
  }
}

extension TerminalSession.Screen {
  /// The column at which the conversation begins: after the list, if there is room for both.
  private var left: Int {
    columns < 70 ? 0 : min(42, max(24, columns * 28 / 100)) + 1
  }

  var isConnected: Bool {
    lines[0].contains("ms") || lines[0].contains("connected")
  }

  /// The left part of the lines.
  var list: [String] { lines.map { String($0.prefix(left)) } }

  /// The right part of the lines, without the bar and the composer.
  var conversation: [String] {
    lines.dropFirst().dropLast(3).map { String($0.dropFirst(left)) }
  }

  /// The line above the last one; the last one shows keys or an error.
  var composer: String {
    lines.count < 3 ? "" : String(lines[lines.count - 2].dropFirst(left))
  }

  /// The rows of the conversation that have the text.
  func messages(with text: String) -> [String] { conversation.filter { $0.contains(text) } }
}
