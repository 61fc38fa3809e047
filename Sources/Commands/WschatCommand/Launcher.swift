import Glibc
import Platform

/// Starts programs without waiting for them: a notification, a sound, a browser. They have no
/// terminal, whose keys are wschat's.
enum Launcher {
  /// After this time a notification or a sound is killed, so that those that hang do not add up. A
  /// browser is not.
  private static let limitSeconds = 60

  /// Whether there is a program of this name in `$PATH`.
  static func has(_ name: String) -> Bool { ChildProgram.exists(name) }

  /// Whether notifications can be shown: there is an X or Wayland display.
  static var hasDesktop: Bool {
    !(Environment["DISPLAY"] ?? "").isEmpty || !(Environment["WAYLAND_DISPLAY"] ?? "").isEmpty
  }

  /// Starts a program with these arguments, which no shell interprets.
  /// - Returns: Why it was not started; `nil` if it was.
  @discardableResult
  static func open(_ arguments: [String]) -> SystemError? {
    // The shell that starts the program exits at once, so the program needs no wait(2).
    let words = ["/bin/sh", "-c", "\"$@\" &", "sh"] + arguments
    do {
      let shell = try ChildProgram.start(
        words, input: .null, output: .null, errors: .null, leadsSession: true)
      ChildProgram.wait(for: shell)
      return nil
    } catch {
      return error
    }
  }

  /// Runs a program for at most `limitSeconds`.
  static func run(_ arguments: [String]) {
    open(["timeout", "--kill-after=1", "\(limitSeconds)"] + arguments)
  }

  /// Runs a shell command of the user; `arguments` are its `$1`, `$2` and so on.
  static func run(shell command: String, arguments: [String] = []) {
    run(["/bin/sh", "-c", command, "sh"] + arguments)
  }
}
