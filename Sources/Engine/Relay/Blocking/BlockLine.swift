internal import Wire

/// A block between users as a line of an export, after the lines of the rooms.
package struct BlockLine: Equatable {
  package var change: BlockChange

  package init(_ change: BlockChange) { self.change = change }

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"block\",\"user\":".utf8)
    bytes.append(jsonString: change.user)
    bytes += Array(",\"blocked\":".utf8)
    bytes.append(jsonString: change.blocked)
    bytes += Array(",\"at\":\(change.at ?? 0)}\n".utf8)
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "block" else { return nil }
    guard let user = json["user"]?.string, let blocked = json["blocked"]?.string,
      UserName.isValid(user), UserName.isValid(blocked), user != blocked
    else { throw ExportLine.Malformed(reason: "\"user\" or \"blocked\" is not a valid user name") }
    guard let at = json["at"]?.integer, at >= 0 else {
      throw ExportLine.Malformed(reason: "\"at\" is not a time")
    }
    change = BlockChange(user: user, blocked: blocked, at: at)
  }
}

/// A user who is banned from the relay as a line of an export, after the blocks.
package struct BanLine: Equatable {
  package var change: BanChange

  package init(_ change: BanChange) { self.change = change }

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"ban\",\"user\":".utf8)
    bytes.append(jsonString: change.user)
    if let until = change.until { bytes += Array(",\"until\":\(until)".utf8) }
    bytes += Array("}\n".utf8)
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "ban" else { return nil }
    guard let user = json["user"]?.string, UserName.isValid(user) else {
      throw ExportLine.Malformed(reason: "\"user\" is not a valid user name")
    }
    let until = json["until"]?.integer
    guard json["until"] == nil || until.map({ $0 > 0 }) == true else {
      throw ExportLine.Malformed(reason: "\"until\" is not a time")
    }
    change = BanChange(user: user, isBanned: true, until: until)
  }
}

/// What a direct room has besides its entries, as a line of an export, after those of all entries.
package struct DirectLine: Equatable {
  package var room: String
  package var state: DirectState

  package init(room: String, state: DirectState) {
    self.room = room
    self.state = state
  }

  /// Appends the line with its line break.
  package func append(to bytes: inout [UInt8]) {
    bytes += Array("{\"type\":\"direct\",\"room\":".utf8)
    bytes.append(jsonString: room)
    bytes += Array(",\"state\":".utf8)
    bytes.append(jsonString: state.text)
    bytes += Array("}\n".utf8)
  }

  /// Decodes a line, without its line break; `nil` if it is another kind of line.
  package init?(decoding line: [UInt8]) throws(ExportLine.Malformed) {
    guard let json = JSONNode(line), json["type"]?.string == "direct" else { return nil }
    guard let room = json["room"]?.string, RoomName.isDirect(room), RoomName.isValid(room) else {
      throw ExportLine.Malformed(reason: "\"room\" is not the name of a direct room")
    }
    guard let state = json["state"]?.string.flatMap({ DirectState(text: $0) }) else {
      throw ExportLine.Malformed(reason: "\"state\" is missing or invalid")
    }
    self.init(room: room, state: state)
  }
}
