import TestSupport

/// The command `simulate`, run to its end.
enum SimulateProcess {
  /// What it prints.
  static func output(_ arguments: String) throws -> String {
    let words = arguments.split(separator: " ").map(String.init)
    let process = try ChildProcess([Programs.path(of: "simulate")] + words, input: "")
    let outcome = try process.wait(Deadline(seconds: 600))
    guard outcome == .exit(0) else {
      throw Unexpected("simulate: \(outcome): \(process.output.suffix(500))\(process.errors)")
    }
    return process.output
  }
}
