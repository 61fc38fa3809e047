import Bots
import Synchronization
import Wire

/// The part of a relay that bots use, in memory: logs, cursors, ids and marks survive `restart`.
final class FakeRelay: BotHost {
  struct Event {
    var user: String
    var at: Duration
    var message: ClientMessage
  }

  struct Room {
    var log: [Entry] = []
    var read: [String: Int64] = [:]
    var received: [String: Int64] = [:]
    var head: Int64 { Int64(log.count) }
  }

  struct State {
    var rooms: [String: Room] = [:]
    var connections: [String: FakeConnection] = [:]
    var joined: [String: Set<String>] = [:]
    /// Subscribed users, as set by the test.
    var subscribers: [String: Int64] = [:]
    var refusals: [WireError] = []
    var connectionCount = 0
    var isShutDown = false
    var dropsNextSend = false
    var limits = ServerMessage.Welcome.Limits()
  }

  let state = Mutex(State())
  let clock: TestClock
  private let events: AsyncStream<Event>
  private let record: AsyncStream<Event>.Continuation

  init(clock: TestClock, limits: ServerMessage.Welcome.Limits = .init()) {
    self.clock = clock
    (events, record) = AsyncStream.makeStream()
    state.withLock { $0.limits = limits }
  }

  /// Returns the next message of a bot that fits; earlier ones are skipped.
  func next(_ fits: (Event) -> Bool = { _ in true }) async throws -> Event {
    for await event in events where fits(event) { return event }
    // The stream itself never ends: the test has timed out.
    throw CancellationError()
  }

  /// Returns the next entry that a bot sends.
  func nextSend() async throws -> (id: String, text: String, room: String, at: Duration) {
    while true {
      let event = try await next()
      guard case .send(let send) = event.message else { continue }
      return (send.id, Self.text(of: send), send.room, event.at)
    }
  }

  static func text(of send: ClientMessage.Send) -> String {
    Entry(
      room: send.room, seq: 0, id: send.id, from: "", at: 0, kind: send.kind, body: send.body
    ).text ?? ""
  }

  func log(_ room: String) -> [Entry] { state.withLock { $0.rooms[room]?.log ?? [] } }
  func texts(_ room: String) -> [String] { log(room).map { "\($0.from): \($0.text ?? "")" } }

  func connect(as user: String) async -> (any BotConnection)? {
    state.withLock { state in
      guard !state.isShutDown else { return nil }
      let connection = FakeConnection(user: user, relay: self)
      state.connections[user] = connection
      state.joined[user] = []
      state.connectionCount += 1
      connection.push(
        .welcome(
          ServerMessage.Welcome(
            user: user, session: "s\(state.connectionCount)", server: "fake", time: 1000,
            heartbeatSeconds: 25, limits: state.limits)))
      return connection
    }
  }

  /// Ends every connection; stored state is kept.
  func restart() {
    state.withLock { state in
      for connection in state.connections.values { connection.close() }
      state.connections = [:]
      state.joined = [:]
    }
  }

  /// Ends every connection, and accepts no other.
  func shutDown() {
    state.withLock { $0.isShutDown = true }
    restart()
  }

  func refuse(_ error: WireError) { state.withLock { $0.refusals.append(error) } }

  func setSubscribers(_ count: Int64, in room: String) {
    state.withLock { state in
      state.subscribers[room] = count
      for (user, rooms) in state.joined where rooms.contains(room) {
        state.connections[user]?.push(.subscribers(room: room, count: count))
      }
    }
  }

  /// Adds an entry of a user who is not a bot of this test.
  func post(_ text: String, from user: String, to room: String) {
    let id = "p\(log(room).count)"
    post(ClientMessage.Send(room: room, id: id, text: text), from: user)
  }

  func post(_ send: ClientMessage.Send, from user: String) {
    state.withLock { _ = append(send, from: user, &$0) }
  }

  /// The next send is lost with its connection, which the test has to end.
  func dropNextSend() { state.withLock { $0.dropsNextSend = true } }

