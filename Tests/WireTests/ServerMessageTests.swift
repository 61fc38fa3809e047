import Testing
import Wire

@Suite struct `Messages from the relay` {
  static func entry(_ seq: Int64, data: String? = nil) -> Entry {
    let body = data.map { "\"data\":\($0)" } ?? #""text":"hé\n\"x\"""#
    return Entry(
      room: "r", seq: seq, id: "a \"\\", from: "ada", at: 1_763_650_000_000,
      kind: data == nil ? .text : .data, body: Array(body.utf8))
  }

  static func entry(_ seq: Int64, _ kind: EntryKind, _ body: String) -> Entry {
    Entry(
      room: "r", seq: seq, id: "a", from: "ada", at: 9, kind: kind, body: Array(body.utf8))
  }

  static var error: WireError {
    var error = WireError(
      .rateLimited, "Wait \"a\" bit.\n", re: .send, room: "r", id: "a", field: "text",
      retryAfterMilliseconds: 0)
    error.resetAt = 5
    error.support = "s-1"
    error.seq = 7
    return error
  }

  static var welcome: ServerMessage.Welcome {
    var limits = ServerMessage.Welcome.Limits()
    limits.frameBytes = 65_536
    limits.textBytes = 1
    limits.rooms = 2
    limits.sendsPerSecond = 3
    limits.burst = 4
    return .init(
      user: "ada", session: "S", server: "relay/1", time: 9, heartbeatSeconds: 25, limits: limits)
  }

  static var expiring: ServerMessage.Welcome {
    var welcome = welcome
    welcome.expiresInMilliseconds = 3_600_000
    return welcome
  }

