import ArgumentParser
import CommandMain
import Platform
internal import RelayConfiguration
import Server

/// The command `relay`.
@main
struct RelayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relay",
    abstract: "A real-time message relay: rooms as durable logs, over WebSocket.",
    version: "relay \(Server.version)",
    subcommands: [
      Init.self,
      Serve.self, CheckConfig.self, IssueToken.self, Invite.self, Users.self,
      ListRooms.self, Ban.self, Unban.self, Connections.self, Top.self, Trace.self,
      Erase.self, RetentionCommand.self, Verify.self, Export.self,
      Import.self, Migrate.self,
      Backup.self, RestoreCommand.self,
    ])

  static func main() { runAsMain(outputFailure: ExitStatus.environment) }
}

/// The exit codes of the commands.
extension ExitCode {
  /// The configuration is wrong; of other commands than `serve`, also that the work is not possible.
  static let configuration = ExitCode(1)
  /// The data is corrupt.
  static let brokenData = ExitCode(3)
  /// The environment failed, while serving or while writing the output.
  static let environment = ExitCode(ExitStatus.environment)
}

/// `--config`, which several commands share.
struct ConfigurationOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The configuration file; config/relay.yaml describes every key.", valueName: "file"),
    completion: .file(extensions: ["yaml"]))
  var config: String?

  /// Loads the configuration, or reports its errors on standard error.
  func load(_ overrides: Configuration.Overrides = .init()) throws -> Configuration {
    do throws(ConfigurationError) {
      return try read(overrides)
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
  }

  func read(_ overrides: Configuration.Overrides) throws(ConfigurationError) -> Configuration {
    try Configuration.load(
      file: config, environment: Environment.variables, overrides: overrides)
  }
}
