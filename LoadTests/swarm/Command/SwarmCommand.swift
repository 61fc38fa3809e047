import ArgumentParser
import Glibc
import Swarm

/// The load test's command.
@main
struct SwarmCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swarm",
    abstract: "Load a relay.v1 server, measure it honestly, and check every promise it makes.",
    version: "swarm 0.1.0",
    subcommands: [RunScenario.self, FindLoad.self, CompareRuns.self, BenchCommand.self])

  /// As ArgumentParser's own, but for the exit code of wrong usage: 2, as everywhere else.
  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      let code = exitCode(for: error)
      if code == .validationFailure {
        StandardError.write(fullMessage(for: error) + "\n")
        exit(withError: ExitCode(2))
      }
      exit(withError: error)
    }
  }
}

/// Lines for a person.
enum StandardError {
  static func write(_ text: String) {
    TextFile.write(Array(text.utf8), to: STDERR_FILENO)
  }
}
