import ArgumentParser
import CommandMain
import Swarm

/// The command `swarm`, the load generator.
@main
struct SwarmCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "swarm",
    abstract: "Load a relay.v1 server, measure its latencies, and check every promise it makes.",
    version: "swarm 0.1.0",
    subcommands: [
      RunScenario.self, FindLoad.self, CompareRuns.self, BenchCommand.self, FilesCommand.self,
      FileClientCommand.self,
    ])

  static func main() { runAsMain(outputFailure: 2) }
}
