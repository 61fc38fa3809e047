import Platform

/// A program that prints the token, for example a password store. The first line of its output is
/// used.
struct TokenCommand: Sendable {
  /// Why there is no token; prints as a sentence without a full stop.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// More than a token that fits in a header.
  private static let limitBytes = 16 * 1024

  /// For the shell.
  let command: String

  private static func explain(_ failure: ChildProgram.Failure) -> String {
    switch failure {
    case .notStarted(let error): "cannot be started: \(error)"
    case .outputTooLong: "printed more than \(limitBytes) bytes"
    case .tookTooLong: "did not end within \(limitMilliseconds / 1000) s"
    case .stopped: "was stopped"
    case .ended(let outcome): "failed with \(outcome)"
    }
  }

  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }

  /// How long a command may take that cannot ask on the terminal: a user may have to unlock a store in
  /// a window.
  static let limitMilliseconds = 60_000

  /// Runs the command to its end. It does not read standard input, which contains the lines to send.
  ///
  /// - Parameter hasTerminal: Whether the command has the terminal, before anything else uses it, and
  ///   as long as its user needs. Otherwise it would take keys from what is being written; it is killed
  ///   after `limitMilliseconds`.
  func run(hasTerminal: Bool) throws(Failure) -> String {
    let bytes: [UInt8]
    do throws(ChildProgram.Failure) {
      bytes = try ChildProgram.output(
        of: ["/bin/sh", "-c", command], limitBytes: Self.limitBytes,
        timeoutMilliseconds: hasTerminal ? -1 : Self.limitMilliseconds,
        leadsSession: !hasTerminal)
    } catch {
      throw Failure(
        description: "--token-command \(Self.explain(error))"
          + (hasTerminal ? "" : "; it cannot ask on the terminal while wschat has it"))
    }
    let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    guard !line.isEmpty else { throw Failure(description: "--token-command printed no token") }
    let token = String(decoding: line, as: UTF8.self)
    guard Self.isToken(token) else {
      throw Failure(
        description: "--token-command printed characters that are not allowed in a token")
    }
    return token
  }
}