  private func append(
    _ send: ClientMessage.Send, from user: String, _ state: inout State
  ) -> ServerMessage.Ack {
    var room = state.rooms[send.room] ?? Room()
    if let known = room.log.first(where: { $0.from == user && $0.id == send.id }) {
      return ServerMessage.Ack(
        room: send.room, id: send.id, seq: known.seq, at: known.at, duplicate: true)
    }
    let entry = Entry(
      room: send.room, seq: room.head + 1, id: send.id, from: user, at: 1000, kind: send.kind,
      body: send.body)
    let others = room.log.last { $0.from != user }?.seq ?? 0
    room.log.append(entry)
    if room.read[user] ?? 0 >= others { room.read[user] = entry.seq }
    if room.received[user] ?? 0 >= others { room.received[user] = entry.seq }
    state.rooms[send.room] = room
    for (other, connection) in state.connections {
      if state.joined[other]?.contains(send.room) == true {
        connection.push(.message(entry))
      } else if let (a, b) = RoomName.peers(of: send.room), other == a || other == b {
        connection.push(
          .activity(
            ServerMessage.Activity(
              room: send.room, head: entry.seq, unread: unread(room, of: other), last: entry)))
      }
    }
    return ServerMessage.Ack(
      room: send.room, id: send.id, seq: entry.seq, at: entry.at, duplicate: false)
  }

  private func unread(_ room: Room, of user: String) -> Int64 {
    Int64(room.log.count { $0.from != user && $0.seq > room.read[user] ?? 0 })
  }

  fileprivate func receive(_ message: ClientMessage, from connection: FakeConnection) {
    let user = connection.user
    state.withLock { state in
      guard state.connections[user] === connection else { return }
      switch message {
      case .send(let send):
        if state.dropsNextSend {
          state.dropsNextSend = false
        } else if let refusal = state.refusals.popFirst() {
          var refusal = refusal
          (refusal.re, refusal.room, refusal.id) = (.send, send.room, send.id)
          connection.push(.error(refusal))
        } else {
          connection.push(.ack(append(send, from: user, &state)))
        }
      case .join(let join):
        let room = state.rooms[join.room] ?? Room()
        state.rooms[join.room] = room
        let after = min(join.after ?? room.head, room.head)
        state.joined[user]?.insert(join.room)
        connection.push(
          .joined(
            ServerMessage.Joined(
              room: join.room, epoch: "e", head: room.head, first: 1, after: after, resume: .ok,
              read: room.read[user] ?? 0, received: room.received[user] ?? 0, members: nil,
              subscribers: join.subscribers ? state.subscribers[join.room] ?? 2 : nil)))
        for entry in room.log where entry.seq > after { connection.push(.message(entry)) }
      case .leave(let room, _):
        state.joined[user]?.remove(room)
        connection.push(.left(room: room))
      case .history(let request):
        let room = state.rooms[request.room] ?? Room()
        let page = room.log.filter { $0.seq < request.before ?? .max }.suffix(request.limit)
        connection.push(
          .history(
            ServerMessage.HistoryPage(
              room: request.room, entries: Array(page), first: 1, head: room.head,
              more: (page.first?.seq ?? 1) > 1, epoch: "E")))
      case .rooms:
        let rows = state.rooms.filter { RoomName.isOpen($0.key, to: user) }.map { name, room in
          ServerMessage.RoomSummary(
            room: name, title: name, head: room.head, read: room.read[user] ?? 0,
            unread: unread(room, of: user), listed: false, peer: nil, last: room.log.last)
        }
        connection.push(.rooms(rows.sorted { $0.room < $1.room }, next: nil))
      case .read(let name, let seq):
        var room = state.rooms[name] ?? Room()
        room.read[user] = max(seq, room.read[user] ?? 0)
        room.received[user] = max(seq, room.received[user] ?? 0)
        state.rooms[name] = room
      case .received(let name, let seq):
        var room = state.rooms[name] ?? Room()
        room.received[user] = max(seq, room.received[user] ?? 0)
        state.rooms[name] = room
      default: break
      }
    }
    record.yield(Event(user: user, at: clock.now.offset, message: message))
  }
}

final class FakeConnection: BotConnection {
  let user: String
  private let relay: FakeRelay
  private let messages: AsyncStream<ServerMessage>
  private let continuation: AsyncStream<ServerMessage>.Continuation

  init(user: String, relay: FakeRelay) {
    self.user = user
    self.relay = relay
    (messages, continuation) = AsyncStream.makeStream()
  }

  func push(_ message: ServerMessage) { continuation.yield(message) }
  func close() { continuation.finish() }

  func send(_ message: ClientMessage) {
    do {
      // As the relay reads it.
      relay.receive(
        try ClientMessage(decoding: message.json.span, textLimitBytes: 8192), from: self)
    } catch {
      fatalError("a bot sent what is no relay.v1: \(error)")
    }
  }

  func receive() async -> ServerMessage? {
    for await message in messages { return message }
    return nil
  }
}

extension Array {
  fileprivate mutating func popFirst() -> Element? { isEmpty ? nil : removeFirst() }
}
