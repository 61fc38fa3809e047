import TestSupport

/// An echo server of another project; it ends with the object, or with the test's process.
final class EchoPeerProcess {
  let url: String
  private let process: ChildProcess

  /// - Parameter words: the interpreter, the name of its script, and the script's arguments.
  init(_ interpreter: String, _ script: String, _ arguments: [String] = []) throws {
    // Debian's packages for Node lie outside its own path.
    process = try ChildProcess(
      [interpreter, Programs.peer(script)] + arguments,
      environment: ["NODE_PATH=/usr/share/nodejs"])
    guard let port = process.readLine().flatMap({ UInt16($0) }) else {
      throw Unexpected("\(script) says no port: \(process.errors)")
    }
    url = "ws://127.0.0.1:\(port)/"
  }
}
