extension ClientMessage {
  /// Decodes one message.
  /// - Parameter textLimitBytes: the maximum length of a `text` entry in UTF-8; 0 = no limit.
  /// - Throws: the `error` message with which to answer invalid input.
  public init(decoding json: Span<UInt8>, textLimitBytes: Int) throws(WireError) {
    let fields: JSONFields
    do {
      fields = try JSONFields(json)
    } catch {
      throw WireError(
        .badJSON,
        "The message is not a JSON object: expected \(error.expected) at byte \(error.offset).")
    }
    guard fields[.type].isString else {
      throw WireError(.badField, "A message must have a \"type\", a string.", field: "type")
    }
    let reader = FieldReader(type: fields[.type], fields: fields)
    if json.jsonEquals(fields[.type], "send") {
      self = .send(try reader.send(json, textLimitBytes: textLimitBytes))
      return
    }
    switch json.jsonString(fields[.type]) {
    case "join":
      self = .join(
        Join(
          room: try reader.room(json), after: try reader.optionalSequence(.after, json),
          epoch: try reader.optionalString(.epoch, json),
          subscribers: try reader.flag(.subscribers, json) ?? false))
    case "leave":
      self = .leave(room: try reader.room(json), forget: try reader.flag(.forget, json) ?? false)
    case "received":
      self = .received(room: try reader.room(json), seq: try reader.sequence(.seq, json))
    case "read":
      self = .read(room: try reader.room(json), seq: try reader.sequence(.seq, json))
    case "typing":
      guard let on = try reader.flag(.on, json) else {
        throw reader.bad(.on, "true or false", json)
      }
      self = .typing(room: try reader.room(json), on: on)
    case "history": self = .history(try reader.history(json))
    case "rooms": self = .rooms(try reader.rooms(json))
    case "people": self = .people(try reader.people(json))
    case "presence": self = .presence(isAway: try reader.isAway(json))
    case "ping":
      let t = fields[.t]
      self = .ping(t: t.kind == .absent ? nil : json.extracting(t.range).bytes)
    case "auth":
      guard let token = try reader.optionalString(.token, json) else {
        throw reader.bad(.token, "a string", json)
      }
      self = .auth(token: token)
    case let unknown:
      // Scalars, because a character may be of any length: it can have any number of accents.
      throw WireError(
        .unknownType, "Unknown message type.",
        re: String(String.UnicodeScalarView(unknown.unicodeScalars.prefix(64))))
    }
  }
}

/// Returns the typed values of fields, and errors that say what is expected instead.
private struct FieldReader {
  let type: JSONValue
  let fields: JSONFields

  func bad(_ key: JSONFields.Key, _ expected: String, _ json: Span<UInt8>) -> WireError {
    refusal(.badField, "\"\(key.name)\" must be \(expected).", key, json)
  }

  /// Returns an error that identifies the message as far as it could be read.
  func refusal(
    _ code: ErrorCode, _ message: String, _ key: JSONFields.Key, _ json: Span<UInt8>
  ) -> WireError {
    var error = WireError(code, message, re: json.jsonString(type), field: key.name)
    if key != .room, fields[.room].isString {
      let room = json.jsonString(fields[.room])
      if RoomName.isValid(room) { error.room = room }
    }
    if key != .id, fields[.id].isString {
      let id = json.jsonString(fields[.id])
      if Self.isValidID(id) { error.id = id }
    }
    return error
  }

  func room(_ json: Span<UInt8>) throws(WireError) -> String {
    if fields[.room].isString {
      let room = json.jsonString(fields[.room])
      if RoomName.isValid(room) { return room }
    }
    throw bad(
      .room,
      "1 to 140 of a-z 0-9 . _ : -; after dm: two users in ascending order, joined by a colon", json
    )
  }

  func optionalString(_ key: JSONFields.Key, _ json: Span<UInt8>) throws(WireError) -> String? {
    let value = fields[key]
    if value.isAbsent { return nil }
    guard value.isString else { throw bad(key, "a string", json) }
    return json.jsonString(value)
  }

  func optionalSequence(_ key: JSONFields.Key, _ json: Span<UInt8>) throws(WireError) -> Int64? {
    fields[key].isAbsent ? nil : try sequence(key, json)
  }

  func sequence(_ key: JSONFields.Key, _ json: Span<UInt8>) throws(WireError) -> Int64 {
    guard let seq = json.jsonSequence(fields[key]) else {
      throw bad(key, "a whole number from 0 to 9007199254740991", json)
    }
    return seq
  }

