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
      let comparison = try Comparison(
        try TextFile.read(first), try TextFile.read(second), files: (first, second))
      StandardOutput.write(comparison.text)
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
  }
}
