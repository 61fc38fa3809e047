public import ArgumentParser
internal import Glibc
internal import Platform

extension ParsableCommand {
  /// Parses the command line and runs the command. Like ArgumentParser's own `main`, but exits with
  /// 2 on incorrect usage, as is customary, and with `outputFailure` if the command has succeeded
  /// except that its output could not be written.
  /// - Parameter line: Returns how a line of a message is printed; messages repeat arguments.
  public static func runAsMain(
    outputFailure: Int32 = 1, showing line: (String) -> String = { $0 }
  ) {
    StandardStreams.open()
    var code = ExitCode.success
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      code = exitCode(for: error)
      let message = fullMessage(for: error)
      if !message.isEmpty {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { line(String($0)) }.joined(separator: "\n") + "\n"
        if code == .success { StandardOutput.write(text) } else { StandardError.write(text) }
      }
    }
    if let failure = StandardOutput.failure {
      StandardError.write("Standard output could not be written: \(failure.reason).\n")
      if code == .success { code = ExitCode(outputFailure) }
    }
    Glibc.exit(code == .validationFailure ? 2 : code.rawValue)
  }
}
