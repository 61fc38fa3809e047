import Relay
import WebSocket
import Wire

/// `/v1/rooms/{room}/messages/{entry}/trace`.
extension RequestRouter {
  /// Returns the question of such a request, or what is wrong with it. The entry is a `seq` if it
  /// consists of digits, otherwise an `id`; `by=id` makes it an `id` in any case.
  static func traceQuestion(
    _ room: String, _ entry: String, _ request: HTTPRequest
  ) -> Result<HTTPCall.TraceQuestion, TraceMistake> {
    guard RoomName.isValid(room) else { return .failure(.room) }
    let isNumber = !entry.isEmpty && entry.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    switch request.query("by") {
    case nil where isNumber:
      guard let seq = Int64(entry) else { return .failure(.seq) }
      return .success(.init(room: room, entry: .seq(seq)))
    case nil, "id":
      guard (1...64).contains(entry.utf8.count),
        entry.utf8.allSatisfy({ 0x20...0x7E ~= $0 })
      else { return .failure(.id) }
      return .success(.init(room: room, entry: .id(entry)))
    default: return .failure(.by)
    }
  }

  /// The part of such a request that is wrong.
  enum TraceMistake: String, Error {
    case room, seq, id, by

    var problem: HTTPProblem {
      let expected =
        switch self {
        case .room: "a room"
        case .seq: "the seq of an entry"
        case .id: "1 to 64 printable ASCII characters"
        case .by: "\"id\""
        }
      var problem = HTTPProblem(400, "\(rawValue) must be \(expected).", code: .badField)
      problem.field = rawValue
      return problem
    }
  }
}