  func flag(_ key: JSONFields.Key, _ json: Span<UInt8>) throws(WireError) -> Bool? {
    switch fields[key].kind {
    case .true: true
    case .false: false
    case .absent, .null: nil
    default: throw bad(key, "true or false", json)
    }
  }

  func history(_ json: Span<UInt8>) throws(WireError) -> ClientMessage.HistoryRequest {
    var request = ClientMessage.HistoryRequest(room: try room(json))
    request.before = try optionalSequence(.before, json)
    request.after = try optionalSequence(.after, json)
    if request.before != nil, request.after != nil {
      throw bad(.before, "absent if \"after\" is given", json)
    }
    if let limit = try limit(ClientMessage.HistoryRequest.limits, json) { request.limit = limit }
    request.isFolded = try flag(.fold, json) ?? false
    return request
  }

  func rooms(_ json: Span<UInt8>) throws(WireError) -> ClientMessage.RoomsRequest {
    var request = ClientMessage.RoomsRequest()
    request.cursor = try cursor(json)
    if let limit = try limit(ClientMessage.RoomsRequest.limits, json) { request.limit = limit }
    return request
  }

  func people(_ json: Span<UInt8>) throws(WireError) -> ClientMessage.PeopleRequest {
    var request = ClientMessage.PeopleRequest()
    request.query = try optionalString(.query, json) ?? ""
    guard request.query.utf8.count <= 256 else { throw bad(.query, "at most 256 bytes", json) }
    request.cursor = try cursor(json)
    if let limit = try limit(ClientMessage.PeopleRequest.limits, json) { request.limit = limit }
    return request
  }

  private func cursor(_ json: Span<UInt8>) throws(WireError) -> String? {
    let cursor = try optionalString(.cursor, json)
    if let cursor, cursor.utf8.count > ClientMessage.cursorLimitBytes {
      throw bad(.cursor, "at most \(ClientMessage.cursorLimitBytes) bytes", json)
    }
    return cursor
  }

  private func limit(
    _ range: ClosedRange<Int>, _ json: Span<UInt8>
  ) throws(WireError) -> Int? {
    if fields[.limit].isAbsent { return nil }
    guard let limit = json.jsonSequence(fields[.limit]), let limit = Int(exactly: limit),
      range.contains(limit)
    else { throw bad(.limit, "a whole number from 1 to \(range.upperBound)", json) }
    return limit
  }

  func isAway(_ json: Span<UInt8>) throws(WireError) -> Bool {
    switch fields[.presence].isString ? json.jsonString(fields[.presence]) : "" {
    case "online": return false
    case "away": return true
    default: throw bad(.presence, "\"online\" or \"away\"", json)
    }
  }

  static func isValidID(_ id: String) -> Bool {
    let bytes = id.utf8.span
    guard (1...64).contains(bytes.count) else { return false }
    for index in 0..<bytes.count where !(0x20...0x7E).contains(bytes[index]) { return false }
    return true
  }

  func send(_ json: Span<UInt8>, textLimitBytes: Int) throws(WireError) -> ClientMessage.Send {
    let room = try room(json)
    guard fields[.id].isString else { throw badID(json) }
    let id = json.jsonString(fields[.id])
    guard Self.isValidID(id) else { throw badID(json) }
    if fields[.kind].isAbsent || json.jsonEquals(fields[.kind], "text") {
      if fields[.replyTo].isAbsent, fields[.forward].isAbsent {
        let body = try text(json, limitBytes: textLimitBytes)
        return ClientMessage.Send(room: room, id: id, kind: .text, body: body)
      }
      return try referringText(room, id, json, textLimitBytes)
    }
    guard fields[.kind].isString else { throw badKind(json) }
    switch json.jsonString(fields[.kind]) {
    case "data":
      guard fields[.data].kind != .absent else {
        throw bad(.data, "present, with any JSON value", json)
      }
      var body: [UInt8] = []
      body.reserveCapacity(fields[.data].range.count + 8)
      body.append("\"data\":")
      body.append(json.extracting(fields[.data].range))
      return ClientMessage.Send(room: room, id: id, kind: .data, body: body)
    case "edit":
      let (target, start) = try target(json)
      let body = start + [UInt8(ascii: ",")] + (try text(json, limitBytes: textLimitBytes))
      return ClientMessage.Send(
        room: room, id: id, kind: .edit, body: body, reference: .target(target))
    case "delete":
      let (target, body) = try target(json)
      return ClientMessage.Send(
        room: room, id: id, kind: .delete, body: body, reference: .target(target))
    case "react":
      let (target, _) = try target(json)
      guard let isOn = try flag(.on, json) else { throw bad(.on, "true or false", json) }
      return ClientMessage.Send(
        room: room, id: id, react: target, emoji: try emoji(json), isOn: isOn)
    default: throw badKind(json)
    }
  }

