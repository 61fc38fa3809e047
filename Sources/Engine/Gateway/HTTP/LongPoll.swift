import WebSocket
import Wire

/// What a request for a room's entries waits for, if there are none yet.
struct LongPoll {
  static let secondsLimit: Int64 = 60

  let room: String
  let after: Int64
  let milliseconds: Int64

  /// Whether the page has nothing for a client that has the entries up to `after`. If the client has
  /// more than the log, or lacks what is no longer kept, that is an answer.
  func isUnanswered(by page: ServerMessage.HistoryPage) -> Bool {
    page.entries.isEmpty && (page.resume ?? .ok) == .ok && after <= page.head
      && after >= page.first - 1
  }
}

extension LongPoll {
  /// Reads `wait_s` and `after`; `nil` if the request does not wait.
  init?(room: String, _ request: HTTPRequest) throws(HTTPProblem) {
    guard let text = request.query("wait_s") else { return nil }
    guard let seconds = Int64(text), 0...Self.secondsLimit ~= seconds,
      let after = request.query("after").flatMap({ Int64($0) })
    else {
      throw HTTPProblem(
        400,
        "\"wait_s\" must be a whole number of seconds, at most \(Self.secondsLimit), and needs"
          + " \"after\".", code: .badField, field: "wait_s")
    }
    if seconds == 0 { return nil }
    self.room = room
    self.after = after
    milliseconds = seconds * 1000
  }
}
