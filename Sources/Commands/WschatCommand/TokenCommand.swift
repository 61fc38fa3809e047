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

  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }

  /// Runs the command to its end, which may take as long as a user needs to unlock a store. The
  /// command does not read standard input, which contains the lines to send.
  func run() throws(Failure) -> String {
    let bytes: [UInt8]
    do throws(ChildProgram.Failure) {
      bytes = try ChildProgram.output(
        of: ["/bin/sh", "-c", command], limitBytes: Self.limitBytes)
    } catch {
      switch error {
      case .notStarted: throw Failure(description: "--token-command cannot be started")
      default: throw Failure(description: "--token-command failed")
      }
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
