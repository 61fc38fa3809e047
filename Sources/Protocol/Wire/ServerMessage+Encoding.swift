extension ServerMessage {
  /// The JSON text of this message.
  public var json: [UInt8] { json(ref: nil) }

  /// Returns the JSON text of this message as the answer to a request.
  public func json(ref: String?) -> [UInt8] {
    var json: [UInt8] = []
    append(to: &json, ref: ref)
    return json
  }

  /// Appends the JSON text of this message as the answer to a request. An `ack` and an `error` have a
  /// `ref` of their own.
  public func append(to json: inout [UInt8], ref: String?) {
    append(to: &json)
    json.append(ref: ref)
  }

  /// Appends the JSON text of this message.
  public func append(to json: inout [UInt8]) {
    switch self {
    case .welcome(let welcome): welcome.append(to: &json)
    case .renewed(let expiresIn):
      json.append("{\"type\":\"renewed\"")
      if let expiresIn { json.append(member: ",\"expires_in_ms\":", expiresIn) }
      json.append("}")
    case .ok: json.append("{\"type\":\"ok\"}")
    case .joined(let joined): joined.append(to: &json)
    case .left(let room, let departure):
      json.append(member: "{\"type\":\"left\",\"room\":", room)
      if let departure {
        json.append(member: ",\"seq\":", departure.seq)
        json.append(member: ",\"by\":", departure.by)
        if let role = departure.role { json.append(member: ",\"role\":", role.rawValue) }
        if let reason = departure.reason { json.append(member: ",\"reason\":", reason) }
      }
      json.append("}")
    case .message(let entry): entry.append(to: &json)
    case .ack(let ack): ack.append(to: &json)
    case .history(let page): page.append(to: &json)
    case .receipt(let room, let marks):
      json.append(member: "{\"type\":\"receipt\",\"room\":", room)
      json.append(member: ",\"user\":", marks.user)
      json.append(member: ",\"received\":", marks.received)
      json.append(member: ",\"read\":", marks.read)
      json.append("}")
    case .typing(let room, let user, let on):
      json.append(member: "{\"type\":\"typing\",\"room\":", room)
      json.append(member: ",\"user\":", user)
      json.append(on ? ",\"on\":true}" : ",\"on\":false}")
    case .subscribers(let room, let count):
      json.append(member: "{\"type\":\"subscribers\",\"room\":", room)
      json.append(member: ",\"subscribers\":", count)
      json.append("}")
    case .rooms(let rooms, let next):
      json.append("{\"type\":\"rooms\",\"rooms\":[")
      for (index, room) in rooms.enumerated() {
        if index > 0 { json.append(",") }
        room.append(to: &json)
      }
      json.append("]")
      if let next { json.append(member: ",\"next\":", next) }
      json.append("}")
    case .activity(let activity): activity.append(to: &json)
    case .people(let page): page.append(to: &json)
    case .presence(let presence): presence.append(to: &json)
    case .pong(let t, let time):
      json.append("{\"type\":\"pong\"")
      if let t {
        json.append(",\"t\":")
        json.append(contentsOf: t)
      }
      json.append(member: ",\"time\":", time)
      json.append("}")
    case .error(let error): error.append(to: &json)
    case .closing(let reason, let reconnectAfter):
      json.append(member: "{\"type\":\"closing\",\"reason\":", reason)
      json.append(member: ",\"reconnect_after_ms\":", reconnectAfter)
      json.append("}")
    case .blocks(let users):
      json.append("{\"type\":\"blocks\",\"users\":[")
      for (index, user) in users.enumerated() { json.append(member: index > 0 ? "," : "", user) }
      json.append("]}")
    case .reports(let reports):
      json.append("{\"type\":\"reports\",\"reports\":[")
      for (index, report) in reports.enumerated() {
        if index > 0 { json.append(",") }
        report.append(to: &json)
      }
      json.append("]}")
    }
  }
}

