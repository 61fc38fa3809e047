/// A promise of the protocol that a relay can break, by the word that names the breach.
public enum Promise: String, CaseIterable, Sendable {
  /// An acknowledged message is not in the log.
  case lost
  /// An entry was delivered twice to one cursor, or one message is in the log twice.
  case doubled
  /// A cursor got a later entry before an earlier one, or one sender's messages changed places.
  case reordered
  /// A cursor was not given an entry, and not told so.
  case gap
  /// Two receivers were given different entries under one number.
  case twoOrders = "two orders"
  /// A text, sender, room or time is not what it was.
  case altered
  /// An entry that nobody sent.
  case invented
  /// An entry that was shown, and is not in the log any more.
  case forgotten
  /// An ack names another number than the entry has.
  case misnumbered
  /// The relay's time went back within a room.
  case clock
  /// `relay verify` does not find the store whole.
  case broken

  /// What was promised.
  public var sentence: String {
    switch self {
    case .lost: "an acknowledged message is never lost"
    case .doubled: "each entry comes once, and one id makes one entry"
    case .reordered: "entries come in the order of seq, and a sender's in the order of sending"
    case .gap: "nobody is silently behind"
    case .twoOrders: "the order is the same for everyone"
    case .altered: "what is sent is delivered as it was sent"
    case .invented: "nothing is delivered that nobody sent"
    case .forgotten: "what was shown is durable"
    case .misnumbered: "an ack names the entry's seq"
    case .clock: "at never decreases in a room"
    case .broken: "the store is whole, whenever the power goes"
    }
  }
}

extension Promise {
  /// What was promised by such a server.
  func sentence(in mode: Scenario.Mode) -> String {
    switch (mode, self) {
    case (.echo, .lost): "each message comes back"
    case (.echo, .doubled): "each message comes back once"
    case (.echo, .reordered): "what one connection sends comes back in the order of sending"
    case (.echo, .altered): "what comes back is what was sent"
    case (.echo, .invented): "nothing comes back that was not sent"
    default: sentence
    }
  }
}

/// One breach: what a person needs to find its cause.
public struct Violation: Equatable, Sendable, CustomStringConvertible {
  /// Which promise.
  public var promise: Promise
  /// Where; of an echo there is none.
  public var room: String
  /// Of the entries that it is about.
  public var seqs: [Int64]
  /// What happened, and to whom.
  public var detail: String
  /// What was received around it, in order, or what the log holds around it.
  public var frames: [String] = []

  /// Several lines for a person.
  public var description: String {
    let numbers = seqs.map(String.init).joined(separator: ", ")
    let place = room.isEmpty ? "" : "room \(room), seq \(numbers.isEmpty ? "-" : numbers): "
    let head = "\(promise.rawValue): \(place)\(detail)"
    return ([head] + frames.map { "    \($0)" }).joined(separator: "\n")
  }
}
