internal import Platform

/// Runs the operator's command that prints a token.
enum TokenCommand {
  static let timeoutMilliseconds = 30_000
  private static let outputLimitBytes = 8192

  /// Blocks until the command exits, or is killed after the timeout or because the directory stops.
  /// Its standard error is the relay's; its output is never logged.
  static func run(
    _ command: String, _ stop: StopSignal, timeoutMilliseconds: Int = timeoutMilliseconds
  ) throws(FetchError) -> String {
    let output: [UInt8]
    do throws(ChildProgram.Failure) {
      output = try ChildProgram.output(
        of: ["/bin/sh", "-c", command], limitBytes: outputLimitBytes,
        timeoutMilliseconds: timeoutMilliseconds, stop: stop.descriptor, leadsGroup: true)
    } catch {
      switch error {
      case .stopped: throw .stopped
      case .notStarted(let error):
        throw .failed("The token command cannot be started.", detail: "\(error)")
      case .tookTooLong:
        throw .failed("The token command did not exit within \(timeoutMilliseconds / 1000) s.")
      case .outputTooLong: throw .failed("The token command printed more than a token.")
      case .ended(let outcome): throw .failed("The token command failed (\(outcome)).")
      }
    }
    let token = String(decoding: output, as: UTF8.self).trimmed
    guard TokenSource.isToken(token) else {
      throw .failed(
        token.isEmpty
          ? "The token command printed no token."
          : "The token command printed more than a token.")
    }
    return token
  }
}
