import BasicContainers
import Hostile
import Relay
import Wire

/// Two shards, a sequencer and a store, assembled as in the server but without threads and
/// sockets; and the checks of what the shards send.
struct RelayHarness: ~Copyable {
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
    var loop: Int
    var session: SessionID
    var user: String
    var isOpen = true
    /// The relay ends it, and sends its last messages.
    var isClosing = false
    /// The socket accepts nothing.
    var isStuck = false
    /// Messages that the relay has not read yet, oldest first.
    var waiting: [[UInt8]] = []
    /// The bytes of an incomplete frame.
    var bytes: [UInt8] = []
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
  var isDiskFull = false
  private var shards: UniqueArray<Shard>
  private var inboxes: [[LogDelivery]] = Array(repeating: [], count: loops)
  private var sequencer: Sequencer
  private var store: CountingStore<MemoryStore>
  private let reading = WorkMeter()
  private var now = Moment(monotonic: 1000, wall: 1_763_650_000_000)
  private let queueBytes: Int
  private var floodCount = 0
  /// Lookups of batches that could not be stored are repeated.
  private var lookupsToRetry = 0
  private let framing: Framing
  private let lineage = Lineage([.init(number: 1, name: "epoch-1")])

  /// - Parameter choice: the limits.
  init(choice: UInt8) {
    var configuration = Shard.Configuration()
    if choice & 1 == 0 {
      configuration.limits.budget.sendsPerSecond = 0
      configuration.limits.budget.requestsPerSecond = 0
      configuration.limits.budget.bytesPerSecond = 0
    }
    configuration.limits.queueBytes = choice & 2 == 0 ? 262_144 : 220_000
    configuration.limits.roomsPerConnection = choice & 4 == 0 ? 256 : 3
    configuration.tailBytes = choice & 8 == 0 ? 8_388_608 : 1000
    configuration.anyoneMayCreate = choice & 16 == 0
    configuration.listed = [("a", "A")]
    if choice & 32 != 0 { configuration.bots = [("echo.bot", "Echo"), ("ada", "On the list")] }
    queueBytes = configuration.limits.queueBytes
    let framing = Framing { count, frames in
      for shift in [24, 16, 8, 0] { frames.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }
    let budgets = Budgets<String>(configuration.limits.budget)
    shards = UniqueArray(minimumCapacity: Self.loops)
    for loop in 0..<Self.loops {
      shards.append(
        Shard(
          configuration: configuration, framing: framing, budgets: budgets, epoch: "epoch-1",
          seed: UInt64(loop)))
    }
    self.framing = framing
    sequencer = Sequencer(
      lineage: lineage,
      keepEntriesPerRoom: choice & 64 == 0 ? 0 : 10, loops: Self.loops)
    store = CountingStore(MemoryStore(), WorkMeter())
    connect(.socket)
    connect(.socket)
  }

  // MARK: - Actions on it

  mutating func connect(_ arrival: Arrival) {
    guard clients.count < 12 else { return }
    let user =
      arrival == .device
      ? clients[clients.count - 1].user : ["mallory", "victim", "ada"][clients.count % 3]
    let loop = clients.count % Self.loops
    let session = shards[loop].open(connection: Int32(clients.count), now: now)
    clients.append(Client(loop: loop, session: session, user: user))
    if arrival != .anonymous {
      shards[loop].identify(session, as: user, isPresence: arrival != .request, now: now)
    }
  }

  mutating func disconnect(_ client: Int) {
    guard clients[client].isOpen else { return }
    clients[client].isOpen = false
    clients[client].waiting = []
    shards[clients[client].loop].close(clients[client].session)
  }

  mutating func toggleSocket(_ client: Int) {
    clients[client].isStuck.toggle()
    if !clients[client].isStuck { shards[clients[client].loop].unblock(clients[client].session) }
  }

  mutating func pass(milliseconds: Int64) {
    now.monotonic += milliseconds
    now.wall += milliseconds
  }

  mutating func setDirectory(count: Int) {
    let people = (0..<count).map { Person(user: "p\($0)", name: "Person \($0)") }
    let list = PeopleList(people, source: "fuzz", asOf: now.wall)
    for loop in shards.indices {
      shards[loop].update(people: DirectoryUpdate(people: list))
    }
  }

  mutating func send(_ json: [UInt8], from client: Int) {
    guard clients[client].isOpen else { return }
    clients[client].waiting.append(json)
    deliver(client)
  }

  /// Passes on what the relay reads.
  private mutating func deliver(_ client: Int) {
    let (loop, session) = (clients[client].loop, clients[client].session)
    while clients[client].isOpen, !clients[client].waiting.isEmpty,
      shards[loop].mayReceive(session, now: now)
    {
      let json = clients[client].waiting.removeFirst()
      if shards[loop].isAuthenticated(session) { observe(json, client) }
      shards[loop].receive(session, json.span, now: now)
    }
  }

  /// Counts the answers that are due.
  private mutating func observe(_ json: [UInt8], _ client: Int) {
    do throws(WireError) {
      let message = try ClientMessage(decoding: json.span, textLimitBytes: 8192)
      clients[client].due[message.type.rawValue, default: 0] += 1
    } catch {
      clients[client].due[error.type ?? "", default: 0] += 1
    }
  }

  // MARK: - Floods

  /// One text and everything that refers to it, and then everything that reads it.
  mutating func flood(_ flood: Flood, count: Int, page: Int) throws(FuzzFinding) {
    guard let client = clients.indices.first(where: { clients[$0].isOpen && !clients[$0].isStuck })
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

  private mutating func send(_ message: ClientMessage, _ client: Int) {
    send(message.json, from: client)
  }

  private mutating func finishTurns() throws(FuzzFinding) {
    for _ in 0..<3 { try turn() }
  }

  // MARK: - A turn

  /// Runs one turn of each loop, of the log and of its reading thread.
  mutating func turn() throws(FuzzFinding) {
    pass(milliseconds: 5)
    var reads: [(loop: Int, ReadRequest)] = []
    var batches: [(loop: Int, requests: [LogRequest])] = []
    for loop in shards.indices {
      let deliveries = inboxes[loop]
      inboxes[loop] = []
      for delivery in deliveries { shards[loop].apply(delivery, now: now) }
      for client in clients.indices where clients[client].loop == loop { deliver(client) }
      shards[loop].tick(now: now)
      for closing in shards[loop].takeClosings() { close(Int(closing.connection)) }
      if let requests = shards[loop].takeRequests(now: now) { batches.append((loop, requests)) }
      var written: [(client: Int, bytes: [UInt8])] = []
      let stuck = clients.map(\.isStuck)
      shards[loop].flush(now: now) { connection, bytes in
        if stuck[Int(connection)] { return 0 }
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in 0..<bytes.count { copy.append(bytes[index]) }
        written.append((Int(connection), copy))
        return bytes.count
      }
      for (client, bytes) in written { try take(bytes, client) }
      for request in shards[loop].takeReads() { reads.append((loop, request)) }
      for connection in shards[loop].takeResumable() { deliver(Int(connection)) }
      for client in clients where client.loop == loop && client.isOpen {
        let queued = shards[loop].queuedBytes(of: client.session)
        try expect(
          queued <= queueBytes + Self.queueSlackBytes, "\(queued) bytes are queued for one client")
      }
      // A session that the relay ends sends its last messages, and is removed.
      for client in clients.indices where clients[client].loop == loop && clients[client].isClosing
      {
        if !shards[loop].hasOutput(clients[client].session) || clients[client].isStuck {
          disconnect(client)
        }
      }
    }
    for (loop, request) in reads { try answer(request, loop) }
    if !batches.isEmpty { try commit(batches) }
  }

  private mutating func close(_ client: Int) {
    clients[client].isClosing = true
    shards[clients[client].loop].beginClosing(clients[client].session)
  }

  private mutating func answer(_ request: ReadRequest, _ loop: Int) throws(FuzzFinding) {
    var reader = CountingReader(store.base, reading)
    let answer = request.answer(from: &reader, lineage, framing)
    let work = reading.take()
    if case .history(_, let history, _, _, _) = request {
      let most = history.limit * Bound.changesPerFoldedEntry
      try expect(
        work.changes <= most, "\(work.changes) changes are read to fold \(history.limit) entries")
    }
    inboxes[loop].append(LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
  }

  private mutating func commit(
    _ batches: [(loop: Int, requests: [LogRequest])]
  ) throws(FuzzFinding) {
    store.isFull = isDiskFull
    let outcome = sequencer.process(batches, store: &store, now: now.wall, framing: framing)
    let work = store.meter.take()
    let requests = batches.reduce(0) { $0 + $1.requests.count }
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
    for loop in shards.indices {
      let completes = batches.contains { $0.loop == loop }
      guard completes || outcome.commit != nil || !outcome.answers[loop].isEmpty else { continue }
      inboxes[loop].append(
        LogDelivery(
          commit: outcome.commit, answers: outcome.answers[loop], completesSubmit: completes))
    }
  }

  // MARK: - Messages of the relay

  private mutating func take(_ bytes: [UInt8], _ client: Int) throws(FuzzFinding) {
    clients[client].bytes += bytes
    var start = 0
    let all = clients[client].bytes
    while all.count - start >= 4 {
      let count = all[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
      guard all.count - start - 4 >= count else { break }
      let json = Array(all[start + 4..<start + 4 + count])
      start += 4 + count
      try expect(
        json.count <= Bound.replyBytes + Bound.replySlackBytes, "a message has \(json.count) bytes")
      guard let message = try? ServerMessage(decoding: json.span) else {
        throw FuzzFinding(
          description: "no client can read \(String(decoding: json.prefix(300), as: UTF8.self))")
      }
      try take(message, client)
    }
    clients[client].bytes.removeFirst(start)
  }

  private mutating func take(_ message: ServerMessage, _ client: Int) throws(FuzzFinding) {
    switch message {
    case .joined(let joined): clients[client].cursors[joined.room] = joined.after
    case .left(let room): clients[client].cursors[room] = nil
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
    isDiskFull = false
    for client in clients.indices where clients[client].isStuck { toggleSocket(client) }
    // Long enough for one user to send three floods of 2,000 at 20 a second.
    for _ in 0..<1000 {
      pass(milliseconds: 500)
      try turn()
      if !shards.indices.contains(where: { shards[$0].hasWork }), inboxes.allSatisfy(\.isEmpty),
        clients.allSatisfy(\.waiting.isEmpty)
      {
        break
      }
    }
    for client in clients where client.isOpen {
      try expect(client.waiting.isEmpty, "\(client.waiting.count) messages are never received")
      for type in Self.answered.sorted() where client.due[type] ?? 0 > client.came[type] ?? 0 {
        throw FuzzFinding(
          description:
            "\(client.due[type] ?? 0) of \(type) were asked, \(client.came[type] ?? 0) answered")
      }
    }
  }
}
