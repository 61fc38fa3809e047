import Wire

/// Input: for a client's message a byte for the text's limit; then JSON.
enum WireTargets {
  private static let textLimits = [0, 8, 100, 8192]
  /// The longest `error` message: names and ids are bounded, and so is the part of a type that is
  /// repeated.
  private static let errorLimitBytes = 2048

  static func checkClient(_ input: inout FuzzInput) throws(FuzzFinding) {
    let limit = textLimits[Int(input.choice() & 3)]
    let json = Array(input.rest)
    try checkArray(json, textLimitBytes: limit)
    let message: ClientMessage
    do throws(WireError) {
      message = try ClientMessage(decoding: json.span, textLimitBytes: limit)
    } catch {
      return try check(error)
    }
    // The WebSocket has refused what is not UTF-8: here it may mean anything, but must not trap.
    guard isUTF8(json) else { return }
    if case .joinRooms(let joins) = message {
      for case .failure(let error) in joins { try check(error) }
      return
    }
    let written = message.json
    guard let again = try? ClientMessage(decoding: written.span, textLimitBytes: limit) else {
      throw FuzzFinding(description: "\(message) is not read when it is written")
    }
    try expect(again == message, "\(message) is read as \(again)")
    if case .send(let send) = message { try check(send, textLimitBytes: limit) }
    if case .ping(let t?) = message { try check(.pong(t: t, time: 1)) }
  }

  /// Requests in an array are read like single ones.
  private static func checkArray(_ json: [UInt8], textLimitBytes: Int) throws(FuzzFinding) {
    for range in RequestArray.elements(in: json.span) ?? [] {
      _ = try? ClientRequest(
        decoding: json.span.extracting(range), textLimitBytes: textLimitBytes)
    }
    guard (try? ClientRequest(decoding: json.span, textLimitBytes: textLimitBytes)) != nil else {
      return
    }
    let array = [UInt8(ascii: "[")] + json + [UInt8(ascii: "]")]
    let elements = RequestArray.elements(in: array.span) ?? []
    try expect(elements.count == 1, "an array of one message has \(elements.count)")
  }

  /// The answer to a message is short, and a client can read it.
  private static func check(_ error: WireError) throws(FuzzFinding) {
    let json = ServerMessage.error(error).json
    try expect(json.count <= errorLimitBytes, "an error has \(json.count) bytes")
    try check(.error(error))
  }

  /// An accepted message becomes an entry that every client can read, wherever it occurs.
  private static func check(
    _ send: ClientMessage.Send, textLimitBytes: Int
  ) throws(FuzzFinding) {
    let entry = Entry(
      room: send.room, seq: 1, id: send.id, from: "ada", at: 2, kind: send.kind, body: send.body)
    try expect(!entry.hasLoneSurrogate, "\(entry) has a lone surrogate")
    switch send.kind {
    case .text where entry.forward != nil:
      // The relay inserts the text.
      return
    case .text, .edit:
      guard let text = entry.text else {
        throw FuzzFinding(description: "\(entry) has no text")
      }
      try expect(
        textLimitBytes == 0 || text.utf8.count <= textLimitBytes,
        "a text of \(text.utf8.count) bytes is accepted")
    case .data: try expect(entry.data != nil, "\(entry) has no data")
    case .react: try expect(entry.reaction != nil, "\(entry) has no emoji")
    case .file: try checkFile(of: entry, textLimitBytes: textLimitBytes)
    case .settings, .member: break
    default: try expect(entry.target != nil, "\(entry) has no target")
    }
    try check(.message(entry))
    try check(
      .history(
        ServerMessage.HistoryPage(
          room: send.room, entries: [entry, entry], first: 1, head: 1, more: false, epoch: "E")))
    let summary = ServerMessage.RoomSummary(
      room: send.room, title: "", head: 1, read: 0, unread: 1, listed: false, peer: nil,
      last: entry)
    try check(.rooms([summary], next: "1@2@r"))
    try check(
      .activity(ServerMessage.Activity(room: send.room, head: 1, unread: 1, last: entry)))
  }

  /// What a client says of a file is its id, a name, a caption and a reply, and nothing that the relay says of it.
  private static func checkFile(
    of entry: Entry, textLimitBytes: Int
  ) throws(FuzzFinding) {
    guard let file = entry.file else { throw FuzzFinding(description: "\(entry) has no file") }
    try expect(
      FileContent.isValid(id: file.id) && FileContent.isValid(name: file.name),
      "\(file) is accepted")
    try expect(file.description == nil, "the client describes \(file)")
    let caption = file.caption?.utf8.count ?? 0
    try expect(
      textLimitBytes == 0 || caption <= textLimitBytes, "a caption of \(caption) bytes is accepted")
  }

  static func checkServer(_ input: inout FuzzInput) throws(FuzzFinding) {
    let json = Array(input.rest)
    let message = try? ServerMessage(decoding: json.span)
    let entry = try? Entry(decoding: json.span)
    _ = entry?.data
    guard isUTF8(json) else { return }
    if let message { try check(message) }
    if let entry {
      try check(.message(entry))
      if entry.kind == .file {
        try checkRead(entry)
      } else {
        try expect(
          (entry.text != nil) == (entry.kind == .text || entry.kind == .edit),
          "\(entry) has no text, or too much")
      }
      try check(.message(entry.folded(with: [entry])))
    }
  }

  private static func checkRead(_ entry: Entry) throws(FuzzFinding) {
    guard let file = entry.file else { return }
    var again = entry
    again.body = file.body
    try expect(again.file == file, "\(file) is read as \(String(describing: again.file))")
  }

  private static func check(_ message: ServerMessage) throws(FuzzFinding) {
    let json = message.json
    guard let again = try? ServerMessage(decoding: json.span) else {
      throw FuzzFinding(description: "\(message) is not read when it is written")
    }
    try expect(again == message, "\(message) is read as \(again)")
  }

  private static func isUTF8(_ bytes: [UInt8]) -> Bool {
    String(validating: bytes, as: UTF8.self) != nil
  }
}
