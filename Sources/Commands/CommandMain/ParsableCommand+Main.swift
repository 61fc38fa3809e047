public import ArgumentParser
internal import Glibc
internal import Platform

extension ParsableCommand {
  /// Parses the command line and runs the command. Like ArgumentParser's own `main`, but exits with
  /// 2 on incorrect usage, as is customary.
  /// - Parameter line: Returns how a line of a message is printed; messages repeat arguments.
  public static func runAsMain(showing line: (String) -> String = { $0 }) {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      let code = exitCode(for: error)
      let message = fullMessage(for: error)
      if !message.isEmpty {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        let text = lines.map { line(String($0)) }.joined(separator: "\n") + "\n"
        if code == .success { StandardOutput.write(text) } else { StandardError.write(text) }
      }
      Glibc.exit(code == .validationFailure ? 2 : code.rawValue)
    }
  }
}
