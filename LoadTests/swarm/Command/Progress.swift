import Glibc
import Swarm

/// What is said on standard error while something is on: on a terminal lines with a live view
/// below them, otherwise lines.
struct Progress {
  /// `nil` where there is no terminal, or nothing is to be said.
  let display: LiveDisplay?
  private let isQuiet: Bool

  /// - Parameter quiet: say nothing.
  init(quiet: Bool) {
    isQuiet = quiet
    display = quiet ? nil : LiveDisplay(on: STDERR_FILENO)
  }

  func log(_ line: String) {
    guard !isQuiet, !line.isEmpty else { return }
    if let display {
      display.log(line)
    } else {
      StandardError.write("\(line)\n")
    }
  }

  /// To be called before anything else is written.
  func finish() { display?.finish() }
}
