internal import Wire

/// A line of an export that says that entries of a room were trimmed while the room was exported: an
/// import drops those before `first`, of which some may be missing.
package struct TrimLine: Equatable {
  package var room: String
  /// The `seq` of the room's next entry.
  package var first: Int64

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"trimmed\",\"room\":".utf8)
    bytes.append(jsonString: room)
    bytes += Array(",\"first\":\(first)}\n".utf8)
  }

  package init(room: String, first: Int64) {
    self.room = room
    self.first = first
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "trimmed" else { return nil }
    guard let room = json["room"]?.string, RoomName.isValid(room),
      let first = json["first"]?.integer
    else {
      throw ExportLine.Malformed(
        reason: "\"room\" is not a valid room name, or \"first\" is not a whole number")
    }
    self.init(room: room, first: first)
  }
}
