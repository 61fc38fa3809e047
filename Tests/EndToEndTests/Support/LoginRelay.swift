import TestSupport

/// A relay with accounts, with faults: see `device_login.py`.
final class LoginRelay {
  let process: ChildProcess
  let port: UInt16
  private let scheme: String

  /// - Parameter faults: A JSON object.
  init(_ faults: String = "{}", certificates: Certificates? = nil) throws {
    scheme = certificates == nil ? "http" : "https"
    process = try ChildProcess(
      ["/usr/bin/python3", "-B", Programs.peer("device_login.py"), faults]
        + (certificates?.pair ?? []))
    guard let port = process.readLine().flatMap({ UInt16($0) }) else {
      throw Unexpected("python3-websockets does not start: see config/setup\n\(process.errors)")
    }
    self.port = port
  }

  var url: String { "\(scheme)://127.0.0.1:\(port)" }

  /// Gives it a command, and returns its answer.
  @discardableResult
  func tell(_ command: String) throws -> String {
    process.write(command + "\n")
    guard let line = process.readLine() else { throw Unexpected(process.errors) }
    return line
  }

  /// What it has seen of a kind: a list, as JSON.
  func seen(_ kind: String) throws -> String { try tell("seen \(kind)") }

  /// The times at which it was asked for the token, in milliseconds.
  func polls() throws -> [Int] {
    try seen("polls").split { !$0.isNumber }.compactMap { Int($0) }
  }

  /// Waits until it was asked for the token with the current code, and lets the next request have a
  /// session.
  func allow(_ user: String) throws {
    try wait(for: "a poll") { try tell("isAsked") == "true" }
    try tell("allow \(user)")
  }

  func wait(for what: String, until condition: () throws -> Bool) throws {
    guard try becomesTrue(condition) else {
      throw Unexpected("no \(what): \(try seen("polls")) \(try seen("sends"))")
    }
  }
}
