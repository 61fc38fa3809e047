import Glibc
import Platform
import Swarm

/// Progress messages on standard error: lines, and on a terminal a status below them.
struct Progress {
  /// `nil` without a terminal, or with `--quiet`.
  let display: StatusLine?
  private let isQuiet: Bool

  /// - Parameter quiet: Whether to print nothing.
  init(quiet: Bool) {
    isQuiet = quiet
    display = quiet ? nil : StatusLine(on: STDERR_FILENO)
  }

  func log(_ line: String) {
    guard !isQuiet, !line.isEmpty else { return }
    if let display {
      display.log(line)
    } else {
      StandardError.write("\(line)\n")
    }
  }

  /// Erases the status; call it before any other output.
  func finish() { display?.finish() }
}
