import BasicContainers
import Wire

@testable import Relay

/// Drives shards and their log on one thread and one clock, for the tests of this module. A test
/// decides which of them has a turn; a shard has one only if there is an event, or if the shard itself
/// says that it has work.
///
/// `Gateway.ConnectionLoop` is the same layer in the relay, and this is not a copy of it: there are no
/// handshakes, frames, HTTP, timeouts or lingering here, only the calls of a turn, whose order is
/// `Shard`'s contract. In return, a test can look into a shard, and hold back the log, its reads and
/// the space of a socket. The simulation (Tests/Simulation) drives the `ConnectionLoop` itself.
final class SimulatedRelay {
  private var shards: UniqueArray<Shard>
  var loops: Int { shards.count }
  let budgets: Budgets<String>
  var sequencer: Sequencer
  var store = FaultyStore()
  var now = Moment(monotonic: 1000, wall: 1_763_650_000_000)
  private var inboxes: [[LogDelivery]]
  private var submitted: [(loop: Int, requests: [LogRequest])] = []
  private var reads: [(loop: Int, request: ReadRequest)] = []
  private var sockets: [[Int32: SimulatedSocket]]
  private var connections: Int32 = 0
  /// Everything that was ever durable.
  private(set) var log: [String: [Int64: Entry]] = [:]
  /// The maximum that was queued for any session.
  private(set) var mostQueuedBytes = 0
  /// The number of messages that were compressed.
  let compressions: Counter
  final class Counter { var count = 0 }
  /// Which rooms users have left for good at some time: "user room".
  var forgotten: Set<String> = []
  /// Held back as long as this is set, in tests that look at what happens meanwhile.
  var logIsHeld = false
  var readsAreHeld = false

  let lineage = Lineage([.init(number: 1, name: "first"), .init(number: 2, name: "second")])

  init(
    loops: Int = 1, keepEntriesPerRoom: Int64 = 0, roomsPerUser: Int = 0, seed: UInt64 = 1,
    _ configure: (inout Shard.Configuration) -> Void = { _ in }
  ) {
    var configuration = Shard.Configuration()
    configure(&configuration)
    store.memory.epoch = 2
    sequencer = Sequencer(
      lineage: lineage,
      keepEntriesPerRoom: keepEntriesPerRoom, roomsPerUser: roomsPerUser, loops: loops)
    let compressions = Counter()
    self.compressions = compressions
    let budgets = Budgets<String>(configuration.limits.budget)
    self.budgets = budgets
    shards = UniqueArray(minimumCapacity: loops)
    for loop in 0..<loops {
      shards.append(
        Shard(
          configuration: configuration, framing: SimulatedSocket.framing,
          compression: SimulatedSocket.compression { compressions.count += 1 }, budgets: budgets,
          epoch: "second", seed: seed &+ UInt64(loop)))
    }
    inboxes = Array(repeating: [], count: loops)
    sockets = Array(repeating: [:], count: loops)
  }

  /// Calls `body` with the shard of a loop.
  @discardableResult
  func shard<Result>(_ loop: Int = 0, _ body: (inout Shard) -> Result) -> Result {
    body(&shards[loop])
  }

  // MARK: - Connections

  /// Connects a client; with `nil` one that is not authenticated.
  func connect(_ user: String?, loop: Int = 0, compresses: Bool = false) -> SimulatedSocket {
    connections += 1
    let session = shards[loop].open(connection: connections, compresses: compresses, now: now)
    if let user { shards[loop].identify(session, as: user, now: now) }
    let socket = SimulatedSocket(loop: loop, connection: connections, session: session)
    sockets[loop][connections] = socket
    return socket
  }

  /// Ends a connection without a close frame.
  func disconnect(_ socket: SimulatedSocket) {
    guard socket.isOpen else { return }
    socket.isOpen = false
    sockets[socket.loop][socket.connection] = nil
    shards[socket.loop].close(socket.session)
  }

  func queuedBytes(_ socket: SimulatedSocket) -> Int {
    shards[socket.loop].queuedBytes(of: socket.session)
  }

  // MARK: - Pending work

  func hasEvent(_ loop: Int) -> Bool {
    if !inboxes[loop].isEmpty || shards[loop].hasWork { return true }
    if let deadline = shards[loop].nextDeadline, deadline <= now.monotonic { return true }
    return sockets[loop].values.contains {
      $0.isBlocked && $0.space > 0 || !$0.isPaused && !$0.input.isEmpty
    }
  }

  var logHasWork: Bool { !logIsHeld && !submitted.isEmpty }
  var readerHasWork: Bool { !readsAreHeld && !reads.isEmpty }