extension ServerMessage.Welcome {
  fileprivate func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":\"welcome\",\"protocol\":\"relay.v1\",\"user\":", user)
    json.append(member: ",\"session\":", session)
    json.append(member: ",\"server\":", server)
    json.append(member: ",\"time\":", time)
    json.append(member: ",\"heartbeat_s\":", heartbeatSeconds)
    json.append(member: ",\"limits\":{\"frame_bytes\":", Int64(limits.frameBytes))
    json.append(member: ",\"text_bytes\":", Int64(limits.textBytes))
    json.append(member: ",\"rooms\":", Int64(limits.rooms))
    json.append(member: ",\"sends_per_s\":", Int64(limits.sendsPerSecond))
    json.append(member: ",\"burst\":", Int64(limits.burst))
    json.append(member: ",\"requests_per_s\":", Int64(limits.requestsPerSecond))
    json.append(member: ",\"bytes_per_s\":", Int64(limits.bytesPerSecond))
    if let fileBytes = limits.fileBytes {
      json.append(member: ",\"file_bytes\":", Int64(fileBytes))
    }
    json.append("}")
    if let expiresInMilliseconds {
      json.append(member: ",\"expires_in_ms\":", expiresInMilliseconds)
    }
    json.append("}")
  }
}

extension ServerMessage.Joined {
  fileprivate func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":\"joined\",\"room\":", room)
    json.append(member: ",\"epoch\":", epoch)
    json.append(member: ",\"head\":", head)
    json.append(member: ",\"first\":", first)
    json.append(member: ",\"after\":", after)
    json.append(member: ",\"resume\":", resume.rawValue)
    json.append(member: ",\"read\":", read)
    json.append(member: ",\"received\":", received)
    if let members {
      json.append(",\"members\":[")
      for (index, member) in members.enumerated() {
        json.append(member: index == 0 ? "{\"user\":" : ",{\"user\":", member.user)
        json.append(member: ",\"read\":", member.read)
        json.append(member: ",\"received\":", member.received)
        if let role = member.role { json.append(member: ",\"role\":", role.rawValue) }
        json.append("}")
      }
      json.append("]")
    }
    if !lineage.isEmpty { json.append(lineage: lineage) }
    if let subscribers { json.append(member: ",\"subscribers\":", subscribers) }
    about?.append(to: &json)
    json.append("}")
  }
}

extension ServerMessage.Ack {
  /// Appends the JSON text of this message.
  public func append(to json: inout [UInt8]) {
    json.append(addingCapacity: jsonBytesLimit) { output in
      output.append(member: "{\"type\":\"ack\",\"room\":", room)
      output.append(member: ",\"id\":", id)
      output.append(member: ",\"seq\":", seq)
      output.append(member: ",\"at\":", at)
      if duplicate { output.append(",\"duplicate\":true") }
      if let ref { output.append(member: ",\"ref\":", ref) }
      output.append(UInt8(ascii: "}"))
    }
  }

  /// The keys have 64 bytes.
  private var jsonBytesLimit: Int {
    let names =
      OutputSpan.jsonBytes(of: room) + OutputSpan.jsonBytes(of: id)
      + (ref.map { OutputSpan.jsonBytes(of: $0) } ?? 0)
    return 96 + names + 2 * OutputSpan.decimalBytes
  }
}

extension ServerMessage.HistoryPage {
  fileprivate func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":\"history\",\"room\":", room)
    json.append(",\"entries\":[")
    for (index, entry) in entries.enumerated() {
      if index > 0 { json.append(",") }
      entry.append(to: &json)
    }
    json.append(member: "],\"first\":", first)
    json.append(member: ",\"head\":", head)
    json.append(more ? ",\"more\":true" : ",\"more\":false")
    json.append(member: ",\"epoch\":", epoch)
    if let resume { json.append(member: ",\"resume\":", resume.rawValue) }
    if let after { json.append(member: ",\"after\":", after) }
    json.append("}")
  }
}

extension ServerMessage.RoomDescription {
  /// Appends its members, each after a comma.
  fileprivate func append(to json: inout [UInt8], withTitle: Bool = true) {
    if withTitle, let title { json.append(member: ",\"title\":", title) }
    if let topic { json.append(member: ",\"topic\":", topic) }
    json.append(member: ",\"access\":", access.rawValue)
    if let role { json.append(member: ",\"role\":", role.rawValue) }
  }
}

