internal import BasicContainers
public import Relay
internal import Wire

/// Drives shards and their log on one thread and one clock, for the tests of `Relay` and for the
/// fuzzer. Its owner decides which of them has a turn; a shard has one only if there is an event, or if
/// the shard itself says that it has work.
///
/// `Gateway.ConnectionLoop` is the same layer in the relay, and this is not a copy of it: there are no
/// handshakes, frames, HTTP, timeouts or lingering here, only the calls of a turn, whose order is
/// `Shard`'s contract. In return, a test can look into a shard, and hold back the log, its reads and
/// the space of a socket. The simulation (Tests/Simulation) drives the `ConnectionLoop` itself, over the
/// same `SteppedLog`.
public final class SimulatedRelay {
  private var shards: UniqueArray<Shard>
  public var loops: Int { shards.count }
  public let budgets: Budgets<String>
  public let log: SteppedLog<MemoryStore>
  public var now = Moment(monotonic: 1000, wall: 1_763_650_000_000)
  private var inboxes: [[LogDelivery]]
  /// What the log has not processed yet.
  public private(set) var submitted: [(loop: Int, requests: [LogRequest])] = []
  private var reads: [(loop: Int, request: ReadRequest)] = []
  private var sockets: [[Int32: SimulatedSocket]]
  private var connections: Int32 = 0
  /// The maximum that was queued for any session.
  public private(set) var mostQueuedBytes = 0
  /// The number of messages that were compressed.
  public private(set) var compressions = 0
  /// Held back as long as this is set, in tests that look at what happens meanwhile.
  public var logIsHeld = false
  public var readsAreHeld = false

  /// - Parameter epochs: those of the log; the last one is the current one.
  public init(
    loops: Int = 1, epochs: [String] = ["first", "second"], keepEntriesPerRoom: Int64 = 0,
    roomsPerUser: Int = 0, seed: UInt64 = 1,
    _ configure: (inout Shard.Configuration) -> Void = { _ in }
  ) {
    var configuration = Shard.Configuration()
    configure(&configuration)
    var store = MemoryStore()
    store.epoch = Int64(epochs.count)
    let lineage = Lineage(
      epochs.enumerated().map { .init(number: Int64($0.offset + 1), name: $0.element) })
    log = SteppedLog(
      store, lineage: lineage, keepEntriesPerRoom: keepEntriesPerRoom, roomsPerUser: roomsPerUser,
      loops: loops,
      framing: SimulatedSocket.framing)
    budgets = Budgets<String>(configuration.limits.budget)
    inboxes = Array(repeating: [], count: loops)
    sockets = Array(repeating: [:], count: loops)
    shards = UniqueArray(minimumCapacity: loops)
    let compression = SimulatedSocket.compression { [unowned self] in compressions += 1 }
    for loop in 0..<loops {
      shards.append(
        Shard(
          configuration: configuration, framing: SimulatedSocket.framing, compression: compression,
          budgets: budgets, epoch: lineage.current.name, seed: seed &+ UInt64(loop)))
    }
  }

  /// Calls `body` with the shard of a loop.
  @discardableResult
  public func shard<Result>(_ loop: Int = 0, _ body: (inout Shard) -> Result) -> Result {
    body(&shards[loop])
  }

  // MARK: - Connections

  /// Connects a client; with `nil` one that is not authenticated.
  /// - Parameter isPresence: whether the user is online by it; if not, it is for one request.
  public func connect(
    _ user: String?, loop: Int = 0, compresses: Bool = false, isPresence: Bool = true
  ) -> SimulatedSocket {
    connections += 1
    let session = shards[loop].open(connection: connections, compresses: compresses, now: now)
    if let user { shards[loop].identify(session, as: user, isPresence: isPresence, now: now) }
    let socket = SimulatedSocket(loop: loop, connection: connections, session: session)
    sockets[loop][connections] = socket
    return socket
  }

  /// Ends a connection without a close frame.
  public func disconnect(_ socket: SimulatedSocket) {
    guard socket.isOpen else { return }
    socket.isOpen = false
    sockets[socket.loop][socket.connection] = nil
    shards[socket.loop].close(socket.session)
  }

