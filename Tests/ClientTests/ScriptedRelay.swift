import Client
import TestSupport

/// A relay in another process that commits the given faults; it ends with this object.
final class ScriptedRelay {
  private let process: ChildProcess
  let port: UInt16
  private let scheme: String

  /// - Parameters:
  ///   - faults: a JSON object, see the script.
  ///   - certificates: for TLS; `nil` means without TLS.
  init(_ faults: String = "{}", certificates: Certificates? = nil) throws {
    scheme = certificates == nil ? "ws" : "wss"
    process = try ChildProcess(
      ["/usr/bin/python3", "-c", Self.script, faults] + (certificates?.pair ?? []))
    guard let port = process.readLine().flatMap({ UInt16($0) }) else {
      throw Unexpected("python3-websockets does not start: see config/setup\n\(process.errors)")
    }
    self.port = port
  }

  var url: String { "\(scheme)://127.0.0.1:\(port)/ws" }

  /// Ends the relay, and returns what it saw: one JSON array each.
  func seen() -> [String] { process.end() }
}
