import Wire

extension Program {
  /// A message that the program was given.
  struct Given: Equatable, Sendable {
    var room: String
    var seq: Int64
  }

  /// What a line asks for.
  enum Action: Equatable, Sendable {
    case send(ClientMessage.Send)
    case typing(room: String, on: Bool)

    var room: String {
      switch self {
      case .send(let send): send.room
      case .typing(let room, on: _): room
      }
    }
  }

  /// One line of output: a JSON object with `text` or `data`, `react`, `edit`, or `typing`, or with
  /// any members of a `send`.
  struct Line: Sendable {
    /// `nil` if it is not a JSON object.
    private let object: JSONNode?
    private let json: [UInt8]
    /// The message that the program was given last: without a room, the line answers it.
    private let given: Given?

    init(_ json: [UInt8], given: Given?) {
      self.json = json
      self.given = given
      object = JSONNode(json).flatMap { $0.isObject ? $0 : nil }
    }

    var namesRoom: Bool { object?["room"] != nil }

    /// Parses the line.
    /// - Parameter lastSaid: returns the last message that the bot sent to a room.
    func action(
      id: String, textLimitBytes: Int, lastSaid: (String) -> Int64?
    ) throws(WireError) -> Action {
      guard let object else { throw WireError(.badJSON, "The line is not a JSON object.") }
      let actions = [
        object["text"] ?? object["data"], object["react"], object["edit"], object["typing"],
      ]
      guard actions.count(where: { $0 != nil }) <= 1 else {
        throw WireError(
          .badField, "The line has several of text, react, edit and typing; write a line for each.")
      }
      let room = object["room"].map { $0.string ?? "" } ?? given?.room
      if let typing = object["typing"] {
        guard let room, let isOn = typing.boolean else {
          throw WireError(.badField, "\"typing\" must be true or false, and needs a room.")
        }
        return .typing(room: room, on: isOn)
      }
      let target = object["target"]?.integer
      var members: [UInt8]
      if let emoji = object["react"] {
        guard let target = target ?? (room == given?.room ? given?.seq : nil) else {
          throw WireError(.badField, "\"react\" needs the \"target\" in another room.")
        }
        members = Array(
          "\"kind\":\"react\",\"target\":\(target),\"on\":\(object["on"]?.boolean ?? true),\"emoji\":"
            .utf8)
        members.append(jsonString: emoji.string ?? "")
      } else if let text = object["edit"] {
        guard let target = target ?? room.flatMap(lastSaid) else {
          throw WireError(
            .badField, "\"edit\" needs a \"target\": nothing was sent to the room since the start.")
        }
        members = Array("\"kind\":\"edit\",\"target\":\(target),\"text\":".utf8)
        members.append(jsonString: text.string ?? "")
      } else {
        members = Array(json.drop { $0 != UInt8(ascii: "{") }.dropFirst())
        while members.last != UInt8(ascii: "}") { members.removeLast() }
        members.removeLast()
      }
      return .send(try Self.send(members, room: room, id: id, textLimitBytes: textLimitBytes))
    }

    /// The last one of repeated members counts: our `type` and `id` replace those of the line.
    private static func send(
      _ members: [UInt8], room: String?, id: String, textLimitBytes: Int
    ) throws(WireError) -> ClientMessage.Send {
      var message = Array("{".utf8) + members
      if members.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) {
        message += Array(",".utf8)
      }
      if let room {
        message += Array("\"room\":".utf8)
        message.append(jsonString: room)
        message += Array(",".utf8)
      }
      message += Array("\"type\":\"send\",\"id\":".utf8)
      message.append(jsonString: id)
      message += Array("}".utf8)
      guard
        case .send(let send) = try ClientMessage(
          decoding: message.span, textLimitBytes: textLimitBytes)
      else { preconditionFailure("its type is send") }
      return send
    }
  }
}
