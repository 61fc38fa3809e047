import ArgumentParser
import Platform
internal import RelayConfiguration
import Server

/// The subcommand `check-config`: reports the errors of a configuration, or prints the effective
/// one.
struct CheckConfig: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the errors of a configuration, or the configuration with all defaults.")

  @OptionGroup var options: ConfigurationOptions

  func run() throws {
    let configuration = try options.load()
    do throws(ServerError) {
      try Server.check(configuration, logger: OperatorLog.logger())
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.configuration
    }
    StandardOutput.write(configuration.described())
  }
}
