package import Moderation
internal import Wire

/// The settings of a room as a line of an export, after the lines of all entries: the entries that made
/// them may no longer be kept.
package struct RulesLine: Equatable {
  package var room: String
  /// JSON members without braces.
  package var settings: [UInt8]

  package init(room: String, settings: [UInt8]) {
    self.room = room
    self.settings = settings
  }

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"rules\",\"room\":".utf8)
    bytes.append(jsonString: room)
    bytes += Array(",\"settings\":{".utf8) + settings + Array("}}\n".utf8)
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "rules" else { return nil }
    guard let room = json["room"]?.string, RoomName.isValid(room) else {
      throw ExportLine.Malformed(reason: "\"room\" is not a valid room name")
    }
    guard let settings = json["settings"], settings.isObject,
      let change = RoomSettings.Change(body: Array(settings.bytes.dropFirst().dropLast()))
    else { throw ExportLine.Malformed(reason: "\"settings\" is not an object") }
    self.init(room: room, settings: change.body)
  }
}

/// What a user is in a room as a line of an export, after that of its rules.
package struct StandingLine: Equatable {
  package var room: String
  package var user: String
  package var standing: Standing

  package init(room: String, user: String, standing: Standing) {
    self.room = room
    self.user = user
    self.standing = standing
  }

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"standing\",\"room\":".utf8)
    bytes.append(jsonString: room)
    bytes += Array(",\"user\":".utf8)
    bytes.append(jsonString: user)
    bytes += Array(",\"role\":\"\(standing.base.rawValue)\",\"since\":\(standing.since)".utf8)
    if standing.ban != nil { bytes += Array(",\"ban\":\(standing.banNumber)".utf8) }
    if standing.mute != nil { bytes += Array(",\"mute\":\(standing.muteNumber)".utf8) }
    if let inviter = standing.inviter {
      bytes += Array(",\"inviter\":".utf8)
      bytes.append(jsonString: inviter)
    }
    bytes += Array("}\n".utf8)
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "standing" else { return nil }
    guard let room = json["room"]?.string, RoomName.isValid(room) else {
      throw ExportLine.Malformed(reason: "\"room\" is not a valid room name")
    }
    guard let user = json["user"]?.string, UserName.isValid(user) else {
      throw ExportLine.Malformed(reason: "\"user\" is not a valid user name")
    }
    guard let role = json["role"]?.string, let since = json["since"]?.integer,
      let standing = Standing(
        role: role, ban: json["ban"]?.integer ?? -1, mute: json["mute"]?.integer ?? -1,
        since: since, inviter: json["inviter"]?.string ?? "")
    else { throw ExportLine.Malformed(reason: "\"role\" or \"since\" is missing or invalid") }
    self.init(room: room, user: user, standing: standing)
  }
}
