import Relay
import Testing
import Wire

@testable import Gateway

@Suite struct `The positions of an event stream` {
  private func cursors(
    _ items: [(String, String)], _ lastID: String? = nil
  ) throws(WireError) -> [String] {
    try StreamCursors(items.map { (name: $0.0, value: $0.1) }, lastID: lastID).rooms.map {
      "\($0.name) \($0.cursor.seq.map { "\($0)" } ?? "-") \($0.cursor.epoch ?? "-")"
    }
  }

  private static let rooms = [("room", "a"), ("room", "b")]

  @Test func `are those of the query, each room with its own`() throws {
    #expect(
      try cursors([
        ("user", "ada"), ("room", "a"), ("epoch", "x"), ("after", "7"), ("room", "b"),
        ("room", "c"), ("after", "0"),
      ]) == ["a 7 x", "b - -", "c 0 -"])
  }

  @Test(arguments: [
    ("x.7.9", ["a 7 x", "b 9 x"]), ("x-1.7.-", ["a 7 x-1", "b - -"]),
    ("x.7~.9~y_2", ["a 7 -", "b 9 y_2"]), ("", ["a - -", "b - -"]),
    ("x.0.9007199254740991", ["a 0 x", "b 9007199254740991 x"]),
  ])
  func `are those of the last id, which is newer`(id: String, expected: [String]) throws {
    #expect(try cursors(Self.rooms, id) == expected)
  }

  @Test(arguments: [
    "x", "x.1", "x.1.2.3", ".1.2", "x..2", "x.1.a", "x.1.-2", "x.1.9007199254740992",
    "x.1.00000000000000002", "x.1~y~z.2", "x\".1.2", "x.1.2 ", "x.+1.2",
    "\(String(repeating: "x", count: 65)).1.2", "\u{e9}.1.2",
  ])
  func `refuse another id`(id: String) {
    #expect {
      try cursors(Self.rooms, id)
    } throws: {
      ($0 as? WireError)?.field == "last_event_id"
    }
  }

  @Test(arguments: [
    [("after", "1"), ("room", "a")], [("room", "a"), ("after", "1"), ("after", "1")],
    [("room", "a"), ("after", "x")], [("room", "a"), ("epoch", "")],
    [("room", "a"), ("epoch", "x"), ("epoch", "x")], [("room", "a"), ("epoch", "a.b")], [],
  ])
  func `refuse an ambiguous query`(items: [(String, String)]) {
    #expect { try cursors(items) } throws: { ($0 as? WireError)?.code == .badField }
  }

  @Test func `are named by an id that is read back`() throws {
    var cursors = try StreamCursors(
      ["a", "b", "c", "d"].map { (name: "room", value: $0) }, lastID: "old.1.2.3~.-")
    cursors[0] = StreamCursor(seq: 5, epoch: "new")
    var id: [UInt8] = []
    cursors.appendID(epoch: "new", to: &id)
    #expect(String(decoding: id, as: UTF8.self) == "new.5.2~old.3~.-")
    let again = try StreamCursors(
      ["a", "b", "c", "d"].map { (name: "room", value: $0) },
      lastID: String(decoding: id, as: UTF8.self))
    #expect(again.rooms.map(\.cursor) == cursors.rooms.map(\.cursor))
  }
}

@Suite final class `An event stream` {
  private var stream: EventStream
  private var output: [UInt8] = []

  init() throws {
    let cursors = try StreamCursors(
      [("room", "a"), ("after", "1"), ("room", "b")].map { (name: $0.0, value: $0.1) },
      lastID: nil)
    stream = EventStream(cursors, retryMilliseconds: 1234)
  }

  private func take(_ message: ServerMessage, ref: String? = nil) -> String {
    take(message.json(ref: ref))
  }

