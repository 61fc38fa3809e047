import Testing
import Wire

@Suite struct `Messages from a client` {
  @Test func `a join names a room and may name a position`() throws {
    #expect(
      try ClientMessage(#"{"type":"join","room":"general"}"#) == .join(.init(room: "general")))
    let resumed = #" { "room" : "a:b" , "after" : 0 , "epoch" : "E" , "type" : "join" } "#
    #expect(
      try ClientMessage(resumed) == .join(.init(room: "a:b", after: 0, epoch: "E")))
    #expect(
      try ClientMessage(#"{"type":"join","room":"r","after":null,"epoch":null}"#)
        == .join(.init(room: "r")))
    #expect(
      try ClientMessage(#"{"type":"join","room":"r","subscribers":true}"#)
        == .join(.init(room: "r", subscribers: true)))
  }

  @Test func `a leave may forget`() throws {
    #expect(
      try ClientMessage(#"{"type":"leave","room":"r"}"#) == .leave(room: "r", forget: false))
    #expect(
      try ClientMessage(#"{"type":"leave","room":"r","forget":true}"#)
        == .leave(room: "r", forget: true))
  }

  @Test func `marks, typing, rooms and auth are read`() throws {
    #expect(
      try ClientMessage(#"{"type":"received","room":"r","seq":9007199254740991}"#)
        == .received(room: "r", seq: Entry.sequenceLimit))
    #expect(
      try ClientMessage(#"{"type":"read","room":"r","seq":0}"#) == .read(room: "r", seq: 0))
    #expect(
      try ClientMessage(#"{"type":"typing","room":"r","on":false}"#)
        == .typing(room: "r", on: false))
    #expect(try ClientMessage(#"{"type":"rooms"}"#) == .rooms(.init()))
    #expect(try ClientMessage(#"{"type":"auth","token":"a.b.c"}"#) == .auth(token: "a.b.c"))
  }

  @Test func `an erased entry has a room`() throws {
    let refusal = ClientMessage.refusal(of: #"{"type":"erase","user":"bo","seq":7}"#)
    #expect(refusal?.code == .badField)
    #expect(refusal?.field == "room")
    #expect(ClientMessage.refusal(of: #"{"type":"erase","room":"r"}"#)?.field == "user")
  }

  @Test func `a ping keeps any JSON byte for byte`() throws {
    #expect(try ClientMessage(#"{"type":"ping"}"#) == .ping(t: nil))
    for t in ["null", "1.50", #"{ "a" : [ 1 ] }"#, #""\u00e9""#] {
      #expect(try ClientMessage(#"{"type":"ping","t":\#(t)}"#) == .ping(t: Array(t.utf8)))
    }
  }

  @Test func `history has a default length and bounds`() throws {
    #expect(
      try ClientMessage(#"{"type":"history","room":"r"}"#) == .history(.init(room: "r", limit: 50)))
    #expect(
      try ClientMessage(#"{"type":"history","room":"r","before":7,"limit":500}"#)
        == .history(.init(room: "r", before: 7, limit: 500)))
    #expect(
      try ClientMessage(#"{"type":"history","room":"r","after":0,"limit":1}"#)
        == .history(.init(room: "r", after: 0, limit: 1)))
    let both = ClientMessage.refusal(
      of: #"{"type":"history","room":"r","after":1,"before":2}"#)
    #expect(both?.code == .badField)
    #expect(both?.field == "before")
  }

  @Test func `a send without a kind is text`() throws {
    let expected = ClientMessage.Send(
      room: "r", id: "a1", kind: .text, body: Array(#""text":"hi""#.utf8))
    #expect(
      try ClientMessage(#"{"type":"send","room":"r","id":"a1","text":"hi"}"#) == .send(expected))
    #expect(
      try ClientMessage(#"{"type":"send","room":"r","id":"a1","kind":"text","text":"hi"}"#)
        == .send(expected))
  }

  @Test func `strings mean the same with and without escapes`() throws {
    let plain = try ClientMessage(#"{"type":"send","room":"r","id":"a","kind":"text","text":"hi"}"#)
    let escaped =
      #"{"\u0074ype":"s\u0065nd","r\u006Fom":"\u0072","id":"\u0061","kind":"te\u0078t","text":"hi"}"#
    #expect(try ClientMessage(escaped) == plain)
    #expect(try ClientMessage(#"{"type":"r\u006foms"}"#) == .rooms(.init()))
    #expect(
      try ClientMessage.body(
        ofSend: #"{"type":"send","room":"r","id":"a","kind":"d\u0061ta","data":1}"#)
        == #""data":1"#)
  }

  @Test func `the last of repeated members counts, and unknown ones are skipped`() throws {
    #expect(
      try ClientMessage(#"{"type":"join","room":"UPPER","x":{"room":1},"room":"r","type":"leave"}"#)
        == .leave(room: "r", forget: false))
  }

  /// An error, and the code and the field that the answer names.
  static let faults: [(json: String, code: ErrorCode, field: String?)] = [
    (#"{}"#, .badField, "type"),
    (#"{"type":1}"#, .badField, "type"),
    (#"{"type":null}"#, .badField, "type"),
    (#"{"type":""}"#, .unknownType, nil),
    (#"{"type":"persons"}"#, .unknownType, nil),
    (#"{"type":"people","query":1}"#, .badField, "query"),
    (#"{"type":"people","cursor":1}"#, .badField, "cursor"),
    (#"{"type":"rooms","cursor":1}"#, .badField, "cursor"),
    (#"{"type":"rooms","limit":0}"#, .badField, "limit"),
    (#"{"type":"rooms","limit":201}"#, .badField, "limit"),
    (#"{"type":"rooms","limit":9223372036854775807}"#, .badField, "limit"),
    (#"{"type":"people","limit":201}"#, .badField, "limit"),
    (#"{"type":"presence"}"#, .badField, "presence"),
    (#"{"type":"presence","presence":"offline"}"#, .badField, "presence"),
    (#"{"type":"auth"}"#, .badField, "token"),
    (#"{"type":"auth","token":5}"#, .badField, "token"),
    (#"{"type":"join"}"#, .badField, "room"),
    (#"{"type":"join","room":7}"#, .badField, "room"),
    (#"{"type":"join","room":"a/b"}"#, .badField, "room"),
    (#"{"type":"join","room":"dm:b:a"}"#, .badField, "room"),
    (#"{"type":"join","room":"r","after":-1}"#, .badField, "after"),
    (#"{"type":"join","room":"r","after":1.5}"#, .badField, "after"),
    (#"{"type":"join","room":".."}"#, .badField, "room"),
    (#"{"type":"join","room":"r","after":"1"}"#, .badField, "after"),
    (#"{"type":"join","room":"r","after":9007199254740992}"#, .badField, "after"),
    (#"{"type":"join","room":"r","epoch":1}"#, .badField, "epoch"),
    (#"{"type":"join","room":"r","subscribers":"yes"}"#, .badField, "subscribers"),
    (#"{"type":"leave","room":"R"}"#, .badField, "room"),
    (#"{"type":"leave","room":"r","forget":1}"#, .badField, "forget"),
    (#"{"type":"received","room":"r"}"#, .badField, "seq"),
    (#"{"type":"received","room":"r","seq":1e-2}"#, .badField, "seq"),
    (#"{"type":"read","room":"r","seq":-1e0}"#, .badField, "seq"),
    (#"{"type":"read","room":"r","seq":99999999999999999999}"#, .badField, "seq"),
    (#"{"type":"typing","room":"r"}"#, .badField, "on"),
    (#"{"type":"typing","room":"r","on":"true"}"#, .badField, "on"),
    (#"{"type":"typing","on":true}"#, .badField, "room"),
    (#"{"type":"history","room":"r","limit":0}"#, .badField, "limit"),
    (#"{"type":"history","room":"r","limit":501}"#, .badField, "limit"),
    (#"{"type":"history","room":"r","limit":1.1}"#, .badField, "limit"),
    (#"{"type":"history","room":"r","before":"x"}"#, .badField, "before"),
    (#"{"type":"history"}"#, .badField, "room"),
    (#"{"type":"send","room":"r","text":"x"}"#, .badField, "id"),
    (#"{"type":"send","room":"r","id":"","text":"x"}"#, .badField, "id"),
    (#"{"type":"send","room":"r","id":"é","text":"x"}"#, .badField, "id"),
    (#"{"type":"send","room":"r","id":"a\nb","text":"x"}"#, .badField, "id"),
    (#"{"type":"send","id":"a","text":"x"}"#, .badField, "room"),
    (#"{"type":"send","room":"r","id":"a"}"#, .badField, "text"),
    (#"{"type":"send","room":"r","id":"a","text":null}"#, .badField, "text"),
    (#"{"type":"send","room":"r","id":"a","text":["x"]}"#, .badField, "text"),
    (#"{"type":"send","room":"r","id":"a","kind":"song","text":"x"}"#, .badField, "kind"),
    (#"{"type":"send","room":"r","id":"a","kind":"edit","text":"x"}"#, .badField, "target"),
    (#"{"type":"send","room":"r","id":"a","kind":"edit","target":1}"#, .badField, "text"),
    (
      #"{"type":"send","room":"r","id":"a","kind":"edit","target":1,"text":" "}"#, .badField, "text"
    ),
    (#"{"type":"send","room":"r","id":"a","kind":"delete","target":-1}"#, .badField, "target"),
    (
      #"{"type":"send","room":"r","id":"a","kind":"react","target":1,"emoji":"x"}"#, .badField, "on"
    ),
    (
      #"{"type":"send","room":"r","id":"a","kind":"react","target":1,"emoji":"a b","on":true}"#,
      .badField, "emoji"
    ),
    (
      #"{"type":"send","room":"r","id":"a","kind":"react","target":1,"emoji":"","on":true}"#,
      .badField, "emoji"
    ),
    (#"{"type":"send","room":"r","id":"a","text":"x","reply_to":"1"}"#, .badField, "reply_to"),
    (#"{"type":"send","room":"r","id":"a","reply_to":1}"#, .badField, "text"),
    (#"{"type":"send","room":"r","id":"a","forward":{"room":"r"}}"#, .badField, "forward"),
    (#"{"type":"send","room":"r","id":"a","forward":{"room":"R","seq":1}}"#, .badField, "forward"),
    (#"{"type":"send","room":"r","id":"a","forward":[]}"#, .badField, "forward"),
    (#"{"type":"send","room":"r","id":"a","kind":3,"text":"x"}"#, .badField, "kind"),
    (#"{"type":"send","room":"r","id":"a","kind":"data"}"#, .badField, "data"),
  ]

  @Test(arguments: faults.indices)
  func `an error has a code and a field`(_ index: Int) throws {
    let fault = Self.faults[index]
    let error = try #require(ClientMessage.refusal(of: fault.json), "\(fault.json)")
    #expect(error.code == fault.code, "\(fault.json)")
    #expect(error.field == fault.field, "\(fault.json)")
    #expect(!error.message.isEmpty)
  }

  @Test func `an error names the message that it answers, its room and its id`() throws {
    let badText = try #require(
      ClientMessage.refusal(of: #"{"type":"send","room":"r","id":"a1","text":" "}"#))
    #expect((badText.type, badText.room, badText.id) == ("send", "r", "a1"))
    let badRoom = try #require(
      ClientMessage.refusal(of: #"{"type":"send","room":"R","id":"a1","text":"x"}"#))
    #expect((badRoom.type, badRoom.room, badRoom.id) == ("send", nil, "a1"))
    let badID = try #require(
      ClientMessage.refusal(of: #"{"type":"send","room":"r","id":"","text":"x"}"#))
    #expect((badID.type, badID.room, badID.id) == ("send", "r", nil))
    let badAfter = try #require(
      ClientMessage.refusal(of: #"{"type":"join","room":"r","after":-1}"#))
    #expect((badAfter.type, badAfter.room, badAfter.id) == ("join", "r", nil))
    #expect(ClientMessage.refusal(of: #"{"type":"persons"}"#)?.unknownType == "persons")
    let long = String(repeating: "x", count: 1000)
    #expect(
      ClientMessage.refusal(of: #"{"type":"\#(long)"}"#)?.unknownType == String(long.prefix(64)))
  }

  /// One character may be as long as the whole message.
  @Test func `an error repeats only the start of an unknown type`() {
    let accents = String(repeating: "\u{301}", count: 5000)
    let error = ClientMessage.refusal(of: #"{"type":"a\#(accents)"}"#)
    #expect(error?.code == .unknownType)
    #expect(error?.unknownType == "a" + String(repeating: "\u{301}", count: 63))
  }

  @Test(
    arguments: [
      ("1.0", 1), ("1e0", 1), ("10e-1", 1), ("1E+2", 100), ("0.5e1", 5), ("-0", 0), ("-0.0e5", 0),
      ("0e999999999999999999999", 0), ("0.00000000000000000001e20", 1), ("1200.00", 1200),
      ("9007199254740991.0", Entry.sequenceLimit), ("90071992547409910e-1", Entry.sequenceLimit),
      ("9.007199254740991e15", Entry.sequenceLimit),
      ("1\(String(repeating: "0", count: 40))e-40", 1),
    ] as [(String, Int64)])
  func `a whole number may be written with a point or an exponent`(
    _ written: String, _ number: Int64
  ) throws {
    let message = try ClientMessage(#"{"type":"read","room":"r","seq":\#(written)}"#)
    #expect(message == .read(room: "r", seq: number))
  }

  @Test(arguments: [
    "1.5", "1e-1", "10.01e1", "-1", "-1.0", "-1e-99", "9007199254740992", "9007199254740991.5",
    "9.007199254740992e15", "1e16", "1e999999999", "1e-999999999", "1e99999999999999999999999",
    "123456789012345678.9e1", "99999999999999999999", "12345678901234567890e-19",
  ])
  func `a number that is not whole or out of range is refused`(_ written: String) throws {
    let error = ClientMessage.refusal(of: #"{"type":"read","room":"r","seq":\#(written)}"#)
    #expect(error?.field == "seq")
  }

  /// With a cost that grew with the exponent, or with the square of the digits, this would not end.
  @Test func `the cost of a number is that of its digits`() {
    let zeros = String(repeating: "0", count: 200_000)
    for (number, isWhole) in [
      ("1e999999999", false), ("1e-999999999", false), ("1\(zeros)e-200000", true),
      ("0.\(zeros)1e200001", true), ("1e\(zeros)1", true), ("1.\(zeros)1", false),
    ] {
      let error = ClientMessage.refusal(of: #"{"type":"read","room":"r","seq":\#(number)}"#)
      #expect((error == nil) == isWhole)
    }
  }

  @Test func `a whole number is stored as digits, however it was sent`() throws {
    let reply = #"{"type":"send","room":"r","id":"a","text":"x","reply_to":7.0}"#
    #expect(try ClientMessage.body(ofSend: reply) == #""text":"x","reply_to":7"#)
    let delete = #"{"type":"send","room":"r","id":"a","kind":"delete","target":70e-1}"#
    #expect(try ClientMessage.body(ofSend: delete) == #""target":7"#)
  }

  @Test func `half of a surrogate pair in a name or an id is refused with the field`() {
    let room = #"{"type":"send","room":"\ud83d","id":"a","text":"x"}"#
    #expect(ClientMessage.refusal(of: room)?.field == "room")
    let id = #"{"type":"send","room":"r","id":"\ud83d","text":"x"}"#
    #expect(ClientMessage.refusal(of: id)?.field == "id")
  }

  @Test func `half of a surrogate pair stands for U+FFFD in every string`() throws {
    #expect(
      try ClientMessage(#"{"type":"people","query":"a\ud83d"}"#)
        == .people(.init(query: "a\u{FFFD}")))
    #expect(
      try ClientMessage(#"{"type":"join","room":"r","epoch":"\udc00"}"#)
        == .join(.init(room: "r", epoch: "\u{FFFD}")))
  }

  @Test func `an id has 1 to 64 printable ASCII characters`() throws {
    let longest = String(repeating: "~", count: 64)
    #expect(
      ClientMessage.refusal(of: #"{"type":"send","room":"r","id":"\#(longest)","text":"x"}"#) == nil
    )
    #expect(
      ClientMessage.refusal(of: #"{"type":"send","room":"r","id":"\#(longest)~","text":"x"}"#)?
        .field
        == "id")
  }

  static let messages: [ClientMessage] = [
    .auth(token: "a\"b"), .join(.init(room: "r")),
    .join(.init(room: "r", after: 0, epoch: "E\\", subscribers: true)),
    .join(.init(room: "r", after: 9, lineage: [])),
    .join(.init(room: "r", after: 9, lineage: [.init(epoch: "E", after: 5)])),
    .joinRooms([
      .success(.init(room: "r", after: 9, lineage: [.init(epoch: "E", after: 5)])),
      .success(.init(room: "s", subscribers: true)),
    ]),
    .history(.init(room: "r", after: 3, epoch: "E", lineage: [.init(epoch: "E", after: 1)])),
    .leave(room: "r", forget: false), .leave(room: "r", forget: true),
    .send(.init(room: "dm:a:b", id: "a \"1\"", text: "x\n\t\"y\\ \u{1F600} é")),
    .send(.init(room: "r", id: "1", kind: .data, body: Array(#""data":{"a" : [1.0]}"#.utf8))),
    .received(room: "r", seq: 0), .read(room: "r", seq: Entry.sequenceLimit),
    .typing(room: "r", on: true), .typing(room: "r", on: false),
    .history(.init(room: "r", before: 3, limit: 1)), .history(.init(room: "r", after: 3)),
    .rooms(.init()), .rooms(.init(cursor: "1@2@r", limit: 200)), .ping(t: nil),
    .ping(t: Array("[1, 2]".utf8)),
    .history(.init(room: "r", before: 3, isFolded: true)),
    .people(.init()), .people(.init(query: "Ä \"", cursor: "bo@7", limit: 200)),
    .presence(isAway: true), .presence(isAway: false),
    .send(.init(room: "r", id: "1", text: "x", replyTo: 7)),
    .send(.init(room: "r", id: "1", forward: Forward(room: "dm:a:b", seq: 7))),
    .send(.init(room: "r", id: "1", edit: 7, text: "x \"y\"")),
    .send(.init(room: "r", id: "1", delete: 7)),
    .send(.init(room: "r", id: "1", react: 7, emoji: "👩‍👩‍👧‍👦", isOn: true)),
    .send(.init(room: "r", id: "1", react: 7, emoji: "+1", isOn: false)),
    .erase(user: "bo", room: nil, seq: nil), .erase(user: "bo", room: "r", seq: nil),
    .erase(user: "bo", room: "dm:a:bo", seq: 7),
  ]

  @Test(arguments: messages)
  func `the relay reads the messages that a client writes`(_ message: ClientMessage) throws {
    #expect(try ClientMessage(bytes: message.json) == message)
  }
}
