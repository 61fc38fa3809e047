import ArgumentParser
internal import RelayConfiguration
import Server

/// Says what is wrong with a configuration, or prints what it comes to.
struct CheckConfig: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say what is wrong with a configuration, or print it with all defaults.")

  @OptionGroup var options: ConfigurationOptions

  func run() throws {
    let configuration = try options.load()
    do throws(ServerError) {
      try Server.check(configuration)
    } catch {
      StandardError.write("\(error)\n")
      throw ExitCode.environment
    }
    print(configuration.described(), terminator: "")
  }
}
