import ArgumentParser
import Glibc
import Swarm

/// The command `swarm`, the load generator.
@main
struct SwarmCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swarm",
    abstract: "Load a relay.v1 server, measure its latencies, and check every promise it makes.",
    version: "swarm 0.1.0",
    subcommands: [RunScenario.self, FindLoad.self, CompareRuns.self, BenchCommand.self])

  /// Like ArgumentParser's own `main`, but exits with 2 on incorrect usage.
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

/// Writes lines to standard error.
enum StandardError {
  static func write(_ text: String) {
    TextFile.write(Array(text.utf8), to: STDERR_FILENO)
  }
}
