import TestSupport

/// A program of an article, run as its reader runs it.
struct Program {
  /// How it is started, the file's name left out.
  var command: [String]
  var source: String
  /// Variables besides our own.
  var environment: [String: String] = [:]

  /// Runs it to its end, no longer than 30 s.
  /// - Returns: what it wrote to its standard output.
  /// - Throws: where it does not end by itself, and well; with what it wrote to its standard error.
  func run(_ arguments: [String], input: String) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(source, to: "program")
    let process = try ChildProcess(
      command + [folder["program"]] + arguments,
      environment: environment.map { "\($0)=\($1)" }, input: input)
    let outcome = try process.wait(Deadline(seconds: 30))
    guard outcome == .exit(0) else { throw Unexpected("\(outcome): \(process.errors)") }
    return process.output
  }
}
