internal import Relay
internal import Wire

/// The client's end of one HTTP connection: requests, and the answers to them in order.
final class HTTPEnd: LinkEnd {
  struct Response {
    var status: Int
    /// The time after which the request may be repeated, in milliseconds.
    var retryAfterMilliseconds: Int64?
    var head = ""
    var body: [UInt8]

    /// Returns the value of a header; `name` is in lower case.
    func field(_ name: String) -> Substring? { HTTPEnd.field(name, in: head) }
  }

  enum Event {
    case response(Response)
    /// The relay sent something that is not a valid answer.
    case nonsense(String)
    /// The connection has ended.
    case lost
  }

  let link: Link
  var output: [UInt8] = []
  private var input: [UInt8] = []
  /// For each unanswered request, whether its answer has no content.
  private var headsOnly: [Bool] = []
  private var isOver = false

  init(_ link: Link) { self.link = link }

  /// The number of unanswered requests.
  var unanswered: Int { headsOnly.count }

  var hasSomethingToRead: Bool { !isOver && !link.toClient.arrived.isEmpty }

  /// Sends a request.
  /// - Parameter head: the header lines except `Host` and the length of the content.
  func request(
    _ method: String, _ target: String, _ head: [String] = [], content: [UInt8]? = nil,
    type: String = "application/json"
  ) {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: relay"] + head
    if let content {
      lines += ["Content-Type: \(type)", "Content-Length: \(content.count)"]
    }
    send(raw: Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (content ?? []))
    headsOnly.append(method == "HEAD")
  }

  func send(raw bytes: [UInt8]) { output += bytes }

  func receive(now: Int64) -> [Event] {
    guard !isOver else { return [] }
    input += link.toClient.read(.max)
    var events: [Event] = []
    while let (status, head, length) = nextHead() {
      if status == 100 {
        input.removeFirst(length)
        continue
      }
      let isHeadOnly = headsOnly.first ?? false
      let contentBytes = Self.field("content-length", in: head).flatMap { Int($0) } ?? 0
      let bodyBytes = isHeadOnly || status == 204 || status == 304 ? 0 : contentBytes
      guard input.count >= length + bodyBytes else { break }
      if headsOnly.isEmpty { events.append(.nonsense("an unrequested response: \(head)")) }
      headsOnly = Array(headsOnly.dropFirst())
      let seconds = Self.field("retry-after", in: head).flatMap { Int64($0) }
      events.append(
        .response(
          Response(
            status: status, retryAfterMilliseconds: seconds.map { $0 * 1000 }, head: head,
            body: Array(input[length..<length + bodyBytes]))))
      input.removeFirst(length + bodyBytes)
    }
    if !input.isEmpty, !input.starts(with: "HTTP/1.1 ".utf8.prefix(input.count)) {
      events.append(
        .nonsense("not a response: \(String(decoding: input.prefix(100), as: UTF8.self))"))
    }
    if link.toClient.ending(now: now) != nil {
      isOver = true
      events.append(.lost)
    }
    return events
  }

  /// Returns the status, the header fields and the length of the next answer's head.
  private func nextHead() -> (status: Int, head: String, length: Int)? {
    let end = Array("\r\n\r\n".utf8)
    guard input.count > 12,
      let start = input.indices.dropLast(3).first(where: { input[$0..<$0 + 4].elementsEqual(end) })
    else { return nil }
    let head = String(decoding: input[..<start], as: UTF8.self)
    guard let status = Int(head.dropFirst(9).prefix(3)) else { return nil }
    return (status, head, start + 4)
  }

  fileprivate static func field(_ name: String, in head: String) -> Substring? {
    for line in head.split(separator: "\r\n").dropFirst() {
      guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else {
        continue
      }
      return line[line.index(after: colon)...].drop { $0 == " " }
    }
    return nil
  }
}
