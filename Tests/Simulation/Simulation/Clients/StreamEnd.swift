internal import Relay
internal import Wire

/// The client's end of an event stream (`GET /v1/stream`).
final class StreamEnd: LinkEnd {
  enum Event {
    case message(ServerMessage)
    /// The position from which the stream can be resumed.
    case id(String)
    /// There is no stream.
    case refused(status: Int)
    case lost
  }

  let link: Link
  let witness: Witness
  var output: [UInt8] = []
  private let referee: Referee
  private var input: [UInt8] = []
  private var hasBegun = false
  private var isOver = false

  init(_ link: Link, _ referee: Referee, epoch: String) {
    self.link = link
    self.referee = referee
    witness = Witness(referee, link, epoch: epoch)
  }

  var hasSomethingToRead: Bool { !isOver && !link.toClient.arrived.isEmpty }

  func request(_ target: String, lastEventID: String?) {
    referee.trace { "\(self.link.number) → GET \(target) after \(lastEventID ?? "-")" }
    let field = lastEventID.map { "Last-Event-ID: \($0)\r\n" } ?? ""
    output += Array("GET \(target) HTTP/1.1\r\nHost: relay\r\n\(field)\r\n".utf8)
  }

  func receive(limit: Int, now: Int64) -> [Event] {
    guard !isOver else { return [] }
    input += link.toClient.read(limit)
    var events: [Event] = []
    if !hasBegun, let head = take(through: "\r\n\r\n") {
      hasBegun = true
      let status = Int(head.dropFirst(9).prefix(3)) ?? 0
      if status != 200 {
        isOver = true
        return [.refused(status: status)]
      }
    }
    while hasBegun, let block = take(through: "\n\n") { take(block, &events) }
    if link.toClient.ending(now: now) != nil {
      isOver = true
      events.append(.lost)
    }
    return events
  }

  /// Returns the input before the end mark, and removes both.
  private func take(through mark: String) -> String? {
    let mark = Array(mark.utf8)
    guard input.count >= mark.count,
      let end = input.indices.dropLast(mark.count - 1).first(where: {
        input[$0..<$0 + mark.count].elementsEqual(mark)
      })
    else { return nil }
    let text = String(decoding: input[..<end], as: UTF8.self)
    input.removeFirst(end + mark.count)
    return text
  }

  private func take(_ block: String, _ events: inout [Event]) {
    var (type, data, id): (String?, [Substring], String?) = (nil, [], nil)
    for line in block.split(separator: "\n", omittingEmptySubsequences: false) {
      switch true {
      case line.hasPrefix("event: "): type = String(line.dropFirst(7))
      case line.hasPrefix("data: "): data.append(line.dropFirst(6))
      case line.hasPrefix("id: "): id = String(line.dropFirst(4))
      case line.hasPrefix("retry: "), line.hasPrefix(":"): break
      default: referee.fault("connection \(link.number): not a line of an event: \(line)")
      }
    }
    let json = Array(data.joined(separator: "\n").utf8)
    referee.digest(json.span)
    referee.trace { "\(self.link.number) ← \(id ?? "") \(data.first?.prefix(200) ?? "")" }
    if !json.isEmpty {
      guard let message = try? ServerMessage(decoding: json.span) else {
        return referee.fault("connection \(link.number): not a message: \(data)")
      }
      var isEntry = false
      if case .message = message { isEntry = true }
      if isEntry != (id != nil) {
        referee.fault("connection \(link.number): \(type ?? "") has the id \(id ?? "nil")")
      }
      witness.take(message, ref: nil)
      events.append(.message(message))
    }
    if let id { events.append(.id(id)) }
  }
}
