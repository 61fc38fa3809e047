import Directories
import Glibc
import Platform
internal import Server
internal import Wire

/// A request to the running relay by the socket operator.sock in its data folder: only users of this machine
/// that may write to the folder can make one.
enum OperatorRequest {
  /// Why there is no answer, as a sentence for the operator.
  struct Failure: Error, CustomStringConvertible {
    var description: String

    init(description: String) { self.description = description }

    /// - Parameter code: the errno of the attempt to connect to the socket.
    fileprivate init(_ code: Int32, folder: String, otherwise: String) {
      let socket = "\(folder)/\(Server.operatorSocket)"
      description =
        switch code {
        case ENOENT, ENOTDIR, ECONNREFUSED:
          "No relay runs on the data folder \(folder): nothing listens on \(socket). Start it, or name its data "
            + "folder by --data or --config\(otherwise)."
        case EACCES, EPERM:
          "Cannot connect to \(socket): only the user that runs the relay may, and root."
        default: "Cannot connect to \(SystemError(socket, code: code))."
        }
    }
  }

  /// Requests a page of the relay.
  /// - Parameters:
  ///   - method: instead of GET, or POST if there is a content.
  ///   - otherwise: what helps where no relay runs, besides starting one: `, or …`.
  static func send(
    _ path: String, method: String? = nil, content: String? = nil, socketIn folder: String,
    otherwise: String = ""
  ) throws(Failure) -> (status: Int, body: [UInt8]) {
    // The socket's path may be longer than that of a socket may be, so the folder is opened.
    let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(errno, folder: folder, otherwise: otherwise) }
    defer { close(descriptor) }
    do throws(WebPage.Failure) {
      return try WebPage.get(
        "http://localhost\(path)", method: method,
        headers: content == nil ? [] : ["Content-Type: application/json"], content: content,
        unixSocket: "/proc/self/fd/\(descriptor)/\(Server.operatorSocket)")
    } catch {
      if let code = error.socketError { throw Failure(code, folder: folder, otherwise: otherwise) }
      throw Failure(
        description: "The relay at \(folder)/\(Server.operatorSocket) does not answer: \(error).")
    }
  }

  /// Lets the relay carry out requests of relay.v1 as an operator.
  /// - Throws: with the first refusal, or if no relay runs.
  static func perform(
    _ messages: [ClientMessage], socketIn folder: String, otherwise: String = ""
  ) throws(Failure) {
    var content = "["
    for (place, message) in messages.enumerated() {
      if place > 0 { content += "," }
      content += String(decoding: message.json(ref: "\(place)"), as: UTF8.self)
    }
    let answer = try send(
      "/v1/requests", content: content + "]", socketIn: folder, otherwise: otherwise)
    let json = JSONNode(answer.body)
    if answer.status != 200 {
      throw Failure(
        description: json?["detail"]?.string ?? "The relay answers with status \(answer.status).")
    }
    for item in json?.elements ?? [] where item["type"]?.string == "error" {
      if item["code"]?.string == ErrorCode.unavailable.rawValue {
        throw Failure(
          description:
            "This was not done, because the relay cannot write its store. Its log says why: for example, the disk is "
            + "full, or has less free space than log.min_free_bytes.")
      }
      throw Failure(description: item["message"]?.string ?? "The relay has refused it.")
    }
  }
}
