import Client
internal import Glibc
import Wire

/// What a client of files asks a relay for besides the files themselves. Each request is repeated until the relay, which
/// may be down, has answered. Blocks.
struct FileRequests {
  struct Failure: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
  }

  private static let answerLimitBytes = 1 << 20
  private static let pageEntries = 100
  private static let waitMilliseconds: UInt32 = 100
  /// A relay that is killed again and again is up in between.
  private static let attemptsLimit = 600

  let configuration: Client.Configuration

  init(url: RelayURL, user: String) {
    configuration = Client.Configuration(url: url, user: user)
  }

  /// Sends an entry.
  /// - Returns: its `seq`.
  func send(_ entry: String, to room: String) throws -> Int64 {
    let answer = try ask("POST", "v1/rooms/\(room)/messages", .json(Array(entry.utf8)))
    guard 200...201 ~= answer.status, let seq = JSONNode(answer.body)?["seq"]?.integer else {
      throw Failure("\(entry) was answered with \(Self.text(of: answer))")
    }
    return seq
  }

  /// Returns the entries of a room, as they are now, in their order.
  func entries(of room: String) throws -> [JSONNode] {
    var all: [JSONNode] = []
    while true {
      let after = all.last?["seq"]?.integer ?? 0
      let answer = try ask(
        "GET", "v1/rooms/\(room)/messages?after=\(after)&limit=\(Self.pageEntries)")
      guard answer.status == 200, let page = JSONNode(answer.body)?["entries"]?.elements else {
        throw Failure("the history was answered with \(Self.text(of: answer))")
      }
      if page.isEmpty { return all }
      all += page
    }
  }

  /// Returns the status with which a file is served.
  func status(of file: String) throws -> Int { try ask("HEAD", "v1/files/\(file)").status }

  private func ask(
    _ method: String, _ resource: String, _ body: RelayRequest.Body = .none
  ) throws -> RelayRequest.Answer {
    let request = RelayRequest(url: configuration.url, trust: configuration.trust)
    let user = "\(resource.contains("?") ? "&" : "?")user=\(configuration.user ?? "")"
    var last = ""
    for _ in 0..<Self.attemptsLimit {
      do throws(RelayRequest.Failure) {
        let answer = try request.send(
          method, resource + user, body: body, accepting: "application/json",
          limitBytes: Self.answerLimitBytes)
        if answer.status < 500, answer.status != 429 { return answer }
        last = Self.text(of: answer)
      } catch {
        guard case .connection = error else { throw error }
        last = "\(error)"
      }
      usleep(Self.waitMilliseconds * 1000)
    }
    throw Failure("\(method) \(resource) has no answer: \(last)")
  }

  private static func text(of answer: RelayRequest.Answer) -> String {
    "\(answer.status): \(String(decoding: answer.body, as: UTF8.self))"
  }
}
