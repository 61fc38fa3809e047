import ArgumentParser
import Server

/// Says what is wrong with a configuration, or prints what it comes to.
struct CheckConfig: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Say what is wrong with a configuration, or print it with all defaults.")

  @OptionGroup var options: ConfigurationOptions

  func run() throws {
    print(try options.load().described(), terminator: "")
  }
}
