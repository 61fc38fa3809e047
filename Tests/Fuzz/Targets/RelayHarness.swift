import Hostile
import Relay
import ShardWorld
import Wire

/// A simulated relay with two shards, its clients, and the checks of what the shards send.
struct RelayHarness {
  /// The kind of a client.
  enum Arrival: Int {
    case socket
    /// Another connection of the last client's user.
    case device
    /// A session for one request, as over HTTP.
    case request
    /// Unauthenticated.
    case anonymous
  }

  /// An action that is repeated without end.
  enum Flood: Int {
    case edits, reactions, rooms, duplicates
  }

  struct Client {
    let socket: SimulatedSocket
    var user: String
    /// The last `seq` of each joined room.
    var cursors: [String: Int64] = [:]
    /// The last acknowledged entry of each room.
    var lastAck: [String: Int64] = [:]
    /// The number of answers due, and of those that came, by the type that they name.
    var due: [String: Int] = [:]
    var came: [String: Int] = [:]
  }

  /// As in the simulation: replies that are in flight when the queue is full, and notices of
  /// presence, receipts and typing.
  private static let queueSlackBytes = 45_056
  private static let loops = 2
  /// Requests that are answered once each, with the type in `re` if they are refused.
  private static let answered: Set<String> = [
    "send", "history", "rooms", "people", "ping", "auth", "",
  ]

  private(set) var clients: [Client] = []
  var grammar = HostileGrammar(
    name: "mallory",
    rooms: ["a", "b", "x", "dm:mallory:victim", "dm:ada:victim", "none"],
    users: ["mallory", "victim", "ada", "nobody"])
  private let relay: SimulatedRelay
  private let queueBytes: Int
  private var floodCount = 0
  /// Lookups of batches that could not be stored are repeated.
  private var lookupsToRetry = 0

  /// - Parameter choice: the limits.
  init(choice: UInt8) {
    queueBytes = choice & 2 == 0 ? 262_144 : 220_000
    relay = SimulatedRelay(
      loops: Self.loops, epochs: ["epoch-1"], keepEntriesPerRoom: choice & 64 == 0 ? 0 : 10
    ) { [queueBytes] configuration in
      if choice & 1 == 0 {
        configuration.limits.budget.sendsPerSecond = 0
        configuration.limits.budget.requestsPerSecond = 0
        configuration.limits.budget.bytesPerSecond = 0
      }
      configuration.limits.queueBytes = queueBytes
      configuration.limits.roomsPerConnection = choice & 4 == 0 ? 256 : 3
      configuration.tailBytes = choice & 8 == 0 ? 8_388_608 : 1000
      configuration.anyoneMayCreate = choice & 16 == 0
      configuration.listed = [("a", "A")]
      if choice & 32 != 0 { configuration.bots = [("echo.bot", "Echo"), ("ada", "On the list")] }
    }
    connect(.socket)
    connect(.socket)
  }

  // MARK: - Actions on it

  mutating func connect(_ arrival: Arrival) {
    guard clients.count < 12 else { return }
    let user =
      arrival == .device
      ? clients[clients.count - 1].user : ["mallory", "victim", "ada"][clients.count % 3]
    clients.append(
      Client(
        socket: relay.connect(
          arrival == .anonymous ? nil : user, loop: clients.count % Self.loops,
          isPresence: arrival != .request),
        user: user))
  }

  func disconnect(_ client: Int) { relay.disconnect(clients[client].socket) }

  /// Lets a socket accept nothing, or everything again.
  func toggleSocket(_ client: Int) {
    clients[client].socket.space = clients[client].isStuck ? .max : 0
  }

  func toggleDisk() { relay.log.store.failsCommits.toggle() }

  func advance(_ milliseconds: Int64) { relay.advance(milliseconds) }

  func setDirectory(count: Int) {
    let people = (0..<count).map { Person(user: "p\($0)", name: "Person \($0)") }
    let list = PeopleList(people, source: "fuzz", asOf: relay.now.wall)
    for loop in 0..<Self.loops {
      relay.shard(loop) { $0.update(people: DirectoryUpdate(people: list)) }
    }
  }

  func send(_ json: [UInt8], from client: Int) {
    let socket = clients[client].socket
    guard socket.isOpen else { return }
    socket.send(json)
    relay.receive(socket)
  }

  /// Counts the answers that are due.
  private mutating func countDue(_ client: Int) {
    for json in clients[client].socket.received {
      do throws(WireError) {
        let message = try ClientMessage(decoding: json.span, textLimitBytes: 8192)
        clients[client].due[message.type.rawValue, default: 0] += 1
      } catch {
        clients[client].due[error.type ?? "", default: 0] += 1
      }
    }
    clients[client].socket.received = []
  }

  // MARK: - Floods

  /// One text and everything that refers to it, and then everything that reads it.
  mutating func flood(_ flood: Flood, count: Int, page: Int) throws(FuzzFinding) {
    guard
      let client = clients.indices.first(where: {
        clients[$0].socket.isOpen && !clients[$0].isStuck
      })
    else { return }
    floodCount += 1
    let name = "f\(floodCount)"
    send(.send(.init(room: "x", id: name, text: "at first")), client)
    try finishTurns()
    let target = clients[client].lastAck["x"] ?? 1
    for number in 0..<count {
      let id = "\(name)/\(number)"
      switch flood {
      case .edits:
        send(.send(.init(room: "x", id: id, edit: target, text: "then \(number)")), client)
      case .reactions:
        let emoji = "\(number)" + String(repeating: "e", count: 58)
        send(.send(.init(room: "x", id: id, react: target, emoji: emoji, isOn: true)), client)
      case .rooms: send(.send(.init(room: "\(name)-\(number)", id: id, text: "mine")), client)
      case .duplicates: send(.send(.init(room: "x", id: name, text: "at first")), client)
      }
      if number % 64 == 63 { try finishTurns() }
    }
    try finishTurns()
    send(
      .send(.init(room: "x-2", id: "\(name)/f", forward: Forward(room: "x", seq: target))), client)
    try finishTurns()
    send(
      .history(.init(room: "x", before: target + 1, limit: page, isFolded: true)), client)
    send(.rooms(.init()), client)
    try finishTurns()
    if page < 3 {
      send(.send(.init(room: "x", id: "\(name)/d", delete: target)), client)
      try finishTurns()
    }
  }