  private func take(_ json: [UInt8]) -> String {
    output = []
    stream.append(json, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  private func joined(_ room: String, after: Int64) -> ServerMessage {
    .joined(
      ServerMessage.Joined(
        room: room, epoch: "e", head: 9, first: 1, after: after, resume: .ok, read: 0, received: 0,
        members: nil))
  }

  private func entry(_ room: String, _ seq: Int64) -> ServerMessage {
    .message(
      Entry(
        room: room, seq: seq, id: "i", from: "ada", at: 1, kind: .text,
        body: Array(#""text":"hi""#.utf8)))
  }

  private func refused(_ room: String?, _ code: ErrorCode, ref: String?) -> [UInt8] {
    var error = WireError(code, "No.", re: .join, room: room)
    error.ref = ref
    return ServerMessage.error(error).json
  }

  @Test func `joins its rooms from where its client is`() {
    #expect(
      String(decoding: stream.join, as: UTF8.self)
        == #"{"type":"join","rooms":[{"room":"a","after":1},{"room":"b"}],"ref":"join"}"#)
  }

  @Test func `begins with the first joined room, and the earlier messages`() {
    let pong = ServerMessage.pong(t: nil, time: 1)
    #expect(take(pong) == "")
    #expect(!stream.hasBegun)
    let begun = take(joined("a", after: 1), ref: "join")
    #expect(stream.hasBegun)
    #expect(begun.hasPrefix("retry: 1234\n\nevent: pong\ndata: {\"type\":\"pong\",\"time\":1}\n\n"))
    #expect(begun.contains("\n\nevent: joined\ndata: {\"type\":\"joined\",\"room\":\"a\","))
    #expect(!begun.contains("ref"))
    #expect(!begun.contains("id: e"))
  }

  @Test func `names the position in every room with each entry`() {
    _ = take(joined("a", after: 1), ref: "join")
    #expect(take(entry("a", 2)).hasPrefix("event: message\nid: e.2.-\ndata: {"))
    #expect(take(joined("b", after: 9), ref: "join").hasSuffix("}\n\nid: e.2.9\n\n"))
    #expect(take(entry("b", 10)).hasPrefix("event: message\nid: e.2.10\ndata: {"))
    #expect(take(entry("a", 3)).hasPrefix("event: message\nid: e.3.10\ndata: {"))
    #expect(!take(.left(room: "a")).contains("id: "))
  }

  @Test func `gives its client a new position when a cursor is moved`() {
    _ = take(joined("a", after: 1), ref: "join") + take(joined("b", after: 9), ref: "join")
    #expect(take(joined("a", after: 7)).hasSuffix("\n\nid: e.7.9\n\n"))
  }

  @Test func `reports a room that cannot be joined, and continues with the others`() {
    #expect(take(refused("a", .noSuchRoom, ref: "join")) == "")
    #expect(stream.refusal == nil)
    let begun = take(joined("b", after: 9), ref: "join")
    #expect(begun.contains("event: error\ndata: "))
    #expect(begun.hasSuffix("id: e.1~.9\n\n"))
  }

  @Test func `is refused if no room can be joined`() {
    _ = take(refused("a", .noSuchRoom, ref: "join"))
    _ = take(refused("b", .forbidden, ref: "join"))
    #expect(stream.refusal?.code == .noSuchRoom)
    #expect(!stream.hasBegun)
  }

  @Test func `is refused if its session ends before it begins`() {
    _ = take(refused(nil, .limitReached, ref: nil))
    #expect(stream.refusal?.code == .limitReached)
  }

  @Test func `tells its client when to come back after a shutdown`() {
    let closing = ServerMessage.closing(reason: "r", reconnectAfterMilliseconds: 77)
    #expect(take(closing) == "")
    _ = take(joined("a", after: 1), ref: "join")
    #expect(take(closing).hasPrefix("retry: 77\nevent: closing\ndata: {"))
  }

  @Test(arguments: ["\n", "\r", "\r\n"])
  func `splits JSON at its line breaks`(lineBreak: String) {
    _ = take(joined("a", after: 1), ref: "join")
    let json = #"{"type":"pong","t":["# + lineBreak + lineBreak + #"1]}"#
    #expect(
      take(Array(json.utf8))
        == "event: pong\ndata: {\"type\":\"pong\",\"t\":[\ndata: \ndata: 1]}\n\n")
  }
}

@Suite struct `A long poll` {
  private func page(first: Int64, head: Int64, resume: ServerMessage.Resume? = nil)
    -> ServerMessage.HistoryPage
  {
    ServerMessage.HistoryPage(
      room: "a", entries: [], first: first, head: head, more: false, epoch: "e", resume: resume)
  }

  @Test func `waits if the client has everything, and no other message is pending`() {
    let poll = LongPoll(room: "a", after: 5, milliseconds: 1000)
    #expect(poll.isUnanswered(by: page(first: 1, head: 5)))
    #expect(poll.isUnanswered(by: page(first: 6, head: 5)))
    #expect(poll.isUnanswered(by: page(first: 1, head: 9)))
    #expect(!poll.isUnanswered(by: page(first: 1, head: 4)))
    #expect(!poll.isUnanswered(by: page(first: 7, head: 9)))
    #expect(poll.isUnanswered(by: page(first: 1, head: 5, resume: .ok)))
    #expect(!poll.isUnanswered(by: page(first: 1, head: 5, resume: .diverged)))
  }
}
