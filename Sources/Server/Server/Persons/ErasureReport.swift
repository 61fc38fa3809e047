import Relay
import Wire

/// What an erasure has removed, by room.
public struct ErasureReport {
  private var rooms: [String: [String: Int]] = [:]
  var account: (sessions: Int, invitations: Int)?

  init() {}

  mutating func count(_ record: PersonRecord, in room: String) {
    rooms[room, default: [:]][Self.name(of: record), default: 0] += 1
  }

  private static func name(of record: PersonRecord) -> String {
    switch record {
    case .entry(let entry):
      switch entry.kind {
      case .react: "reaction"
      case .member: "reason"
      default: entry.kind.rawValue
      }
    case .forward: "forward"
    case .report: "report"
    case .marks: "membership"
    case .standing: "role"
    case .block: "block"
    case .ban, .seen: "state"
    }
  }

  /// One line for each room, and one for the account: `general\t12 texts, 3 reactions, 1 membership`.
  public var lines: [String] {
    var lines = rooms.keys.sorted().map { room in
      "\(room)\t" + Self.list(rooms[room] ?? [:])
    }
    if let account {
      lines.append(
        "account\t\(Self.count("session", account.sessions)), "
          + Self.count("invitation", account.invitations))
    }
    return lines
  }

  private static func list(_ counts: [String: Int]) -> String {
    counts.keys.sorted().map { count($0, counts[$0] ?? 0) }.joined(separator: ", ")
  }

  private static func count(_ name: String, _ number: Int) -> String {
    number.counted(name, name == "data" ? name : nil)
  }
}
