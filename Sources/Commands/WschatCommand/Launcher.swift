import Glibc
import Platform

/// Starts programs without waiting for them: a notification, a sound, a browser.
enum Launcher {
  /// Whether there is a program of this name in `$PATH`.
  static func has(_ name: String) -> Bool { ChildProgram.exists(name) }

  /// Whether notifications can be shown: there is an X or Wayland display.
  static var hasDesktop: Bool {
    !(Environment["DISPLAY"] ?? "").isEmpty || !(Environment["WAYLAND_DISPLAY"] ?? "").isEmpty
  }

  /// Runs a program with these arguments, which no shell interprets.
  static func run(_ arguments: [String]) {
    // The shell that starts the program exits at once, so the program needs no wait(2).
    let words = ["/bin/sh", "-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh"] + arguments
    if let shell = try? ChildProgram.start(words) { ChildProgram.wait(for: shell) }
  }

  /// Runs a shell command of the user; `arguments` are its `$1`, `$2` and so on.
  static func run(shell command: String, arguments: [String] = []) {
    run(["/bin/sh", "-c", command, "sh"] + arguments)
  }
}
