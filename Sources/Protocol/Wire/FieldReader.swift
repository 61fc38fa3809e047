/// Returns the typed values of fields, and errors that say what is expected instead.
struct FieldReader {
  let fields: JSONFields
  /// A valid name, or empty.
  private let likelyRoom: String

  init(_ fields: JSONFields, likelyRoom: String = "") {
    self.fields = fields
    self.likelyRoom = likelyRoom
  }

  func message(
    _ json: Span<UInt8>, textLimitBytes: Int, roomsLimit: Int
  ) throws(WireError) -> ClientMessage {
    if json.jsonEquals(fields[.type], "send") {
      return .send(try send(json, textLimitBytes: textLimitBytes))
    }
    switch RequestName(rawValue: json.jsonString(fields[.type])) {
    case .join:
      guard fields[.rooms].isAbsent else { return .joinRooms(try joins(json, limit: roomsLimit)) }
      return .join(try join(json))
    case .leave:
      return .leave(room: try room(json), forget: try flag(.forget, json) ?? false)
    case .received:
      return .received(room: try room(json), seq: try sequence(.seq, json))
    case .read:
      return .read(room: try room(json), seq: try sequence(.seq, json))
    case .typing:
      guard let on = try flag(.on, json) else { throw bad(.on, "true or false", json) }
      return .typing(room: try room(json), on: on)
    case .history: return .history(try history(json))
    case .rooms: return .rooms(try rooms(json))
    case .people: return .people(try people(json))
    case .presence: return .presence(isAway: try isAway(json))
    case .ping:
      let t = fields[.t]
      return .ping(t: t.kind == .absent ? nil : json.extracting(t.range).bytes)
    case .auth:
      guard let token = try optionalString(.token, json) else {
        throw bad(.token, "a string", json)
      }
      return .auth(token: token)
    case .block:
      let (user, on) = try userAndFlag(json)
      return .block(user: user, on: on)
    case .blocks: return .blocks
    case .accept: return .accept(room: try room(json))
    case .report:
      let limit = ClientMessage.reasonLimit
      let (room, seq) = (try room(json), try sequence(.seq, json))
      guard let reason = try line(.reason, 1...limit, json) else {
        throw bad(.reason, "1 to \(limit) characters", json)
      }
      return .report(room: room, seq: seq, reason: reason)
    case .reports: return .reports(room: fields[.room].isAbsent ? nil : try room(json))
    case .ban:
      let (user, on) = try userAndFlag(json)
      let until = try optionalSequence(.until, json)
      guard until == nil || on else { throw bad(.until, "absent if \"on\" is false", json) }
      return .ban(user: user, on: on, until: until)
    case .deleteRoom: return .deleteRoom(room: try room(json))
    case .erase:
      let (user, seq) = (try user(json), try optionalSequence(.seq, json))
      guard seq == nil || !fields[.room].isAbsent else {
        throw bad(.room, "the room of the entry", json)
      }
      return .erase(
        user: user, room: fields[.room].isAbsent ? nil : try room(json), seq: seq)
    case .send, .trace, nil: throw named(WireError(.unknownType, "Unknown message type."), json)
    }
  }

  private func user(_ json: Span<UInt8>) throws(WireError) -> String {
    guard let user = valid(.user, UserName.isValid, json) else {
      throw bad(.user, "the name of a user", json)
    }
    return user
  }

  private func userAndFlag(_ json: Span<UInt8>) throws(WireError) -> (String, Bool) {
    let user = try user(json)
    guard let on = try flag(.on, json) else { throw bad(.on, "true or false", json) }
    return (user, on)
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
      error.type = String(String.UnicodeScalarView(type))
    }
    error.ref = valid(.ref, Self.isValidID, json)
    error.room = valid(.room, RoomName.isValid, json)
    error.id = valid(.id, Self.isValidID, json)
    return error
  }

  func valid(
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

  // MARK: - Fields

  func room(_ json: Span<UInt8>) throws(WireError) -> String {
    if json.jsonEquals(fields[.room], unescaped: likelyRoom), !likelyRoom.isEmpty {
      return likelyRoom
    }
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

  func limit(
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
}
