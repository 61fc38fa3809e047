import ArgumentParser
import Platform
import Swarm

/// The subcommand `compare`: shows two runs side by side.
struct CompareRuns: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Print two runs side by side, with the ratios of the second to the first.",
    discussion: "Exit codes: 0 done; 2 wrong usage, or a file is not a report.")

  @Argument(
    help: ArgumentHelp("A report that `swarm run --json` wrote.", valueName: "A.json"),
    completion: .file(extensions: ["json"]))
  var first: String

  @Argument(
    help: ArgumentHelp("The report to compare with it.", valueName: "B.json"),
    completion: .file(extensions: ["json"]))
  var second: String

  func run() throws {
    do {
      guard try ReportProgram.compare(first, second) else { throw ExitCode(2) }
    } catch let error as SystemError {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
  }
}
