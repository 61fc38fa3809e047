internal import Relay
internal import Wire

/// The state that a witness keeps of rooms and sends.
extension Witness {
  struct Room {
    var isJoined = false
    var cursor: Int64 = 0
    /// The head that `joined` has told.
    var joinedAt: Int64 = 0
    /// Joins and leaves without an answer.
    var pending: [Operation] = []
  }
  enum Operation: CustomStringConvertible {
    case join(Ledger.Position, headAtLeast: Int64, marksAtLeast: MemberMarks)
    case leave

    var description: String {
      switch self {
      case .leave: "leave"
      case .join(let position, _, _):
        position.after.map {
          let epochs = position.lineage?.query ?? position.epoch ?? "no epoch"
          return "join after \($0) of \(epochs)"
        } ?? "join"
      }
    }

    var isJoin: Bool { if case .join = self { true } else { false } }
  }
  /// One send and its answer.
  struct Fate {
    var send: ClientMessage.Send
    /// The index among this connection's sends.
    var place: Int
    var sentAt: Int64
    /// The head of the room at that time.
    var head: Int64 = 0
    /// The sender's marks at that time, or earlier ones.
    var marks = MemberMarks()
    var answer: Answer?
    var answeredAt: Int64 = 0
    /// Whether the target existed when it was sent, and the sender may change it.
    var isRightful = false
    var target: Int64?
    /// Whether it was sent again before it was answered: the answers cannot be told apart.
    var isAmbiguous = false
    /// The `seq` of the entry that had the id when it was sent, and whether it was redacted.
    var first: Int64?
    var isFirstRedacted = false

    var id: String { send.id }
    var room: String { send.room }
  }
  enum Answer {
    case stored(seq: Int64, isDuplicate: Bool)
    case refused(retryAfter: Int64)
    /// Permanently refused.
    case rejected
  }
}
