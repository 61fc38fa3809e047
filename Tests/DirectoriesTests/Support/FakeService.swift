import Platform
import Relay
import TestSupport
import Wire

@testable import Directories

/// GitHub and X on loopback, as a separate program that ends with this object.
final class FakeService {
  let port: UInt16
  private let process: ChildProcess
  private let stop: StopSignal
  private let client: WebClient

  init() throws {
    process = try ChildProcess(
      ["/usr/bin/python3", Project["Tests/DirectoriesTests/directory.py"]])
    guard let port = process.readLine().flatMap({ UInt16($0) }) else {
      throw Unexpected("the service did not start: \(process.errors)")
    }
    self.port = port
    stop = try StopSignal()
    client = WebClient(
      WebOptions(WebReach(origin: "http://127.0.0.1:\(port)")), wakeDescriptor: stop.descriptor)
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Changes its behaviour; see directory.py for the keys.
  func control(_ json: String) throws {
    var request = WebRequest(url: "\(url)/_control")
    request.content = json
    guard try client.perform(request, until: stop).status == 200 else {
      throw Unexpected("the service does not know \(json)")
    }
  }

  /// The requests that it received.
  struct Request {
    var method: String
    var path: String
    var status: Int64
    /// Refused, because the limit was reached.
    var wasLimited: Bool
    var at: Int64
    /// The time of the answer.
    var until: Int64
    let headers: JSONNode?

    /// Neither for the token nor for an account.
    var isPage: Bool { path.contains("/followers") || path.contains("/members") }

    func header(_ name: StaticString) -> String? { headers?[name]?.string }
  }

  /// The requests that it had received when a list was complete.
  func log(until list: PeopleList) throws -> [Request] { try log().filter { $0.at <= list.asOf } }

  /// The maximum number of requests that were in progress simultaneously.
  func mostAtOnce() throws -> Int {
    let log = try log()
    return log.map { one in log.count { $0.at <= one.at && one.at < $0.until } }.max() ?? 0
  }

  func log() throws -> [Request] {
    let answer = try client.perform(WebRequest(url: "\(url)/_log"), until: stop)
    guard let rows = JSONNode(answer.body)?.elements else { throw Unexpected("no log") }
    return try rows.map { row in
      guard let method = row["method"]?.string, let path = row["path"]?.string,
        let status = row["status"]?.integer, let at = row["at"]?.integer,
        let until = row["until"]?.integer
      else { throw Unexpected("a log without its fields") }
      return Request(
        method: method, path: path, status: status, wasLimited: row["limited"]?.boolean == true,
        at: at, until: until, headers: row["headers"])
    }
  }
}