  private func badKind(_ json: Span<UInt8>) -> WireError {
    bad(.kind, "\"text\", \"data\", \"edit\", \"delete\" or \"react\"", json)
  }

  /// Decodes a text that replies to another entry, or forwards one.
  private func referringText(
    _ room: String, _ id: String, _ json: Span<UInt8>, _ limitBytes: Int
  ) throws(WireError) -> ClientMessage.Send {
    guard fields[.forward].isAbsent else {
      guard fields[.replyTo].isAbsent else {
        throw bad(.replyTo, "absent if \"forward\" is given", json)
      }
      var forward: Forward?
      if fields[.forward].kind == .object {
        let inner = json.extracting(fields[.forward].range)
        forward = (try? ObjectReader(inner)).flatMap { try? Forward($0, inner) }
      }
      guard var forward, RoomName.isValid(forward.room) else {
        throw bad(.forward, "an object with a room and a seq", json)
      }
      // Only the relay sets the original sender.
      forward.from = nil
      return ClientMessage.Send(room: room, id: id, forward: forward)
    }
    let seq = try sequence(.replyTo, json)
    var body = try text(json, limitBytes: limitBytes)
    body.append(member: ",\"reply_to\":", seq)
    return ClientMessage.Send(
      room: room, id: id, kind: .text, body: body, reference: .reply(to: seq))
  }

  private func target(_ json: Span<UInt8>) throws(WireError) -> (Int64, [UInt8]) {
    let target = try sequence(.target, json)
    var body: [UInt8] = []
    body.append(member: "\"target\":", target)
    return (target, body)
  }

  /// Decodes an emoji. The longest emoji in Unicode's own lists have 35 bytes.
  private func emoji(_ json: Span<UInt8>) throws(WireError) -> String {
    if fields[.emoji].isString {
      let emoji = json.jsonString(fields[.emoji])
      let isPlain = emoji.unicodeScalars.allSatisfy {
        !$0.properties.isWhitespace && $0.properties.generalCategory != .control
      }
      if isPlain, (1...64).contains(emoji.utf8.count) { return emoji }
    }
    throw bad(.emoji, "1 to 64 bytes of UTF-8 without white space or control characters", json)
  }

  private func badID(_ json: Span<UInt8>) -> WireError {
    bad(.id, "1 to 64 printable ASCII characters", json)
  }

  /// Returns the text as a JSON member. If it has no escapes, the sender's bytes are copied
  /// unchanged.
  private func text(_ json: Span<UInt8>, limitBytes: Int) throws(WireError) -> [UInt8] {
    let value = fields[.text]
    guard value.isString else { throw bad(.text, "a string", json) }
    var body: [UInt8] = []
    body.reserveCapacity(value.range.count + 8)
    body.append("\"text\":")
    let length: Int
    if value.kind == .string {
      let inside = json.extracting(value.inside)
      try check(inside, json)
      length = inside.count
      body.append(json.extracting(value.range))
    } else {
      let unescaped = json.jsonUnescaped(value)
      try check(unescaped.span, json)
      length = unescaped.count
      body.append(jsonString: unescaped.span)
    }
    guard limitBytes == 0 || length <= limitBytes else {
      throw refusal(
        .tooLarge, "The text has \(length) bytes of UTF-8; the limit is \(limitBytes).", .text,
        json)
    }
    return body
  }

  /// Refuses blank text and control characters (C0 except newline and tab, DEL, C1).
  private func check(_ text: Span<UInt8>, _ json: Span<UInt8>) throws(WireError) {
    var isBlank = true
    var hasHighBytes = false
    var index = 0
    while index < text.count {
      let word = text.plainWord(at: index)
      if word.isPlain {
        if !word.isBlank { isBlank = false }
        index += 8
        continue
      }
      let byte = text[index]
      if byte > 0x20, byte < 0x7F {
        isBlank = false
      } else if byte >= 0x80 {
        hasHighBytes = true
        if byte == 0xC2, index + 1 < text.count, text[index + 1] < 0xA0 {
          throw controlCharacter(json)
        }
      } else if byte != 0x20, byte != 0x0A, byte != 0x09 {
        throw controlCharacter(json)
      }
      index += 1
    }
    if isBlank, hasHighBytes {
      isBlank = text.asString.unicodeScalars.allSatisfy(\.properties.isWhitespace)
    }
    if isBlank { throw bad(.text, "non-blank", json) }
  }

  private func controlCharacter(_ json: Span<UInt8>) -> WireError {
    bad(.text, "free of control characters except newline and tab", json)
  }
}
