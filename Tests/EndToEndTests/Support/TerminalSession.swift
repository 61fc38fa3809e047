import Glibc
import TestSupport

/// A terminal with a program in it: a tmux server of the test's own, in control mode, which reports
/// changes of the screen, so that a test need not poll.
///
/// It ends with the object, and with the test's process, since its server does not stay without a
/// client. What was on the screen last can still be read when the program has ended.
final class TerminalSession {
  /// What is seen at one moment.
  struct Screen: CustomStringConvertible {
    /// Without blanks at their ends.
    var lines: [String]
    /// From 0, 0 in the upper left corner; `nil` where it is hidden.
    var cursor: (column: Int, row: Int)?
    /// Whether it is the second screen, which full-screen programs use.
    var isAlternate: Bool
    var columns: Int
    var rows: Int

    var text: String { lines.joined(separator: "\n") }
    var description: String { text }

    func contains(_ text: String) -> Bool { lines.contains { $0.contains(text) } }

    /// The first line that has the text.
    func line(with text: String) -> String? { lines.first { $0.contains(text) } }

    func row(of text: String) -> Int? { lines.firstIndex { $0.contains(text) } }

    func count(of text: String) -> Int {
      lines.reduce(0) { $0 + $1.ranges(of: text).count }
    }
  }

  let folder: TemporaryFolder
  private let client: ChildProcess
  private var input: [UInt8] = []

