import ArgumentParser
import Glibc
import SQLiteLog
import Server

/// `--data`, which the commands on a store have.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The folder that holds the log.", valueName: "dir"), completion: .directory)
  var data: String

  /// Runs `body` on the store, and ends as its failure demands.
  func use<Result>(_ body: (String) throws -> Result) throws -> Result {
    do {
      return try body(data)
    } catch let error as StoreError {
      StandardError.write("\(error)\n")
      throw error.kind == .broken ? ExitCode.brokenData : ExitCode.environment
    }
  }
}
