import Glibc
import Platform
import Relay
import Wire

@testable import Directories

/// GitHub and X on loopback, as a program of its own that ends with this object.
final class FakeService {
  let port: UInt16
  private let id: pid_t
  private let input: Int32
  private let stop: StopSignal
  private let client: WebClient

  init() throws {
    var inputs: [Int32] = [0, 0]
    var outputs: [Int32] = [0, 0]
    guard unsafe pipe(&inputs) == 0, unsafe pipe(&outputs) == 0 else {
      throw Unexpected("pipe: \(errno)")
    }
    for end in inputs + outputs { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    input = inputs[1]
    let script =
      "\(#filePath.split(separator: "/").dropLast(2).map { "/" + $0 }.joined())/directory.py"
    id = try Self.spawn(["/usr/bin/python3", script], inputs[0], outputs[1])
    close(inputs[0])
    close(outputs[1])
    defer { close(outputs[0]) }
    var line = ""
    var byte: UInt8 = 0
    while unsafe read(outputs[0], &byte, 1) == 1, byte != 10 {
      line.unicodeScalars.append(Unicode.Scalar(byte))
    }
    guard let port = UInt16(line) else { throw Unexpected("the service did not start") }
    self.port = port
    stop = try StopSignal()
    client = WebClient(WebOptions(), wakeDescriptor: stop.descriptor)
  }

  deinit {
    close(input)
    kill(id, SIGKILL)
    var status: Int32 = 0
    _ = unsafe waitpid(id, &status, 0)
  }

  private static func spawn(_ words: [String], _ input: Int32, _ output: Int32) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var id = pid_t()
    let code = unsafe posix_spawn(&id, words[0], &actions, nil, &arguments, environ)
    guard code == 0 else { throw Unexpected("\(words[0]) cannot be started: \(code)") }
    return id
  }

  var url: String { "http://127.0.0.1:\(port)" }

  /// Changes what it does; see directory.py for the keys.
  func control(_ json: String) throws {
    var request = WebRequest(url: "\(url)/_control")
    request.form = json
    guard try client.perform(request, until: stop).status == 200 else {
      throw Unexpected("the service does not know \(json)")
    }
  }

  /// What it was asked for.
  struct Request {
    var method: String
    var path: String
    var status: Int64
    /// Refused, since the limit was reached.
    var wasLimited: Bool
    var at: Int64
    /// When it was answered.
    var until: Int64
    let headers: JSONNode?

    /// Not of the token, nor of an account.
    var isPage: Bool { path.contains("/followers") || path.contains("/members") }

    func header(_ name: StaticString) -> String? { headers?[name]?.string }
  }

  /// What it had been asked for when a list was complete.
  func log(until list: PeopleList) throws -> [Request] { try log().filter { $0.at <= list.asOf } }

  /// The most requests that were under way at a time.
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
