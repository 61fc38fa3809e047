import ArgumentParser
import Platform
import Swarm

/// Returns what `body` does, or ends the program with the exit code of why it could not.
/// - Parameter finish: called before an error is written.
func played<Result>(_ body: () throws -> Result, finish: () -> Void = {}) throws -> Result {
  do { return try body() } catch let interruption as Run.Interruption {
    // The exit code with which a shell reports a signal.
    throw ExitCode(128 + interruption.signal)
  } catch {
    finish()
    StandardError.write("\(error)\n")
    let isUsage = (error as? Run.Failure)?.isUsage ?? false
    throw ExitCode(isUsage ? 2 : Outcome.Status.noConnection.rawValue)
  }
}
