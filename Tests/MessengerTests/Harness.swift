import Client
import Messenger
import Terminal
import Wire

/// A chat of ada's in isolation: its actions are kept for the test to look at, and pages are loaded
/// from entries that the test provides.
struct Harness {
  var chat: Chat
  var effects: [Effect] = []
  /// The archive's entries, by room.
  var kept: [String: [Entry]] = [:]
  var now: Int64 = 1_763_650_000_000

  static let room = "dm:ada:bo"

  init(size: Size = Size(columns: 100, rows: 30)) {
    chat = Chat(
      settings: Settings(), size: size, now: now, relay: "ws://localhost/ws", user: "ada",
      idPrefix: "test"
    ) { milliseconds in
      let minutes = Int(milliseconds / 60_000)
      return LocalTime(
        year: 2025, month: 11, day: minutes / 1440 % 28 + 1, hour: minutes / 60 % 24,
        minute: minutes % 60, weekday: minutes / 1440 % 7)
    }
  }

  /// Handles an event, and does what the driver does immediately.
  mutating func take(_ event: Event) {
    var news: [Effect] = []
    chat.handle(event, at: now, &news)
    follow(news)
  }

  private mutating func follow(_ news: [Effect]) {
    effects += news
    for case .load(let room, let before) in news {
      let entries = (kept[room] ?? []).filter { $0.seq < before ?? .max }
      let page = Array(entries.suffix(100))
      take(.page(room: room, before: before, page, isComplete: page.count == entries.count))
    }
  }

  mutating func open(_ room: String) {
    var news: [Effect] = []
    chat.open(room, &news)
    follow(news)
  }

  mutating func press(_ keys: Key...) { for key in keys { take(.input(.key(key))) } }

  mutating func type(_ text: String) { for key in text { press(Key(.character(key))) } }

  mutating func see(_ message: ServerMessage) { take(.client(.message(message))) }

  // MARK: Input from the relay

  mutating func welcome() {
    take(
      .client(
        .welcomed(
          .init(
            user: "ada", session: "s", server: "relay/1", time: now, heartbeatSeconds: 30,
            limits: .init()))))
  }

  mutating func lose(retryMilliseconds: Int = 3000) {
    take(.client(.disconnected(.lost(nil), retryMilliseconds: retryMilliseconds)))
  }

  mutating func joined(
    _ room: String = room, head: Int64 = 0, after: Int64? = nil, read: Int64 = 0,
    members: [ServerMessage.Marks] = []
  ) {
    take(
      .client(
        .joined(
          .init(
            room: room, epoch: "e", head: head, first: 1, after: after ?? head, resume: .ok,
            read: read, received: read, members: members))))
  }

  /// The next entry of a room.
  mutating func entry(
    _ seq: Int64, from: String = "bo", id: String? = nil, _ text: String, in room: String = room
  ) {
    let send = ClientMessage.Send(room: room, id: id ?? "\(from)-\(seq)", text: text)
    take(.client(.entry(Self.entry(seq, from, send, at: now))))
  }

  mutating func entry(_ seq: Int64, from: String = "bo", _ send: ClientMessage.Send) {
    take(.client(.entry(Self.entry(seq, from, send, at: now))))
  }

  static func entry(
    _ seq: Int64, _ from: String, _ send: ClientMessage.Send, at: Int64
  ) -> Entry {
    Entry(
      room: send.room, seq: seq, id: send.id, from: from, at: at, kind: send.kind,
      body: send.body)
  }

  mutating func acknowledge(_ send: ClientMessage.Send, seq: Int64) {
    take(
      .client(
        .acknowledged(
          .init(room: send.room, id: send.id, seq: seq, at: now, duplicate: false))))
  }

  mutating func receipt(_ user: String, received: Int64, read: Int64, in room: String = room) {
    see(.receipt(room: room, .init(user: user, read: read, received: received)))
  }

  // MARK: Requested actions

  /// The sent messages, in order.
  var sent: [ClientMessage.Send] {
    effects.compactMap { if case .send(let send, _) = $0 { send } else { nil } }
  }

  var requests: [ClientMessage] {
    effects.compactMap { if case .request(let message) = $0 { message } else { nil } }
  }

  var texts: [String] { chat.timeline?.messages.map(\.text) ?? [] }
  var states: [SendState?] { chat.timeline?.messages.map(\.state) ?? [] }
}

extension Harness {
  /// Ada has opened the conversation with bo, and both are online.
  static func talking(head: Int64 = 0) -> Harness {
    var harness = Harness()
    harness.welcome()
    harness.open(room)
    harness.joined(
      head: head,
      members: [
        .init(user: "ada", read: head, received: head),
        .init(user: "bo", read: head, received: head),
      ])
    harness.effects = []
    return harness
  }
}
