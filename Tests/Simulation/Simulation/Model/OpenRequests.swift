internal import Wire

/// The requests of one connection that carry a `ref`. Each of them must be answered with it, as often
/// as the protocol says; nothing else may carry it.
struct OpenRequests {
  fileprivate struct Request {
    let message: ClientMessage
    let type: RequestName
    /// What the witness knew when it was sent.
    let state: Int
    let rooms: [String]
    let id: String?
    var answers: Int
  }
  private var requests: [String: Request] = [:]
  private var count = 0

  var isEmpty: Bool { requests.isEmpty }

  /// Returns an open request, and what the witness knew when it was sent.
  func request(_ ref: String) -> (message: ClientMessage, state: Int)? {
    requests[ref].map { ($0.message, $0.state) }
  }

  /// - Returns: the `ref` to send the request with.
  mutating func open(_ message: ClientMessage, state: Int) -> String {
    count += 1
    let ref = "ref-\(count)"
    var id: String?
    if case .send(let send) = message { id = send.id }
    requests[ref] = Request(
      message: message, type: message.type, state: state, rooms: message.rooms, id: id,
      answers: max(1, message.joins))
    return ref
  }

  /// - Returns: why the relay must not send this; `nil` if it may.
  mutating func take(_ message: ServerMessage, ref: String?) -> String? {
    guard let ref else {
      if case .ok = message { return "ok to nothing" }
      return nil
    }
    guard let request = requests[ref] else { return "an answer to \(ref), which is not open" }
    requests[ref]?.answers -= 1
    if request.answers == 1 { requests[ref] = nil }
    return request.mayBeAnswered(by: message) ? nil : "not an answer to \(ref), a \(request.type)"
  }
}

extension OpenRequests.Request {
  fileprivate func mayBeAnswered(by message: ServerMessage) -> Bool {
    switch message {
    case .joined(let joined): type == .join && rooms.contains(joined.room)
    case .left(let room, _): type == .leave && rooms == [room]
    case .ack(let ack): type == .send && rooms == [ack.room] && id == ack.id
    case .history(let page): type == .history && rooms == [page.room]
    case .rooms: type == .rooms
    case .people: type == .people
    case .pong: type == .ping
    case .blocks: type == .blocks
    case .reports: type == .reports
    case .ok:
      [
        .leave, .received, .read, .typing, .presence, .block, .accept, .report, .ban, .deleteRoom,
        .erase,
      ].contains(type)
    case .error(let error):
      error.re == type && error.id == id && (error.room.map(rooms.contains) ?? rooms.isEmpty)
    default: false
    }
  }
}

extension ClientMessage {
  fileprivate var rooms: [String] {
    switch self {
    case .join(let join): [join.room]
    case .joinRooms(let joins): joins.compactMap { try? $0.get().room }
    case .leave(let room, _), .received(let room, _), .read(let room, _), .typing(let room, _):
      [room]
    case .send(let send): [send.room]
    case .history(let request): [request.room]
    case .accept(let room), .report(let room, _, _), .deleteRoom(let room): [room]
    case .reports(let room), .erase(_, let room, _): room.map { [$0] } ?? []
    case .auth, .presence, .rooms, .people, .ping, .block, .blocks, .ban: []
    }
  }

  /// The number of rooms to join.
  fileprivate var joins: Int {
    switch self {
    case .join: 1
    case .joinRooms(let joins): joins.count
    default: 0
    }
  }
}
