import Glibc
import Messenger
import Platform

/// The user's editor, which has the terminal while a text is written in it. The loop goes on: messages
/// arrive, are stored, and notify.
final class EditorDriver {
  /// An editor that is running.
  private struct Editing {
    let file: EditedFile
    let command: String
    let limitBytes: Int
    let process: Int32
  }

  /// How long an editor may take to end after it was told to.
  private static let endMilliseconds = 2000

  private let terminal: TerminalDriver
  private let host: ChatHost
  private var editing: Editing?
  /// SIGCHLD, while there is an editor.
  private var children: SignalWatch?

  init(_ terminal: TerminalDriver, _ host: ChatHost) {
    self.terminal = terminal
    self.host = host
  }

  func edit(_ text: String, limitBytes: Int) {
    guard editing == nil else { return }
    let commands = ["VISUAL", "EDITOR"].compactMap { Environment[$0] }.filter { !$0.isEmpty }
    guard let command = commands.first else {
      return host.post(
        .notEdited(
          "Neither $VISUAL nor $EDITOR is set. Set one to your editor: export EDITOR=nano"))
    }
    do {
      let file = try EditedFile(text)
      do {
        // Before the program starts: its end may be soon.
        children = try SignalWatch([SIGCHLD], on: host.dispatcher) { [unowned self] _ in
          childEnded()
        }
        terminal.lend()
        let process = try ChildProgram.start(Self.words(for: command) + [file.path])
        editing = Editing(file: file, command: command, limitBytes: limitBytes, process: process)
      } catch {
        file.remove()
        throw error
      }
    } catch {
      children?.end()
      terminal.takeBack()
      host.post(.notEdited("The editor was not started: \(error)"))
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
  private func childEnded() {
    guard let editing, let outcome = ChildProgram.outcome(of: editing.process) else { return }
    finish(editing, outcome)
    terminal.takeBack()
  }

  private func finish(_ editing: Editing, _ outcome: ChildProgram.Outcome) {
    self.editing = nil
    children?.end()
    do throws(EditedFile.Refusal) {
      let text = try editing.file.text(
        after: outcome, of: editing.command, limitBytes: editing.limitBytes)
      editing.file.remove()
      host.post(.edited(text))
    } catch {
      if !error.keepsFile { editing.file.remove() }
      host.post(.notEdited(error.text), isUrgent: true)
    }
  }

  /// Ends the editor because the program ends, and restores the terminal.
  func end() {
    guard let editing else { return }
    kill(editing.process, SIGTERM)
    var outcome = ChildProgram.outcome(of: editing.process)
    for _ in 0..<Self.endMilliseconds / 10 where outcome == nil {
      usleep(10_000)
      outcome = ChildProgram.outcome(of: editing.process)
    }
    if outcome == nil { kill(editing.process, SIGKILL) }
    finish(editing, outcome ?? ChildProgram.wait(for: editing.process))
    terminal.reclaim()
  }
}
