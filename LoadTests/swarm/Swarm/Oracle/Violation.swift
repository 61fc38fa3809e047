/// A promise of the protocol that a relay can break, named after the violation.
public enum Promise: String, CaseIterable, Sendable {
  /// An acknowledged message is not in the log.
  case lost
  /// An entry was delivered twice to one cursor, or one message is in the log twice.
  case doubled
  /// A cursor was given a later entry before an earlier one, or one sender's messages were
  /// reordered.
  case reordered
  /// A cursor was not given an entry, and was not told so.
  case gap
  /// Two receivers were given different entries under one number.
  case twoOrders = "two orders"
  /// A text, sender, room or time was changed.
  case altered
  /// An entry that no client sent.
  case invented
  /// An entry that was delivered is no longer in the log.
  case forgotten
  /// An ack has another number than the entry.
  case misnumbered
  /// The relay's time went backwards within a room.
  case clock
  /// A send was refused as a conflict with an earlier one, although no other has its id.
  case conflict
  /// `relay verify` finds the store damaged.
  case broken
  /// A client holds an entry that a fork of the log has lost, and does not know.
  case untold

  /// The promise.
  public var sentence: String {
    switch self {
    case .lost: "an acknowledged message is never lost"
    case .doubled: "each entry is delivered once, and one id makes one entry"
    case .reordered:
      "entries are delivered in the order of seq, and a sender's in the order of sending"
    case .gap: "no client lags silently"
    case .twoOrders: "the order is the same for all clients"
    case .altered: "entries are delivered as they were sent"
    case .invented: "nothing is delivered that no client sent"
    case .forgotten: "delivered entries are durable"
    case .misnumbered: "an ack names the entry's seq"
    case .clock: "at never decreases in a room"
    case .conflict: "a message that is sent again unchanged is never refused as another one"
    case .broken: "the store is intact after a power loss at any time"
    case .untold: "a client that holds entries which a fork has lost is told"
    }
  }
}

extension Promise {
  /// The promise of a server in this mode.
  func sentence(in mode: Scenario.Mode) -> String {
    switch (mode, self) {
    case (.echo, .lost): "each message comes back"
    case (.echo, .doubled): "each message comes back once"
    case (.echo, .reordered): "messages of one connection come back in the order of sending"
    case (.echo, .altered): "messages come back as they were sent"
    case (.echo, .invented): "nothing comes back that was not sent"
    default: sentence
    }
  }
}

/// A violation, with the information needed to find its cause.
public struct Violation: Equatable, Sendable, CustomStringConvertible {
  /// The promise.
  public var promise: Promise
  /// The room; empty for an echo.
  public var room: String
  /// The numbers of the affected entries.
  public var seqs: [Int64]
  /// What happened, and to which receiver.
  public var detail: String
  /// The frames received around it, in order, or the entries of the log around it.
  public var frames: [String] = []

  /// Several lines for the user.
  public var description: String {
    let numbers = seqs.map(String.init).joined(separator: ", ")
    let place = room.isEmpty ? "" : "room \(room), seq \(numbers.isEmpty ? "-" : numbers): "
    let head = "\(promise.rawValue): \(place)\(detail)"
    return ([head] + frames.map { "    \($0)" }).joined(separator: "\n")
  }
}