  public func queuedBytes(_ socket: SimulatedSocket) -> Int {
    shards[socket.loop].queuedBytes(of: socket.session)
  }

  // MARK: - Pending work

  private func hasEvent(_ loop: Int) -> Bool {
    if !inboxes[loop].isEmpty || shards[loop].hasWork { return true }
    if let deadline = shards[loop].nextDeadline, deadline <= now.monotonic { return true }
    return sockets[loop].values.contains {
      $0.isBlocked && $0.space > 0 || !$0.isPaused && !$0.input.isEmpty
    }
  }

  /// Whether neither a shard nor the log has anything to do.
  public var isIdle: Bool {
    submitted.isEmpty && reads.isEmpty && inboxes.allSatisfy(\.isEmpty)
      && shards.indices.allSatisfy { !shards[$0].hasWork }
  }

  /// Runs turns until there is no work left at this time.
  public func run() {
    var steps = 0
    while true {
      steps += 1
      precondition(steps < 100_000, "the relay does not come to rest")
      if let loop = shards.indices.first(where: hasEvent) {
        turn(loop)
      } else if !logIsHeld, !submitted.isEmpty {
        process()
      } else if readsAreHeld || read() == nil {
        return
      }
    }
  }

  /// Advances the clock, and runs what is due, to the millisecond.
  public func run(forMilliseconds milliseconds: Int64) {
    let end = now.monotonic + milliseconds
    run()
    while let next = shards.indices.compactMap({ shards[$0].nextDeadline }).min(), next <= end {
      advance(max(0, next - now.monotonic))
      run()
    }
    advance(end - now.monotonic)
    run()
  }

  public func advance(_ milliseconds: Int64) {
    now.monotonic += milliseconds
    now.wall += milliseconds
  }

  // MARK: - Turns

  /// One turn of a shard, in the order that the comment on `Shard` gives.
  public func turn(_ loop: Int) {
    for delivery in inboxes[loop] { shards[loop].apply(delivery, now: now) }
    inboxes[loop] = []
    for socket in open(loop) {
      if socket.isBlocked, socket.space > 0 {
        socket.isBlocked = false
        shards[loop].unblock(socket.session)
      }
      receive(socket)
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
      receive(socket)
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

  /// Passes on the messages of a client that the shard takes now.
  public func receive(_ socket: SimulatedSocket) {
    while socket.isOpen, !socket.isPaused, !socket.input.isEmpty {
      guard shards[socket.loop].mayReceive(socket.session, now: now) else {
        socket.isPaused = true
        if shards[socket.loop].hasOutput(socket.session) { socket.pausesWithOutput += 1 }
        return
      }
      let json = socket.input.removeFirst()
      if shards[socket.loop].isAuthenticated(socket.session) { socket.received.append(json) }
      shards[socket.loop].receive(socket.session, json.span, now: now)
    }
  }

  // MARK: - The log

  /// Passes everything that was submitted to the log, as one batch.
  @discardableResult
  public func process(trimming trims: [RoomTrim] = []) -> Sequencer.Outcome {
    let submitters = Set(submitted.map(\.loop))
    let outcome = log.process(submitted, trimming: trims, now: now.wall)
    submitted = []
    for (loop, delivery) in outcome.deliveries(completing: submitters) {
      inboxes[loop].append(delivery)
    }
    return outcome
  }

  /// The log starts again: what was submitted is neither stored nor answered.
  public func startAgain(in epoch: String) {
    let loops = submitted.map(\.loop)
    submitted = []
    for loop in shards.indices {
      inboxes[loop].append(
        LogDelivery(
          commit: nil, answers: [], completesSubmit: loops.contains(loop), newEpoch: epoch))
    }
  }

  /// Answers the oldest read, and returns it.
  @discardableResult
  public func read() -> ReadRequest? {
    guard !reads.isEmpty else { return nil }
    let (loop, request) = reads.removeFirst()
    let answer = log.answer(request, from: log.store.base, fails: log.store.failsReads)
    inboxes[loop].append(LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
    return request
  }

  /// Returns the last `seq` of a room; 0 if there is none.
  public func head(_ room: String) -> Int64 {
    ((try? log.store.base.room(room)) ?? nil)?.head ?? 0
  }
}
