/// Generates messages of relay.v1 as an adversary would: every type in any order, extreme values of
/// numbers, lengths at their limits and one beyond, names, cursors and targets of other users,
/// fields that are missing, duplicated or of another type, and invalid JSON.
public struct HostileGrammar: Sendable {
  /// The types of messages that every client may send.
  static let types = [
    "send", "history", "people", "rooms", "join", "send", "leave", "received", "read", "typing",
    "presence", "ping", "auth", "block", "block", "blocks", "accept", "report", "reports", "ban",
    "delete_room", "erase",
  ]
  /// Numbers that may overflow, be truncated, or be taken for another type.
  public static let extremes = [
    "0", "1", "-1", "2", "255", "65536", "2147483647", "2147483648", "4294967296",
    "9007199254740991", "9007199254740992", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551616", "1e308", "1e999", "-0", "0.5", "1E2",
    "00", "\"1\"",
  ]
  private static let wrongTypes = [
    "null", "true", "[]", "{}", "\"\"", "0", "[[[]]]", "{\"a\":{\"a\":1}}", "\"\\ud800\"",
  ]

  /// Existing rooms, both the adversary's own and those of other users.
  public var rooms: [String]
  public var users: [String]
  /// Cursors that answers returned as `next`.
  public var cursors: [String] = []
  /// The approximate last `seq` of the rooms.
  public var head: Int64 = 0
  /// `limits.text_bytes` and `limits.frame_bytes` of the relay.
  public var textBytes: Int
  public var frameBytes: Int
  /// The prefix of the ids.
  public let name: String
  private var idCount = 0

  public init(
    name: String, rooms: [String], users: [String], textBytes: Int = 8192,
    frameBytes: Int = 65_536
  ) {
    self.name = name
    self.rooms = rooms
    self.users = users
    self.textBytes = textBytes
    self.frameBytes = frameBytes
  }

  // MARK: - Messages