  /// Runs turns until there is no work left at this time.
  func run() {
    var steps = 0
    while true {
      steps += 1
      precondition(steps < 100_000, "the relay does not come to rest")
      if let loop = shards.indices.first(where: hasEvent) {
        turn(loop)
      } else if logHasWork {
        process()
      } else if readerHasWork {
        read()
      } else {
        return
      }
    }
  }

  /// Advances the clock, and runs what is due, to the millisecond.
  func run(forMilliseconds milliseconds: Int64) {
    let end = now.monotonic + milliseconds
    run()
    while let next = shards.indices.compactMap({ shards[$0].nextDeadline }).min(), next <= end {
      advance(max(0, next - now.monotonic))
      run()
    }
    advance(end - now.monotonic)
    run()
  }

  func advance(_ milliseconds: Int64) {
    now.monotonic += milliseconds
    now.wall += milliseconds
  }

  // MARK: - Turns

  /// One turn of a shard, in the order that the comment on `Shard` gives.
  func turn(_ loop: Int, deliveries: Int = .max, messages: Int = .max) {
    for _ in 0..<min(deliveries, inboxes[loop].count) {
      shards[loop].apply(inboxes[loop].removeFirst(), now: now)
    }
    for socket in open(loop) {
      if socket.isBlocked, socket.space > 0 {
        socket.isBlocked = false
        shards[loop].unblock(socket.session)
      }
      if !socket.isPaused { receive(socket, messages) }
    }
    shards[loop].tick(now: now)
    for closing in shards[loop].takeClosings() {
      guard let socket = sockets[loop][closing.connection] else { continue }
      shards[loop].append(
        frames: SimulatedSocket.closeFrame(closing.reason.rawValue), to: socket.session)
      socket.isClosing = true
    }
    if let requests = shards[loop].takeRequests(now: now) { submitted.append((loop, requests)) }
    let sockets = sockets[loop]
    shards[loop].flush(now: now) { connection, bytes in sockets[connection]?.write(bytes) ?? 0 }
    for request in shards[loop].takeReads() { reads.append((loop, request)) }
    for connection in shards[loop].takeResumable() {
      guard let socket = sockets[connection] else { continue }
      socket.isPaused = false
      receive(socket, messages)
    }
    for socket in open(loop) {
      mostQueuedBytes = max(mostQueuedBytes, queuedBytes(socket))
      if socket.isClosing, !shards[loop].hasOutput(socket.session) { disconnect(socket) }
    }
    // Far more often than a server has reason to.
    if !shards[loop].hasWork { shards[loop].shrink() }
  }

  private func open(_ loop: Int) -> [SimulatedSocket] {
    sockets[loop].values.sorted { $0.connection < $1.connection }
  }

  private func receive(_ socket: SimulatedSocket, _ limit: Int) {
    var left = limit
    while !socket.input.isEmpty, left > 0 {
      guard shards[socket.loop].mayReceive(socket.session, now: now) else {
        socket.isPaused = true
        return
      }
      let json = socket.next(at: now.monotonic)
      left -= 1
      shards[socket.loop].receive(socket.session, json.span, now: now)
    }
  }

  // MARK: - The log

  /// Passes everything that was submitted to the log, as one batch.
  @discardableResult
  func process() -> StoreFailure? {
    let batches = submitted
    submitted = []
    let outcome = sequencer.process(
      batches, store: &store, now: now.wall, framing: SimulatedSocket.framing)
    if let commit = outcome.commit {
      for index in 0..<commit.frames.count {
        let json = Array(commit.frames.payload(index))
        guard let entry = try? Entry(decoding: json.span) else {
          preconditionFailure("a commit holds entries")
        }
        log[entry.room, default: [:]][entry.seq] = entry
      }
    }
    for loop in shards.indices {
      let completes = batches.contains { $0.loop == loop }
      guard completes || outcome.commit != nil else { continue }
      inboxes[loop].append(
        LogDelivery(
          commit: outcome.commit, answers: outcome.answers[loop], completesSubmit: completes))
    }
    return outcome.failure
  }

  /// The log starts again: what was submitted is neither stored nor answered.
  func startAgain(in epoch: String) {
    let loops = submitted.map(\.loop)
    submitted = []
    for loop in shards.indices {
      inboxes[loop].append(
        LogDelivery(
          commit: nil, answers: [], completesSubmit: loops.contains(loop), newEpoch: epoch))
    }
  }

  /// Answers the oldest read.
  func read() {
    guard !reads.isEmpty else { return }
    let (loop, request) = reads.removeFirst()
    let answer = request.answer(from: &store, lineage, SimulatedSocket.framing)
    inboxes[loop].append(LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
  }

  func belongs(_ user: String, to room: String) -> Bool {
    sequencer.indices[room].map { sequencer.rooms[$0].members[user] != nil } ?? false
  }

  func head(_ room: String) -> Int64 { log[room]?.keys.max() ?? 0 }
}