  static let messages: [ServerMessage] = [
    .welcome(welcome), .welcome(expiring),
    .joined(
      .init(
        room: "r", epoch: "E", head: 9, first: 1, after: 3, resume: .ok, read: 2, received: 3,
        members: nil, lineage: [.init(epoch: "E", after: 3), .init(epoch: "D", after: 0)])),
    .joined(
      .init(
        room: "r", epoch: "E", head: 0, first: 1, after: 0, resume: .reset, read: 0, received: 0,
        members: [], subscribers: 51)),
    .joined(
      .init(
        room: "r", epoch: "E", head: 0, first: 1, after: 0, resume: .truncated, read: 0,
        received: 0,
        members: [.init(user: "a", read: 1, received: 2), .init(user: "b", read: 0, received: 0)])),
    .people(
      .init(
        people: [
          .init(
            user: "bo", name: "B\"o", avatar: "https://a", presence: .away, lastSeen: 7,
            isBot: true,
            room: "dm:a:bo"),
          .init(
            user: "a", name: "", avatar: nil, presence: .offline, lastSeen: nil, isBot: false,
            room: nil),
        ], next: "a@2", source: "org:x", asOf: 9)),
    .people(.init(people: [], next: nil, source: "", asOf: 0)),
    .presence(.init(user: "bo", presence: .online, lastSeen: 7)),
    .presence(.init(user: "bo", presence: .offline, lastSeen: nil)),
    .message(entry(3, .edit, #""target":1,"text":"x""#)),
    .message(entry(3, .delete, #""target":1"#)),
    .message(entry(3, .react, #""target":1,"emoji":"👍","on":false"#)),
    .message(entry(3, .text, #""text":"x","reply_to":1"#)),
    .message(entry(3, .text, #""text":"x","forward":{"room":"r","seq":1,"from":"bo"}"#)),
    .message(entry(3, .text, #""text":"x","edited_at":5,"reactions":{"👍":["a","b"]}"#)),
    .message(entry(3, EntryKind(rawValue: "poll"), #""question":"a, b?","options":["a","b"]"#)),
    .message(entry(3, EntryKind(rawValue: "knock"), "")),
    .left(room: "r"), .message(entry(Entry.sequenceLimit)), .message(entry(1, data: "[ 1.0 ]")),
    .message(entry(1, data: "null")),
    .ack(.init(room: "r", id: "a\"", seq: 1, at: 2, duplicate: false)),
    .ack(.init(room: "r", id: "a", seq: 1, at: 2, duplicate: true)),
    .ack(.init(room: "r", id: "a", seq: 1, at: 2, duplicate: false, ref: "7")),
    .renewed(expiresInMilliseconds: nil), .renewed(expiresInMilliseconds: 5), .ok,
    .history(.init(room: "r", entries: [], first: 1, head: 0, more: false, epoch: "E")),
    .history(
      .init(
        room: "r", entries: [entry(1), entry(2, data: "{}")], first: 1, head: 2, more: true,
        epoch: "E", resume: .diverged, after: 0)),
    .receipt(room: "r", .init(user: "a", read: 1, received: 2)),
    .typing(room: "r", user: "a", on: true), .typing(room: "r", user: "a", on: false),
    .subscribers(room: "r", count: 51), .rooms([], next: nil),
    .rooms(
      [
        .init(
          room: "dm:a:b", title: "B \"x\"", head: 3, read: 1, unread: 2, listed: false, peer: "b",
          last: entry(3)),
        .init(
          room: "r", title: "R", head: 0, read: 0, unread: 0, listed: true, peer: nil, last: nil),
      ], next: "1@2@r"),
    .activity(.init(room: "r", head: 2, unread: 1, last: entry(2))),
    .activity(.init(room: "r", head: 2, unread: 1, last: nil)),
    .pong(t: nil, time: 1), .pong(t: Array(#"{"a" : 1}"#.utf8), time: 1), .error(error),
    .error(WireError(.badJSON, "x")), .closing(reason: "restart", reconnectAfterMilliseconds: 250),
  ]

  @Test(arguments: messages)
  func `a client reads the messages that the relay writes`(_ message: ServerMessage) throws {
    #expect(ReferenceJSON.isObject(message.json))
    let json = message.json
    #expect(try ServerMessage(decoding: json.span) == message)
  }

  @Test(arguments: ErrorCode.sent)
  func `every error code is read back`(_ code: ErrorCode) throws {
    let json = ServerMessage.error(WireError(code, "m")).json
    #expect(try ServerMessage(decoding: json.span) == .error(WireError(code, "m")))
  }

  @Test func `a code that a client does not know is read as unknown, and named if nothing else is`()
    throws
  {
    for (message, text) in [(#","message":"No.""#, "No."), ("", "The relay answered too_late.")] {
      let json = Array(#"{"type":"error","code":"too_late","id":"a"\#(message)}"#.utf8)
      let error = WireError(.unknown, text, id: "a")
      #expect(try ServerMessage(decoding: json.span) == .error(error))
    }
  }

  @Test func `an entry as deep as it may be sent can be read in every message that carries it`()
    throws
  {
    let data = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
    let send = #"{"type":"send","room":"r","id":"a","kind":"data","data":\#(data)}"#
    #expect(ClientMessage.refusal(of: send) == nil)
    let deep = Self.entry(1, data: data)
    let messages: [ServerMessage] = [
      .message(deep), .activity(.init(room: "r", head: 1, unread: 1, last: deep)),
      .history(.init(room: "r", entries: [deep], first: 1, head: 1, more: false, epoch: "E")),
      .rooms(
        [
          .init(
            room: "r", title: "", head: 1, read: 0, unread: 1, listed: false, peer: nil, last: deep)
        ], next: nil),
    ]
    for message in messages {
      let json = message.json
      #expect(try ServerMessage(decoding: json.span) == message)
    }
  }

  @Test(arguments: [
    (#"{"type":"later","x":1}"#, UndecodableMessage.unknownType("later")),
    (#"[]"#, .json), (#"{"type":"left"}"#, .field(type: "left", name: "room")),
    (#"{"type":"ack","room":"r","id":"a","seq":-1,"at":1}"#, .field(type: "ack", name: "seq")),
    (
      #"{"type":"message","room":"r","seq":1,"id":"a","from":"b","at":1,"kind":"edit","text":""}"#,
      .field(type: "message", name: "target")
    ),
  ])
  func `unknown messages are distinguished from broken ones`(
    _ json: String, _ error: UndecodableMessage
  ) {
    let bytes = Array(json.utf8)
    #expect(throws: error) { try ServerMessage(decoding: bytes.span) }
  }

  @Test func `every prefix of every message is refused, without a trap`() {
    for message in Self.messages {
      let json = message.json
      for length in json.indices {
        #expect(throws: UndecodableMessage.self) {
          try ServerMessage(decoding: json.span.extracting(first: length))
        }
      }
    }
  }
}
