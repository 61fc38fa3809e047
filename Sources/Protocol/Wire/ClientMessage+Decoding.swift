extension ClientRequest {
  /// Decodes one request.
  /// - Parameters:
  ///   - textLimitBytes: the maximum length of a `text` entry in UTF-8; 0 = no limit.
  ///   - roomsLimit: the maximum number of rooms of one `join`; 0 = no limit.
  /// - Throws: the `error` message with which to answer invalid input. It names the request as far as
  ///   it can be read.
  public init(
    decoding json: Span<UInt8>, textLimitBytes: Int, roomsLimit: Int = 0
  ) throws(WireError) {
    let fields: JSONFields
    do {
      fields = try JSONFields(json)
    } catch {
      throw FieldReader(JSONFields(readableIn: json)).named(
        WireError(
          .badJSON,
          "The message is not a JSON object: expected \(error.expected) at byte \(error.offset)."),
        json)
    }
    let reader = FieldReader(fields)
    guard fields[.type].isString else {
      throw reader.bad(.type, "a string; each message has one", json)
    }
    ref = try reader.ref(json)
    message = try reader.message(json, textLimitBytes: textLimitBytes, roomsLimit: roomsLimit)
  }
}

extension ClientMessage {
  /// Decodes one message without its `ref`.
  public init(decoding json: Span<UInt8>, textLimitBytes: Int) throws(WireError) {
    self = try ClientRequest(decoding: json, textLimitBytes: textLimitBytes).message
  }
}

extension Unicode.Scalar {
  /// Whether the scalar by itself shows nothing: white space, and what is ignored in display, such
  /// as joiners, variation selectors and bidirectional marks.
  fileprivate var isBlank: Bool {
    properties.isWhitespace || properties.isDefaultIgnorableCodePoint
  }
}

/// Returns the typed values of fields, and errors that say what is expected instead.
private struct FieldReader {
  let fields: JSONFields

  init(_ fields: JSONFields) { self.fields = fields }

  func message(
    _ json: Span<UInt8>, textLimitBytes: Int, roomsLimit: Int
  ) throws(WireError) -> ClientMessage {
    if json.jsonEquals(fields[.type], "send") {
      return .send(try send(json, textLimitBytes: textLimitBytes))
    }
    switch json.jsonString(fields[.type]) {
    case "join":
      guard fields[.rooms].isAbsent else { return .joinRooms(try joins(json, limit: roomsLimit)) }
      return .join(try join(json))
    case "leave":
      return .leave(room: try room(json), forget: try flag(.forget, json) ?? false)
    case "received":
      return .received(room: try room(json), seq: try sequence(.seq, json))
    case "read":
      return .read(room: try room(json), seq: try sequence(.seq, json))
    case "typing":
      guard let on = try flag(.on, json) else { throw bad(.on, "true or false", json) }
      return .typing(room: try room(json), on: on)
    case "history": return .history(try history(json))
    case "rooms": return .rooms(try rooms(json))
    case "people": return .people(try people(json))
    case "presence": return .presence(isAway: try isAway(json))
    case "ping":
      let t = fields[.t]
      return .ping(t: t.kind == .absent ? nil : json.extracting(t.range).bytes)
    case "auth":
      guard let token = try optionalString(.token, json) else {
        throw bad(.token, "a string", json)
      }
      return .auth(token: token)
    default: throw named(WireError(.unknownType, "Unknown message type."), json)
    }
  }

  func bad(_ key: JSONFields.Key, _ expected: String, _ json: Span<UInt8>) -> WireError {
    refusal(.badField, "\"\(key.name)\" must be \(expected).", key, json)
  }

  func refusal(
    _ code: ErrorCode, _ message: String, _ key: JSONFields.Key, _ json: Span<UInt8>
  ) -> WireError {
    named(WireError(code, message, field: key.name), json)
  }

  /// Returns an error that names the request by what of it is valid.
  func named(_ error: WireError, _ json: Span<UInt8>) -> WireError {
    var error = error
    if fields[.type].isString {
      // Scalars, because a character may be of any length: it can have any number of accents.
      let type = json.jsonString(fields[.type]).unicodeScalars.prefix(64)
      error.re = String(String.UnicodeScalarView(type))
    }
    error.ref = valid(.ref, Self.isValidID, json)
    error.room = valid(.room, RoomName.isValid, json)
    error.id = valid(.id, Self.isValidID, json)
    return error
  }

