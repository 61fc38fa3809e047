import ArgumentParser
import Glibc
import Platform
internal import RelayConfiguration
import SQLiteLog
import Server

/// `--data` and `--config`, which the commands on a store share. Without both, the environment says
/// where the log is.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder that holds the log (default: as in the configuration).", valueName: "dir"),
    completion: .directory)
  var data: String?

  @OptionGroup var options: ConfigurationOptions

  func validate() throws {
    guard data == nil || options.config == nil else {
      throw ValidationError(
        "--data and --config cannot be combined: a folder, or the configuration that says where the "
          + "log is.")
    }
  }

  /// Runs `body` on the store, and exits with the code for its error, if it fails.
  func use<Result>(_ body: (StorePlace) throws -> Result) throws -> Result {
    let place =
      try data.map { StorePlace.sqlite(folder: $0) } ?? StorePlace(try options.load())
    return try Self.explaining { try body(place) }
  }

  /// Prints the error of `body`, and exits with the code for it, if it fails.
  static func explaining<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError {
      StandardError.write("\(error)\n")
      throw error.kind == .broken ? ExitCode.brokenData : ExitCode.configuration
    } catch let error as SystemError {
      StandardError.write("\(error). Nothing was imported.\n")
      throw ExitCode.configuration
    }
  }
}