  private func send(_ message: ClientMessage, _ client: Int) {
    send(message.json, from: client)
  }

  private mutating func finishTurns() throws(FuzzFinding) {
    for _ in 0..<3 { try turn() }
  }

  // MARK: - A turn

  /// Runs one turn of each loop, of the log and of its reading thread.
  mutating func turn() throws(FuzzFinding) {
    advance(5)
    for loop in 0..<Self.loops { relay.turn(loop) }
    for client in clients.indices {
      countDue(client)
      try take(client)
      // The relay ends it, and it does not take the last messages.
      if clients[client].socket.isClosing, clients[client].isStuck { disconnect(client) }
    }
    try expect(
      relay.mostQueuedBytes <= queueBytes + Self.queueSlackBytes,
      "\(relay.mostQueuedBytes) bytes are queued for one client")
    while let request = relay.read() { try check(request) }
    if !relay.submitted.isEmpty { try commit() }
  }

  /// Checks the work for a request that was answered.
  private func check(_ request: ReadRequest) throws(FuzzFinding) {
    let work = relay.log.reading.take()
    guard case .history(_, let history, _, _, _, _) = request else { return }
    try expect(
      work.changes <= history.limit * Bound.changesPerFoldedEntry,
      "\(work.changes) changes are read to fold \(history.limit) entries")
  }

  private mutating func commit() throws(FuzzFinding) {
    let requests = relay.submitted.reduce(0) { $0 + $1.requests.count }
    let outcome = relay.process()
    let work = relay.log.store.meter.take()
    var most = requests * Bound.lookupsPerRequest
    for answer in outcome.answers.joined() {
      guard case .memberships(_, _, let rooms, _, _) = answer else { continue }
      most += 2 * Bound.roomsPerPage
      try expect(rooms.count <= Bound.roomsPerPage, "a request for rooms lists \(rooms.count)")
    }
    // Messages that could not be stored are read again later.
    try expect(
      work.lookups <= most + work.runs + lookupsToRetry,
      "\(work.lookups) lookups are made for \(requests) requests")
    lookupsToRetry = outcome.failure == nil ? 0 : lookupsToRetry + most
  }

  // MARK: - Messages of the relay

  private mutating func take(_ client: Int) throws(FuzzFinding) {
    let socket = clients[client].socket
    try expect(
      socket.longestMessageBytes <= Bound.replyBytes + Bound.replySlackBytes,
      "a message has \(socket.longestMessageBytes) bytes")
    if let garbage = socket.garbage.first {
      throw FuzzFinding(description: "no client can read \(garbage.prefix(300))")
    }
    try expect(!socket.saidMoreAfterClose, "a message comes after the close frame")
    for message in socket.take() { try take(message, client) }
  }

  private mutating func take(_ message: ServerMessage, _ client: Int) throws(FuzzFinding) {
    switch message {
    case .joined(let joined): clients[client].cursors[joined.room] = joined.after
    case .left(let room, _): clients[client].cursors[room] = nil
    case .message(let entry):
      guard let cursor = clients[client].cursors[entry.room] else {
        throw FuzzFinding(description: "an entry of \(entry.room), which is not joined")
      }
      try expect(entry.seq == cursor + 1, "\(entry.room) \(entry.seq) comes after \(cursor)")
      clients[client].cursors[entry.room] = entry.seq
    case .ack(let ack):
      clients[client].lastAck[ack.room] = ack.seq
      clients[client].came["send", default: 0] += 1
    case .history: clients[client].came["history", default: 0] += 1
    case .rooms: clients[client].came["rooms", default: 0] += 1
    case .people(let page):
      clients[client].came["people", default: 0] += 1
      if let next = page.next { grammar.cursors.append(next) }
    case .pong: clients[client].came["ping", default: 0] += 1
    case .error(let error): clients[client].came[error.type ?? "", default: 0] += 1
    default: break
    }
  }

  // MARK: - End of the run

  /// Repairs everything; then every request must have been answered.
  mutating func finish() throws(FuzzFinding) {
    relay.log.store.failsCommits = false
    for client in clients { client.socket.space = .max }
    // Long enough for one user to send three floods of 2,000 at 20 a second.
    for _ in 0..<1000 {
      advance(500)
      try turn()
      if relay.isIdle, clients.allSatisfy({ !$0.socket.isOpen || $0.socket.input.isEmpty }) {
        break
      }
    }
    for client in clients where client.socket.isOpen {
      try expect(
        client.socket.input.isEmpty, "\(client.socket.input.count) messages are never received")
      for type in Self.answered.sorted() where client.due[type] ?? 0 > client.came[type] ?? 0 {
        throw FuzzFinding(
          description:
            "\(client.due[type] ?? 0) of \(type) were asked, \(client.came[type] ?? 0) answered")
      }
    }
  }
}

extension RelayHarness.Client {
  /// Whether its socket accepts nothing.
  fileprivate var isStuck: Bool { socket.space == 0 }
}