extension ServerMessage.RoomSummary {
  /// Appends the JSON text of this row.
  public func append(to json: inout [UInt8]) {
    json.append(member: "{\"room\":", room)
    json.append(member: ",\"title\":", about?.title ?? title)
    about?.append(to: &json, withTitle: false)
    json.append(member: ",\"head\":", head)
    json.append(member: ",\"read\":", read)
    json.append(member: ",\"unread\":", unread)
    if unreadMore { json.append(",\"unread_more\":true") }
    if listed { json.append(",\"listed\":true") }
    if let peer { json.append(member: ",\"peer\":", peer) }
    if let avatar { json.append(member: ",\"avatar\":", avatar) }
    if let presence { json.append(member: ",\"presence\":", presence.rawValue) }
    if let lastSeen { json.append(member: ",\"last_seen\":", lastSeen) }
    if isRequest { json.append(",\"request\":true") }
    if let last {
      json.append(",\"last\":")
      last.append(to: &json)
    }
    json.append("}")
  }
}

extension ServerMessage.PeoplePage {
  fileprivate func append(to json: inout [UInt8]) {
    json.append("{\"type\":\"people\",\"people\":[")
    for (index, person) in people.enumerated() {
      if index > 0 { json.append(",") }
      person.append(to: &json)
    }
    json.append("]")
    if let next { json.append(member: ",\"next\":", next) }
    json.append(member: ",\"source\":", source)
    json.append(member: ",\"as_of\":", asOf)
    json.append("}")
  }
}

extension ServerMessage.PersonRow {
  /// Appends the JSON text of this row.
  public func append(to json: inout [UInt8]) {
    json.append(member: "{\"user\":", user)
    json.append(member: ",\"name\":", name)
    if let avatar { json.append(member: ",\"avatar\":", avatar) }
    json.append(member: ",\"presence\":", presence.rawValue)
    if let lastSeen { json.append(member: ",\"last_seen\":", lastSeen) }
    if isBot { json.append(",\"bot\":true") }
    if let room { json.append(member: ",\"room\":", room) }
    json.append("}")
  }
}

extension ServerMessage.Report {
  /// Appends the JSON text of this row.
  public func append(to json: inout [UInt8]) {
    json.append(member: "{\"room\":", room)
    json.append(member: ",\"seq\":", seq)
    json.append(member: ",\"by\":", by)
    json.append(member: ",\"reason\":", reason)
    if let at { json.append(member: ",\"at\":", at) }
    if let copy {
      json.append(",\"copy\":")
      copy.append(to: &json)
    }
    json.append("}")
  }
}

extension ServerMessage.UserPresence {
  fileprivate func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":\"presence\",\"user\":", user)
    json.append(member: ",\"presence\":", presence.rawValue)
    if let lastSeen { json.append(member: ",\"last_seen\":", lastSeen) }
    json.append("}")
  }
}

extension ServerMessage.Activity {
  fileprivate func append(to json: inout [UInt8]) {
    var last: [UInt8] = []
    self.last?.append(to: &last)
    append(to: &json, last: last[...])
  }

  /// Appends the JSON text of this message, with the last entry already encoded.
  public func append(to json: inout [UInt8], last: ArraySlice<UInt8>) {
    json.append(member: "{\"type\":\"activity\",\"room\":", room)
    json.append(member: ",\"head\":", head)
    json.append(member: ",\"unread\":", unread)
    if unreadMore { json.append(",\"unread_more\":true") }
    if isRequest { json.append(",\"request\":true") }
    if !last.isEmpty {
      json.append(",\"last\":")
      json.append(contentsOf: last)
    }
    json.append("}")
  }
}

extension WireError {
  fileprivate func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":\"error\",\"code\":", code.rawValue)
    json.append(member: ",\"message\":", message)
    if let type { json.append(member: ",\"re\":", type) }
    if let room { json.append(member: ",\"room\":", room) }
    if let id { json.append(member: ",\"id\":", id) }
    if let field { json.append(member: ",\"field\":", field) }
    if let retryAfterMilliseconds {
      json.append(member: ",\"retry_after_ms\":", retryAfterMilliseconds)
    }
    if let resetAt { json.append(member: ",\"reset_at\":", resetAt) }
    if let until { json.append(member: ",\"until\":", until) }
    if let ref { json.append(member: ",\"ref\":", ref) }
    if let support { json.append(member: ",\"support\":", support) }
    if let seq { json.append(member: ",\"seq\":", seq) }
    json.append("}")
  }
}
