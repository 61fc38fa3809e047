internal import Wire

/// One member's marks in a room as a line of an export, after the lines of all entries.
///
/// The members of a room are exactly those that have such a line. A room without any comes from an
/// export that was made before there were such lines.
package struct MarksLine: Equatable {
  package var room: String
  package var user: String
  package var read: Int64
  package var received: Int64
  /// The room's last entry when the marks were stored. Entries that the user sent later have moved
  /// the marks as well.
  package var since: Int64

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"marks\",\"room\":".utf8)
    bytes.append(jsonString: room)
    bytes += Array(",\"user\":".utf8)
    bytes.append(jsonString: user)
    bytes += Array(",\"read\":\(read),\"received\":\(received),\"since\":\(since)}\n".utf8)
  }

  package init(room: String, user: String, read: Int64, received: Int64, since: Int64) {
    self.room = room
    self.user = user
    self.read = read
    self.received = received
    self.since = since
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "marks" else { return nil }
    guard let room = json["room"]?.string, RoomName.isValid(room) else {
      throw ExportLine.Malformed(reason: "\"room\" is not a valid room name")
    }
    guard let user = json["user"]?.string, UserName.isValid(user) else {
      throw ExportLine.Malformed(reason: "\"user\" is not a valid user name")
    }
    guard let read = json["read"]?.integer, let received = json["received"]?.integer,
      let since = json["since"]?.integer
    else {
      throw ExportLine.Malformed(
        reason: "\"read\", \"received\" or \"since\" is missing or not a whole number")
    }
    self.init(room: room, user: user, read: read, received: received, since: since)
  }
}
