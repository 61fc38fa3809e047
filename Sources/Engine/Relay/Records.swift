import Wire

/// A report as an entry of `sys:reports` has it.
struct ReportRecord {
  var room: String
  var seq: Int64
  var by: String
  var reason: String
  /// The `message` that was reported.
  var copy: Entry?

  init(room: String, seq: Int64, by: String, reason: String, copy: Entry?) {
    self.room = room
    self.seq = seq
    self.by = by
    self.reason = reason
    self.copy = copy
  }

  /// Creates the record from its entry; `nil` if that is none.
  init?(_ entry: Entry) {
    guard let report = try? ServerMessage.Report(recorded: entry) else { return nil }
    self.init(
      room: report.room, seq: report.seq, by: report.by, reason: report.reason, copy: report.copy)
  }

  var withoutCopy: ReportRecord {
    ReportRecord(room: room, seq: seq, by: by, reason: reason, copy: nil)
  }

  /// The entry's body: `{room, seq, by, reason, copy}`.
  var body: [UInt8] {
    var body = Array("\"data\":".utf8)
    ServerMessage.Report(room: room, seq: seq, by: by, reason: reason, at: nil, copy: copy)
      .append(to: &body)
    return body
  }
}

/// What an operator has done, as an entry of `sys:audit` has it.
public struct Act: Equatable, Sendable {
  var by: String
  var verb: String
  var user: String?
  var room: String?
  /// The session of a device.
  var session: String?
  /// Milliseconds since 1970.
  var until: Int64?

  public init(
    by: String, verb: String, user: String? = nil, room: String? = nil, session: String? = nil,
    until: Int64? = nil
  ) {
    self.by = by
    self.verb = verb
    self.user = user
    self.room = room
    self.session = session
    self.until = until
  }

  init(_ change: BanChange, by user: String) {
    self.init(
      by: user, verb: change.isBanned ? "ban" : "unban", user: change.user, until: change.until)
  }

  init(deletionOf room: String, by user: String) {
    self.init(by: user, verb: "delete_room", room: room)
  }

  /// For the operator's log.
  var fields: [LogField] {
    [LogField("by", by), LogField("verb", verb)]
      + [("user", user), ("room", room), ("session", session)].compactMap { name, value in
        value.map { LogField(name, $0) }
      }
  }

  /// The entry's body: `{by, verb, user?, room?, session?, until?}`.
  var body: [UInt8] {
    var body = Array("\"data\":{\"by\":".utf8)
    body.append(jsonString: by)
    body += Array(",\"verb\":".utf8)
    body.append(jsonString: verb)
    for (key, value) in [("user", user), ("room", room), ("session", session)] {
      guard let value else { continue }
      body += Array(",\"\(key)\":".utf8)
      body.append(jsonString: value)
    }
    if let until { body += Array(",\"until\":\(until)".utf8) }
    return body + Array("}".utf8)
  }
}

extension LogRequest {
  /// What `sys:audit` will have of an operator's request; `nil` if it is none.
  var act: Act? {
    switch self {
    case .ban(let change, let order): Act(change, by: order.user)
    case .deleteRoom(let room, let order): Act(deletionOf: room, by: order.user)
    case .act(let act, _): act
    default: nil
    }
  }
}

/// A report about an entry: the place of its record, and whether that has a copy.
public struct ReportChange: Equatable, Sendable {
  /// The `seq` of the record in `sys:reports`.
  public var report: Int64
  /// The number of the room, the `seq` of the entry, and the time in milliseconds since 1970: of a new
  /// report; otherwise 0.
  public var room: Int64
  public var seq: Int64
  public var at: Int64
  public var hasCopy: Bool

  public init(report: Int64, room: Int64, seq: Int64, at: Int64, hasCopy: Bool) {
    self.report = report
    self.room = room
    self.seq = seq
    self.at = at
    self.hasCopy = hasCopy
  }
}