  /// Returns one message, as the payload of a WebSocket text message.
  public mutating func message(_ chooser: inout some Chooser) -> [UInt8] {
    let type = chooser.pick(Self.types)
    var members = [("type", "\"\(type)\"")]
    for (key, kind) in fields(of: type, &chooser) {
      // Most fields occur once and are valid, otherwise no message would pass the first check.
      switch chooser.choose(32) {
      case 31: break
      case 30:
        members.append((key, value(kind, &chooser)))
        members.append((key, value(kind, &chooser)))
      case 29: members.append((key, chooser.pick(Self.wrongTypes)))
      default: members.append((key, value(kind, &chooser)))
      }
    }
    var json = "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    switch chooser.choose(64) {
    case 63: json = String(json.prefix(chooser.choose(max(1, json.count))))
    case 62: json = nested(chooser.pick([63, 64, 65, 200]))
    case 61:
      json = chooser.pick(["", "[]", "null", "{}", "{\"type\":1}", "{\"type\":\"no\"}", " "])
    case 60 where chooser.once(in: 8):
      // A message at the size limit, or one byte beyond.
      let length = frameBytes + chooser.choose(2)
      json = "{\"type\":\"ping\",\"t\":\"" + String(repeating: "x", count: length - 22) + "\"}"
    default: break
    }
    return Array(json.utf8)
  }

  private func nested(_ depth: Int) -> String {
    "{\"type\":\"ping\",\"t\":" + String(repeating: "[", count: depth - 1)
      + String(repeating: "]", count: depth - 1) + "}"
  }

  /// The kind of a field's value.
  enum Kind {
    case room, seq, number, id, text, emoji, flag, limit, cursor, query, epoch, token, any, away
    case forward, lineage, user, time, role, access, ownRoom, file, fileName
  }

  private func fields(
    of type: String, _ chooser: inout some Chooser
  ) -> [(String, Kind)] {
    func optional(_ fields: [(String, Kind)]) -> [(String, Kind)] {
      fields.filter { _ in chooser.choose(2) == 0 }
    }
    switch type {
    case "join":
      return [("room", .room)]
        + optional([
          ("after", .seq), ("epoch", .epoch), ("lineage", .lineage), ("subscribers", .flag),
        ])
    case "leave": return [("room", .room)] + optional([("forget", .flag)])
    case "received", "read": return [("room", .room), ("seq", .seq)]
    case "typing": return [("room", .room), ("on", .flag)]
    case "history":
      let place: [(String, Kind)] =
        switch chooser.choose(4) {
        case 0: []
        case 1: [("before", .seq)]
        case 2: [("after", .seq)]
        default: [("before", .seq), ("after", .seq)]
        }
      return [("room", .room)] + place
        + optional([
          ("limit", .limit), ("fold", .flag), ("epoch", .epoch), ("lineage", .lineage),
        ])
    case "rooms": return optional([("cursor", .cursor), ("limit", .limit)])
    case "people": return optional([("query", .query), ("cursor", .cursor), ("limit", .limit)])
    case "presence": return [("presence", .away)]
    case "ping": return optional([("t", .any)])
    case "auth": return [("token", .token)]
    case "block": return [("user", .user), ("on", .flag)]
    case "blocks": return []
    case "accept", "delete_room": return [("room", .room)]
    case "report": return [("room", .room), ("seq", .seq), ("reason", .text)]
    case "reports": return optional([("room", .room)])
    case "erase": return [("user", .user)] + optional([("room", .room), ("seq", .seq)])
    case "ban": return [("user", .user), ("on", .flag)] + optional([("until", .time)])
    case "send" where chooser.once(in: 12):
      // Settings would make a room that nobody has used yet its own: no other user could use it.
      return [("room", .ownRoom), ("id", .id)] + optional([("title", .text)])
        + [("kind\":\"settings\",\"access", .access)]
    case "send" where chooser.once(in: 48):
      return [("room", .room), ("id", .id), ("kind\":\"file\",\"file", .file), ("name", .fileName)]
        + optional([("text", .text), ("reply_to", .seq)])
    case "send" where chooser.once(in: 12):
      return [("room", chooser.once(in: 2) ? .ownRoom : .room), ("id", .id)]
        + [("kind\":\"member\",\"user", .user), ("role", .role)]
        + optional([("until", .time), ("reason", .text)])
    default: return [("room", .room), ("id", .id)] + content(&chooser)
    }
  }

  /// Returns the fields of a kind of entry.
  private func content(_ chooser: inout some Chooser) -> [(String, Kind)] {
    switch chooser.choose(12) {
    case 0..<3: [("text", .text)]
    case 3: [("text", .text), ("reply_to", .seq)]
    case 4: [("forward", .forward)]
    case 5, 6: [("kind\":\"edit\",\"target", .seq), ("text", .text)]
    case 7, 8: [("kind\":\"react\",\"target", .seq), ("emoji", .emoji), ("on", .flag)]
    case 9: [("kind\":\"delete\",\"target", .seq)]
    case 10: [("kind\":\"data\",\"data", .any)]
    // A mixture of several kinds.
    default: [("kind", .any), ("text", .text), ("data", .any), ("target", .seq)]
    }
  }

  // MARK: - Values

  private mutating func value(_ kind: Kind, _ chooser: inout some Chooser) -> String {
    switch kind {
    case .room: return quoted(room(&chooser))
    case .ownRoom: return quoted("\(name)-\(chooser.choose(4))")
    case .user:
      return quoted(
        chooser.once(in: 12)
          ? chooser.pick(["", "sys", "A", String(repeating: "u", count: 65)])
          : chooser.pick(users))
    case .role:
      return quoted(
        chooser.pick(["owner", "moderator", "member", "muted", "none", "banned", "king", ""]))
    case .file:
      return quoted(
        chooser.pick([
          String(repeating: "A", count: 22), String(repeating: "-", count: 22),
          String(repeating: "/", count: 22), String(repeating: "A", count: 23), "",
          "../../relay.db",
        ]))
    case .fileName:
      return quoted(
        chooser.pick([
          "a.png", "", ".", "..", "a/b", " ", "a\\u202Egnp.exe", "a\\u0000b",
          String(repeating: "n", count: 255),
          String(repeating: "n", count: 256), "\\\"; filename=\\\"x",
        ]))
    case .access: return quoted(chooser.pick(["open", "private", "private", "shut"]))
    case .time:
      return chooser.once(in: 2)
        ? chooser.pick(Self.extremes) : "\(1_763_650_000_000 + 1000 * Int64(chooser.choose(3600)))"
    case .seq, .number: return number(&chooser)
    case .limit:
      return chooser.once(in: 4)
        ? chooser.pick(Self.extremes + ["200", "201", "500", "501"])
        : "\(1 + chooser.choose(60))"
    case .id: return quoted(id(&chooser))
    case .text: return quoted(text(&chooser))
    case .emoji:
      return quoted(
        chooser.pick([
          "👍", "x\(chooser.choose(60))", String(repeating: "e", count: 64),
          String(repeating: "e", count: 65), "", " ", "\\u0000", "👩‍👩‍👧‍👦",
        ]))
    case .flag: return chooser.pick(["true", "false", "null", "1"])
    case .cursor: return quoted(cursor(&chooser))
    case .query:
      return quoted(
        chooser.pick([
          "", "a", "mallory", "@", String(repeating: "q", count: 256),
          String(repeating: "q", count: 257), "\\u0000", "é",
        ]))
    case .epoch: return quoted(chooser.pick(["", "epoch-1", "never", name]))
    case .lineage:
      let starts = (0..<chooser.choose(18)).map { _ in
        "{\"epoch\":\(value(.epoch, &chooser)),\"after\":\(number(&chooser))}"
      }
      return "[\(starts.joined(separator: ","))]"
    case .token: return quoted(chooser.pick(["", "a.b.c", String(repeating: "t", count: 5000)]))
    case .any:
      return chooser.pick(Self.extremes + Self.wrongTypes + ["\"text\"", "[1,{\"a\":[]}]"])
    case .away: return chooser.pick(["\"away\"", "\"online\"", "\"offline\"", "1"])
    case .forward:
      return chooser.once(in: 6)
        ? chooser.pick(Self.wrongTypes)
        : "{\"room\":\(quoted(room(&chooser))),\"seq\":\(number(&chooser))}"
    }
  }

  private func quoted(_ text: String) -> String { "\"\(text)\"" }

  /// Returns a `seq` that exists in most cases.
  private func number(_ chooser: inout some Chooser) -> String {
    if chooser.once(in: 3) { return chooser.pick(Self.extremes) }
    let nearby = head - 20 + Int64(chooser.choose(24))
    return "\(max(0, chooser.once(in: 2) ? nearby : Int64(chooser.choose(30))))"
  }

  private func room(_ chooser: inout some Chooser) -> String {
    switch chooser.choose(24) {
    case 0: String(repeating: "r", count: 140)
    case 1: String(repeating: "r", count: 141)
    case 2: chooser.pick(["", ".", "..", "A", "a b", "sys:canary", "sys:", "dm:", "dm:a", "é"])
    case 3: "dm:\(chooser.pick(users)):\(chooser.pick(users))"
    case 4: "dm:" + String(repeating: "a", count: 64) + ":" + String(repeating: "b", count: 64)
    case 5: "dm:" + String(repeating: "a", count: 65) + ":b"
    case 6: "\(name)-\(chooser.choose(50))"
    default: chooser.pick(rooms)
    }
  }

  private mutating func id(_ chooser: inout some Chooser) -> String {
    switch chooser.choose(16) {
    case 0: return String(repeating: "i", count: 64)
    case 1: return String(repeating: "i", count: 65)
    case 2: return chooser.pick(["", "é", "\\u0007", " "])
    // An earlier id, with other content.
    case 3: return "\(name)-\(max(0, idCount - chooser.choose(4)))"
    default:
      idCount += 1
      return "\(name)-\(idCount)"
    }
  }

  private func text(_ chooser: inout some Chooser) -> String {
    switch chooser.choose(40) {
    case 0: String(repeating: "x", count: textBytes)
    case 1: String(repeating: "x", count: textBytes + 1)
    case 2: String(repeating: "é", count: textBytes / 2)
    case 3: chooser.pick(["", " ", "\\n", "\\u0000", "\\ud800", "\u{200B}", "\u{85}"])
    case 4: String(repeating: "\\u0041", count: 100)
    default: "words of \(name) \(chooser.choose(1000))"
    }
  }

  /// Returns the cursor of another page or another answer, or an invalid one.
  private func cursor(_ chooser: inout some Chooser) -> String {
    switch chooser.choose(8) {
    case 0:
      chooser.pick(["", "@", "@@", "nobody", "@-1", "a@b", String(repeating: "c", count: 300)])
    case 1, 2: "nobody@\(chooser.pick(Self.extremes.filter { !$0.hasPrefix("\"") }))"
    case 3: "\(chooser.pick(users))@\(chooser.choose(70))"
    case 4: "nobody@\(chooser.choose(70))"
    case 5: chooser.pick(rooms)
    default: cursors.isEmpty ? chooser.pick(users) : chooser.pick(cursors)
    }
  }
}