  private func valid(
    _ key: JSONFields.Key, _ isValid: (String) -> Bool, _ json: Span<UInt8>
  ) -> String? {
    guard fields[key].isString else { return nil }
    let value = json.jsonString(fields[key])
    return isValid(value) ? value : nil
  }

  func ref(_ json: Span<UInt8>) throws(WireError) -> String? {
    if fields[.ref].isAbsent { return nil }
    guard let ref = valid(.ref, Self.isValidID, json) else {
      throw bad(.ref, "1 to 64 printable ASCII characters", json)
    }
    return ref
  }

  // MARK: - Joining

  func join(_ json: Span<UInt8>) throws(WireError) -> ClientMessage.Join {
    var join = ClientMessage.Join(room: try room(json))
    join.after = try optionalSequence(.after, json)
    join.epoch = try optionalString(.epoch, json)
    join.lineage = try lineage(json)
    join.subscribers = try flag(.subscribers, json) ?? false
    return join
  }

  /// Reads the rooms of a `join`, each of which can be wrong.
  func joins(
    _ json: Span<UInt8>, limit: Int
  ) throws(WireError) -> [Result<ClientMessage.Join, WireError>] {
    let ref = valid(.ref, Self.isValidID, json)
    var joins: [Result<ClientMessage.Join, WireError>] = []
    var named: Set<String> = []
    try forEachObject(in: .rooms, json) { inner in
      guard limit == 0 || joins.count <= limit else { return }
      guard let fields = try? JSONFields(inner) else {
        joins.append(.failure(bad(.rooms, "an array of objects", json)))
        return
      }
      let reader = FieldReader(fields)
      do throws(WireError) {
        let join = try reader.join(inner)
        guard named.insert(join.room).inserted else {
          throw reader.bad(.room, "named once", inner)
        }
        joins.append(.success(join))
      } catch {
        var error = error
        error.re = "join"
        error.ref = ref
        joins.append(.failure(error))
      }
    }
    guard limit == 0 || joins.count <= limit else {
      throw bad(.rooms, "an array of at most \(limit) objects", json)
    }
    guard !joins.isEmpty else { throw bad(.rooms, "an array of at least one object", json) }
    return joins
  }

  func lineage(_ json: Span<UInt8>) throws(WireError) -> [EpochStart]? {
    if fields[.lineage].isAbsent { return nil }
    var lineage: [EpochStart] = []
    var isValid = true
    try forEachObject(in: .lineage, json) { inner in
      guard lineage.count < EpochStart.limit, let reader = try? ObjectReader(inner),
        let start = try? EpochStart(reader, inner)
      else {
        isValid = false
        return
      }
      lineage.append(start)
    }
    guard isValid else {
      throw bad(
        .lineage, "an array of at most \(EpochStart.limit) objects with an epoch and an after",
        json)
    }
    return lineage
  }

  /// Calls `body` with each value of an array.
  private func forEachObject(
    in key: JSONFields.Key, _ json: Span<UInt8>, _ body: (Span<UInt8>) -> Void
  ) throws(WireError) {
    guard fields[key].kind == .array else { throw bad(key, "an array of objects", json) }
    var at = fields[key].range.lowerBound + 1
    json.jsonSkipSpace(&at)
    if json[at] == UInt8(ascii: "]") { return }
    do {
      repeat {
        let value = try json.jsonSkipValue(&at, limit: Span<UInt8>.jsonDepthLimit)
        body(json.extracting(value.range))
      } while try json.jsonSkipComma(&at, orClosing: UInt8(ascii: "]"))
    } catch {
      throw bad(key, "an array of objects", json)
    }
  }

  // MARK: - Fields

  func room(_ json: Span<UInt8>) throws(WireError) -> String {
    if fields[.room].isString {
      let room = json.jsonString(fields[.room])
      if RoomName.isValid(room) { return room }
    }
    throw bad(
      .room,
      "1 to 140 of a-z 0-9 . _ : -, not . or ..; after dm: two users in ascending order, joined by"
        + " a colon", json)
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
    request.epoch = try optionalString(.epoch, json)
    request.lineage = try lineage(json)
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
      guard !json.extracting(fields[.data].range).jsonHasLoneSurrogate else {
        throw bad(.data, "free of lone surrogate escapes", json)
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
    if isBlank, hasHighBytes { isBlank = text.asString.unicodeScalars.allSatisfy(\.isBlank) }
    if isBlank { throw bad(.text, "non-blank", json) }
  }

  private func controlCharacter(_ json: Span<UInt8>) -> WireError {
    bad(.text, "free of control characters except newline and tab", json)
  }
}
