/// `send`.
extension FieldReader {
  static func isValidID(_ id: String) -> Bool {
    let bytes = id.utf8.span
    guard (1...64).contains(bytes.count) else { return false }
    for index in 0..<bytes.count where !(0x20...0x7E).contains(bytes[index]) { return false }
    return true
  }

  func send(_ json: Span<UInt8>, textLimitBytes: Int) throws(WireError) -> ClientMessage.Send {
    guard fields[.traceparent].isString else {
      return try content(json, textLimitBytes: textLimitBytes)
    }
    var send = try content(json, textLimitBytes: textLimitBytes)
    send.traceparent = Traceparent(json.jsonString(fields[.traceparent]))
    return send
  }

  private func content(
    _ json: Span<UInt8>, textLimitBytes: Int
  ) throws(WireError) -> ClientMessage.Send {
    let room: String
    do { room = try self.room(json) } catch {
      guard choosesRoom(json) else { throw error }
      room = ""
    }
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
    case "file":
      return ClientMessage.Send(room: room, id: id, file: try file(json, textLimitBytes))
    case "settings":
      return ClientMessage.Send(room: room, id: id, settings: try settings(json))
    case "member":
      return ClientMessage.Send(room: room, id: id, member: try member(json))
    default: throw badKind(json)
    }
  }

  private func badKind(_ json: Span<UInt8>) -> WireError {
    bad(
      .kind,
      "\"text\", \"data\", \"edit\", \"delete\", \"react\", \"file\", \"settings\" or \"member\"",
      json)
  }

  /// Decodes a `file`. The caption obeys the rules of a text, and may be empty or absent.
  private func file(
    _ json: Span<UInt8>, _ limitBytes: Int
  ) throws(WireError) -> FileContent {
    guard let id = try optionalString(.file, json), FileContent.isValid(id: id) else {
      throw bad(.file, "the id of a file", json)
    }
    guard let name = try optionalString(.name, json), FileContent.isValid(name: name) else {
      throw bad(
        .name,
        "1 to \(FileContent.nameLimitBytes) bytes, not blank, without \"/\", control or bidirectional characters",
        json)
    }
    let caption = try optionalString(.text, json)
    if let caption, !caption.isEmpty { _ = try text(json, limitBytes: limitBytes) }
    return FileContent(
      id: id, name: name, caption: caption?.isEmpty == true ? nil : caption,
      replyTo: try optionalSequence(.replyTo, json))
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
    if value.kind == .string {
      try check(json.extracting(value.inside), limitBytes, json)
      body.append(addingCapacity: value.range.count + 7) {
        $0.append("\"text\":")
        $0.append(json.extracting(value.range))
      }
    } else {
      let unescaped = json.jsonUnescaped(value)
      try check(unescaped.span, limitBytes, json)
      body.append("\"text\":")
      body.append(jsonString: unescaped.span)
    }
    return body
  }

  /// Refuses blank text, control characters (C0 except newline and tab, DEL, C1), and too many bytes.
  private func check(
    _ text: Span<UInt8>, _ limitBytes: Int, _ json: Span<UInt8>
  ) throws(WireError) {
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
    guard limitBytes == 0 || text.count <= limitBytes else {
      throw refusal(
        .tooLarge, "The text has \(text.count) bytes of UTF-8; the limit is \(limitBytes).", .text,
        json)
    }
  }

  private func controlCharacter(_ json: Span<UInt8>) -> WireError {
    bad(.text, "free of control characters except newline and tab", json)
  }
}
