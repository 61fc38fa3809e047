internal import Relay
internal import Wire

/// What a witness keeps of rooms and sends.
extension Witness {
  struct Room {
    var isJoined = false
    var cursor: Int64 = 0
    /// Joins and leaves that are not answered yet.
    var pending: [Operation] = []
  }
  enum Operation: CustomStringConvertible {
    case join(after: Int64?, epoch: String?, headAtLeast: Int64, marksAtLeast: MemberMarks)
    case leave

    var description: String {
      switch self {
      case .leave: "leave"
      case .join(nil, _, _, _): "join"
      case .join(let after?, let epoch, _, _): "join after \(after) of \(epoch ?? "no epoch")"
      }
    }

    var isJoin: Bool { if case .join = self { true } else { false } }
  }
  /// What became of one send.
  struct Fate {
    var id: String
    var room: String
    /// Which of this connection's sends it is.
    var place: Int
    var sentAt: Int64
    var answer: Answer?
    var answeredAt: Int64 = 0
    /// What it is about was there when it was sent, and the sender's own.
    var isRightful = false
    var target: Int64?
    /// Sent once more before it was answered: which answer is whose cannot be told.
    var isAmbiguous = false
  }
  enum Answer {
    case stored(seq: Int64, isDuplicate: Bool)
    case refused(retryAfter: Int64)
    /// For good.
    case rejected
  }
}
