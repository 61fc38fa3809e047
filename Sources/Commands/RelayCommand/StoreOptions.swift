import ArgumentParser
import Glibc
import Platform
import SQLiteLog
import Server

/// `--data`, which the commands on a store share.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The folder that holds the log.", valueName: "dir"), completion: .directory)
  var data: String

  /// Runs `body` on the store, and exits with the code for its error, if it fails.
  func use<Result>(_ body: (String) throws -> Result) throws -> Result {
    do {
      return try body(data)
    } catch let error as StoreError {
      StandardError.write("\(error)\n")
      throw error.kind == .broken ? ExitCode.brokenData : ExitCode.environment
    }
  }
}
