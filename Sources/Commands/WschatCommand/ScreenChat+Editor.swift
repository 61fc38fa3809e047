import EventLoop
import Glibc
import Messenger
import Platform
import Terminal

/// Writing in the user's editor, which has the terminal meanwhile. The loop goes on: messages arrive,
/// are stored, and notify.
extension ScreenChat {
  /// An editor that is running.
  struct Editing {
    let file: EditedFile
    let command: String
    let limitBytes: Int
    let process: Int32
    let registration: Registration
  }

  /// How long an editor may take to end after it was told to.
  private static let editorEndMilliseconds = 2000

  func edit(_ text: String, limitBytes: Int) {
    guard editing == nil else { return }
    let commands = ["VISUAL", "EDITOR"].compactMap { Environment[$0] }.filter { !$0.isEmpty }
    guard let command = commands.first else {
      return take(
        .notEdited(
          "Neither $VISUAL nor $EDITOR is set. Set one to your editor: export EDITOR=nano"))
    }
    do {
      let file = try EditedFile(text)
      do {
        // Before the program starts: its end may be soon.
        let source = try SignalSource([SIGCHLD])
        let children = try loop.register(
          source.descriptor, for: .readable, token: Token.children)
        self.children = consume source
        leaveTerminal()
        let process = try ChildProgram.start(Self.words(for: command) + [file.path])
        editing = Editing(
          file: file, command: command, limitBytes: limitBytes, process: process,
          registration: children)
      } catch {
        file.remove()
        throw error
      }
    } catch {
      children = nil
      returnToTerminal()
      take(.notEdited("The editor was not started: \(error)"))
    }
  }

  /// Returns the program and its first arguments. The variable is a command with arguments, for a
  /// shell, as in git(1) and crontab(1). A simple one replaces the shell, so that signals reach it;
  /// with any other, the shell outlives Ctrl+C, which may mean something to the editor.
  private static func words(for command: String) -> [String] {
    let isSimple = !command.contains { "=;&|<>(){}`\n".contains($0) }
    return ["/bin/sh", "-c", "\(isSimple ? "exec" : "trap : INT;") \(command) \"$@\"", "sh"]
  }

  /// A child has ended: perhaps the editor.
  func childEnded() {
    while children?.next() != nil {}
    guard let editing, let outcome = ChildProgram.outcome(of: editing.process) else { return }
    endEditing(outcome)
    returnToTerminal()
  }

  private func endEditing(_ outcome: ChildProgram.Outcome) {
    guard let editing else { return }
    self.editing = nil
    loop.deregister(editing.registration)
    children = nil
    do throws(EditedFile.Refusal) {
      let text = try editing.file.text(
        after: outcome, of: editing.command, limitBytes: editing.limitBytes)
      editing.file.remove()
      take(.edited(text))
    } catch {
      if !error.keepsFile { editing.file.remove() }
      take(.notEdited(error.text), isUrgent: true)
    }
  }

  /// Ends the editor because the program ends, and restores the terminal.
  func stopEditing() {
    guard let editing else { return }
    kill(editing.process, SIGTERM)
    var outcome = ChildProgram.outcome(of: editing.process)
    for _ in 0..<Self.editorEndMilliseconds / 10 where outcome == nil {
      usleep(10_000)
      outcome = ChildProgram.outcome(of: editing.process)
    }
    if outcome == nil { kill(editing.process, SIGKILL) }
    endEditing(outcome ?? ChildProgram.wait(for: editing.process))
    device.reclaim()
  }

  // MARK: The terminal

  private func leaveTerminal() {
    output.removeAll()
    // Its keys are the editor's, also Ctrl+Z.
    unwatchStops()
    if let registration { loop.deregister(registration) }
    registration = nil
    isBlocked = false
    device.leave()
  }

  private func returnToTerminal() {
    guard exitCode == nil, registration == nil else { return }
    shownTitle = ""
    do {
      device.reclaim()
      registration = try loop.register(device.descriptor, for: .readable, token: Token.terminal)
      try watchForStops()
      try device.enter(into: &output)
      resize()
    } catch {
      exitMessage = "\(error)"
      quit(LineChat.refused)
    }
  }
}
