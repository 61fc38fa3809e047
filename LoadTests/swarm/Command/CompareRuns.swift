import ArgumentParser
import Glibc
import Swarm

/// The subcommand `compare`: shows two runs side by side.
struct CompareRuns: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Put two runs side by side, with ratios.",
    discussion: "Exit codes: 0 done; 2 usage, or a file is no report.")

  @Argument(
    help: ArgumentHelp("What `swarm run --json` wrote.", valueName: "A.json"),
    completion: .file(extensions: ["json"]))
  var first: String

  @Argument(
    help: ArgumentHelp("The run to hold against it.", valueName: "B.json"),
    completion: .file(extensions: ["json"]))
  var second: String

  func run() throws {
    do {
      let comparison = try Comparison(
        try TextFile.read(first), try TextFile.read(second), files: (first, second))
      TextFile.write(Array(comparison.text.utf8), to: STDOUT_FILENO)
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode(2)
    }
  }
}