  /// - Parameters:
  ///   - arguments: the program, found in PATH, and its arguments.
  ///   - environment: `NAME=value`, in addition to the test's own and an empty home.
  ///   - folder: its home, to share one between two sessions; by default a new one.
  init(
    _ arguments: [String], columns: Int = 80, rows: Int = 24, environment: [String] = [],
    in folder: TemporaryFolder? = nil
  ) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    let sockets = try TemporaryFolder()
    let variables = [
      "HOME=\(folder.path)", "SWIFT_BACKTRACE=enable=no", "XDG_CONFIG_HOME=\(folder["config"])",
      "XDG_STATE_HOME=\(folder["state"])", "LC_ALL=C.UTF-8", "TZ=UTC0", "COLORTERM=", "NO_COLOR=",
    ]
    // A shell starts it, notes how it ended, and stays: what a program has written right before its
    // end is lost now and then where the terminal ends with it, and its end where it has threads
    // (tmux 3.3). Variables that it is not to have are taken away: tmux can only set them.
    let script = """
      trap : INT QUIT
      exec 3>&2 2>/dev/null
      sh -c '
        echo $$ >"$0/process"
        [ "$COLORTERM" ] || unset COLORTERM
        [ "$NO_COLOR" ] || unset NO_COLOR
        exec "$@"
      ' "$0" "$@" 2>&3 3>&-
      echo $? >"$0/ending"
      mv "$0/ending" "$0/end"
      exec sleep infinity
      """
    try sockets.write(
      """
      set -g status off
      set -g set-clipboard on
      set -g escape-time 0

      """, to: "tmux.conf")
    do {
      client = try ChildProcess(
        [
          "tmux", "-u", "-L", "test", "-f", sockets["tmux.conf"], "-C", "new-session", "-x",
          "\(columns)", "-y", "\(rows)",
        ] + (variables + environment).flatMap { ["-e", $0] } + ["sh", "-c", script]
          + [sockets.path] + arguments,
        environment: ["TMUX_TMPDIR=\(sockets.path)", "TMUX="])
    } catch {
      throw Unexpected("\(error); a terminal for tests is tmux: `config/setup test` installs it")
    }
    self.sockets = sockets
    // The answer to new-session.
    try takeReply()
    // Not sooner: without a client it would end, and tmux 3.3 crashes with the second in its file.
    try command("set -g exit-unattached on")
    try command("set -g window-size manual")
  }

  /// The folder of the server's socket, which outlives the server.
  private let sockets: TemporaryFolder

  deinit { _ = try? end() }

  /// Ends the program, as the window's being closed does, and waits for that: it may still write
  /// into its home.
  func end() throws {
    let id = try? pid_t(readFile(sockets["process"]).dropLast())
    if client.isRunning { _ = try? command("kill-server") }
    try client.wait()
    guard let id else { return }
    let deadline = Deadline(seconds: 5)
    while Self.isRunning(id) {
      if deadline.hasPassed { kill(id, SIGKILL) }
      usleep(5_000)
    }
  }

  /// Whether a process exists, and is not a zombie.
  static func isRunning(_ id: pid_t) -> Bool {
    guard let stat = try? readFile("/proc/\(id)/stat"), let name = stat.lastIndex(of: ")") else {
      return false
    }
    return !stat[name...].hasPrefix(") Z")
  }

  // MARK: What a person does

  /// Types text, bytes as they are.
  func type(_ text: String) throws {
    let bytes = Array(text.utf8)
    // A line of tmux's has its limit.
    for start in stride(from: 0, to: bytes.count, by: 1000) {
      let part = bytes[start..<min(bytes.count, start + 1000)]
      try command("send-keys -H \(part.map { String($0, radix: 16) }.joined(separator: " "))")
    }
  }

  /// Presses keys, as tmux(1) names them: `Enter`, `C-k`, `M-S-Up`, `PPage`.
  func press(_ keys: String...) throws {
    for key in keys { try command("send-keys \(key)") }
  }

  /// Pastes, in brackets where the program asked for them; a line ends as if by Enter.
  func paste(_ text: String) throws {
    try folder.write(text, to: "pasted")
    try command("load-buffer \(folder["pasted"])")
    try command("paste-buffer -d -p")
  }

  func resize(columns: Int, rows: Int) throws {
    try command("resize-window -x \(columns) -y \(rows)")
  }

  // MARK: What a person sees

  func screen() throws -> Screen {
    // Asked in one, so that both are of one moment.
    client.write(
      ##"display-message -p "#{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} "##
        + ##"#{pane_width} #{pane_height}"\##ncapture-pane -p\##n"##)
    let state = try takeReply()
    let text = try takeReply()
    let numbers = state.split(separator: " ").compactMap { Int($0) }
    guard numbers.count == 6 else { throw Unexpected("tmux says \(state)") }
    return Screen(
      lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init),
      cursor: numbers[2] == 1 ? (column: numbers[0], row: numbers[1]) : nil,
      isAlternate: numbers[3] == 1, columns: numbers[4], rows: numbers[5])
  }

  /// The screen with its colours, as SGR sequences.
  func styledText() throws -> String { try command("capture-pane -p -e") }

  /// What a program has called the window.
  var title: String {
    get throws { try command(##"display-message -p "#{pane_title}""##) }
  }

  /// What a program has put into the clipboard (OSC 52); `nil` for nothing.
  var clipboard: String? {
    try? command("show-buffer")
  }

  /// Waits until the screen satisfies the condition.
  /// - Parameter what: what is awaited, for the error if it does not appear.
  @discardableResult
  func wait(
    for what: String, _ deadline: Deadline = Deadline(), until condition: (Screen) throws -> Bool
  ) throws -> Screen {
    while true {
      let screen = try screen()
      if try condition(screen) { return screen }
      if deadline.hasPassed { throw Unexpected("no \(what) on the screen:\n\(screen)") }
      waitForChange(deadline)
    }
  }

  /// Waits until a text is on the screen.
  @discardableResult
  func wait(for text: String, _ deadline: Deadline = Deadline()) throws -> Screen {
    try wait(for: "\"\(text)\"", deadline) { $0.contains(text) }
  }

  /// Waits until a text has disappeared from the screen.
  @discardableResult
  func wait(forNo text: String, _ deadline: Deadline = Deadline()) throws -> Screen {
    try wait(for: "end of \"\(text)\"", deadline) { !$0.contains(text) }
  }

  // MARK: The program

  /// Its process, once there is one.
  var processID: pid_t {
    get throws {
      let deadline = Deadline()
      while !deadline.hasPassed {
        if let text = try? readFile(sockets["process"]), text.hasSuffix("\n"),
          let id = pid_t(text.dropLast())
        {
          return id
        }
        waitForChange(deadline)
      }
      throw Unexpected("the program has not been started:\n\(try screen())")
    }
  }

  func signal(_ number: Int32) throws { kill(try processID, number) }

  /// Waits until it has ended.
  func waitForExit(_ deadline: Deadline = Deadline()) throws -> ChildProcess.Outcome {
    while true {
      if let text = try? readFile(sockets["end"]), let status = Int32(text.dropLast()) {
        // A shell reports a signal in this way.
        return status > 128 ? .signal(status - 128) : .exit(status)
      }
      if deadline.hasPassed { throw Unexpected("it goes on:\n\(try screen())") }
      waitForChange(deadline)
    }
  }

  // MARK: tmux's control mode

  /// Runs a command of tmux, and returns its reply.
  @discardableResult
  private func command(_ line: String) throws -> String {
    client.write(line + "\n")
    return try takeReply()
  }

  /// Reads until the end of the next reply, which is between %begin and %end. Notifications of
  /// changes before it are skipped.
  @discardableResult
  private func takeReply(_ deadline: Deadline = Deadline()) throws -> String {
    var reply: [String]?
    while true {
      guard let line = nextLine() else {
        let news = client.takeOutput(deadline)
        if news.isEmpty {
          let why = client.isRunning ? "says nothing" : "has ended: \(client.errors)"
          throw Unexpected("tmux \(why)")
        }
        input += news
        continue
      }
      if line.hasPrefix("%begin ") {
        reply = []
      } else if line.hasPrefix("%end "), let reply {
        return reply.joined(separator: "\n")
      } else if line.hasPrefix("%error "), let reply {
        throw Unexpected("tmux: \(reply.joined(separator: " "))")
      } else {
        reply?.append(line)
      }
    }
  }

  private func nextLine() -> String? {
    guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    defer { input.removeSubrange(...end) }
    return String(decoding: input[..<end], as: UTF8.self)
  }

  /// Waits until tmux sends a notification. Not every change that a test may wait for has one,
  /// so the wait also ends after a short time.
  private func waitForChange(_ deadline: Deadline) {
    let moment = Deadline(milliseconds: min(50, deadline.milliseconds))
    input += client.takeOutput(moment)
    while nextLine() != nil {}
  }
}
