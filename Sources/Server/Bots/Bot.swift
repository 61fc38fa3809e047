public import Logging
import Wire

/// A simulated remote user, which speaks relay.v1 over one connection and has no other information.
///
/// Its memory is bounded: it keeps at most `Conversation.queueLimit` entries per joined room, joins
/// at most as many rooms as the relay allows, and forgets the rooms that it leaves: their position
/// can be read back from the log (`Recollection`).
public actor Bot {
  /// The maximum number of direct rooms that wait to be joined; rooms beyond it are added by the
  /// next `activity` in them.
  static let waitingLimit = 4096

  nonisolated let description: BotDescription
  nonisolated let log: Logger
  nonisolated let dice: Dice
  nonisolated let time: Timeline
  nonisolated let program: Program?
  private nonisolated let bots: Set<String>
  private nonisolated let roommates: [String: Int]
  private nonisolated let host: any BotHost
  private nonisolated let jobs: AsyncStream<Job>
  private nonisolated let jobStarter: AsyncStream<Job>.Continuation

  var conversations: [String: Conversation] = [:]
  /// Rooms to join, in this order; each is also in `conversations`, as `.waiting`.
  var waiting: [String] = []
  var isEnrolling = false
  var limits = ServerMessage.Welcome.Limits()
  /// The prefix of ids that are not an answer's, unique to this connection.
  var idPrefix = ""
  var idCount = 0
  /// The relay accepts no sends before this time.
  var heldUntil = Duration.zero
  private(set) var hasEnded = false
  /// Bounds the warnings that a program causes.
  private var warnings: LogQuota
  private var connection: (any BotConnection)?
  private var replies: [Request: CheckedContinuation<Reply, Never>] = [:]
  private var whenOnline: [CheckedContinuation<Void, Never>] = []
  private var eventCount: UInt64 = 0
  private var reconnectAfter = Duration.zero

  /// - Parameters:
  ///   - bots: the users of all bots, which are never answered.
  ///   - roommates: the number of bots configured for each room, including this one. With more than
  ///     50 of them `every` stays silent there, since the relay does not count users beyond that.
  public init(
    _ description: BotDescription, bots: Set<String>, roommates: [String: Int],
    host: any BotHost, clock: any Clock<Duration>, log: Logger
  ) {
    var log = log
    log[metadataKey: "user"] = "\(description.user)"
    self.description = description
    self.bots = bots.union([description.user])
    self.roommates = roommates
    self.host = host
    self.log = log
    time = Timeline(clock)
    warnings = LogQuota(now: time.now)
    dice = Dice(seed: description.seed ?? .random(in: 0 ... .max))
    program =
      description.behaviours.contains(.exec) && !description.command.isEmpty
      ? Program(description.command, time: time, log: log) : nil
    (jobs, jobStarter) = AsyncStream.makeStream()
  }

  /// Runs until the task is cancelled or the host shuts down, and reconnects if the connection is
  /// lost. Must be called once.
  public func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask {
        await self.stayConnected()
        self.jobStarter.finish()
      }
      if let program {
        group.addTask { await program.run { await self.deliver($0) } }
      }
      for await job in jobs {
        group.addTask { await self.perform(job) }
      }
      end()
      group.cancelAll()
    }
  }

  /// A task that runs beside the reading of the connection. One per kind and room at a time.
  enum Job: Sendable {
    case enrol
    case answer(room: String)
    case tick(room: String, ticker: UInt64)
  }

  func start(_ job: Job) { jobStarter.yield(job) }

  private func perform(_ job: Job) async {
    switch job {
    case .enrol: await enrol()
    case .answer(let room): await answer(in: room)
    case .tick(let room, let ticker): await tick(in: room, as: ticker)
    }
  }

  func isBot(_ user: String) -> Bool { bots.contains(user) }

  /// Returns the other user of a direct room; `nil` for any other room.
  nonisolated func peer(in room: String) -> String? {
    RoomName.peer(in: room, of: description.user)
  }

  /// Whether a user who is not a bot is subscribed to the room.
  func hasAudience(_ room: String) -> Bool {
    guard let conversation = conversations[room], conversation.phase == .following else {
      return false
    }
    if let peer = peer(in: room) { return !isBot(peer) && conversation.subscribers >= 2 }
    return conversation.subscribers > Int64(roommates[room] ?? 1)
  }

  func warn(_ text: Logger.Message, _ metadata: Logger.Metadata) {
    if warnings.admits(now: time.now) { log.warning(text, metadata: metadata) }
  }

  func touch(_ room: String) { conversations[room]?.lastActive = countEvent() }

  func countEvent() -> UInt64 {
    eventCount += 1
    return eventCount
  }
}

/// Requests to the relay and their replies.
extension Bot {
  enum Request: Hashable {
    case send(room: String, id: String)
    case join(room: String)
    case history(room: String)
  }

  enum Reply: Sendable {
    case ack(ServerMessage.Ack)
    case joined(ServerMessage.Joined)
    case history(ServerMessage.HistoryPage)
    case refused(WireError)
    /// The connection ended before the reply arrived.
    case cut
  }

  /// Sends a message that has no reply.
  func send(_ message: ClientMessage) { connection?.send(message) }

  /// Sends a message and waits for its reply.
  func reply(to message: ClientMessage, as request: Request) async -> Reply {
    guard let connection, !hasEnded else { return .cut }
    connection.send(message)
    return await withCheckedContinuation { waiting in
      precondition(replies[request] == nil, "\(request) is already in progress")
      replies[request] = waiting
    }
  }

  /// Waits for a connection.
  /// - Returns: `false` if the bot is shutting down.
  func isOnline() async -> Bool {
    while connection == nil, !hasEnded {
      await withCheckedContinuation { whenOnline.append($0) }
    }
    return !hasEnded
  }

  private func finish(_ request: Request, _ reply: Reply) {
    replies.removeValue(forKey: request)?.resume(returning: reply)
  }

  /// An error omits the room or id of its request if the relay could not parse it.
  private func refuse(_ error: WireError) {
    let refused = replies.keys.filter { request in
      switch request {
      case .send(let room, let id):
        error.re == .send && (error.room ?? room) == room && (error.id ?? id) == id
      case .join(let room): error.re == .join && (error.room ?? room) == room
      case .history(let room): error.re == .history && (error.room ?? room) == room
      }
    }
    if refused.isEmpty {
      log.warning(
        "The relay refused a request of a bot.",
        metadata: ["code": "\(error.code.rawValue)", "reason": "\(error.message)"])
    }
    for request in refused { finish(request, .refused(error)) }
  }

  private func welcome(_ welcome: ServerMessage.Welcome, on new: any BotConnection) {
    limits = welcome.limits
    idPrefix = "\(String(welcome.time, radix: 36))-\(welcome.session.prefix(32))"
    heldUntil = .zero
    reconnectAfter = .zero
    connection = new
    whenOnline.forEach { $0.resume() }
    whenOnline = []
    send(.rooms(.init()))
    enrolAgain()
  }

  /// Fails the requests of the lost connection; the conversations stay unchanged.
  private func cut() {
    connection = nil
    let cut = replies
    replies = [:]
    for reply in cut.values { reply.resume(returning: .cut) }
  }

  private func end() {
    hasEnded = true
    cut()
    whenOnline.forEach { $0.resume() }
    whenOnline = []
  }
}

/// The connection.
extension Bot {
  private static let reconnectDelays = Duration.milliseconds(100) ... .seconds(10)

  private func stayConnected() async {
    var attempt: Int64 = 0
    var jitter = dice.generator("reconnect", room: "", number: 0)
    while !Task.isCancelled, let new = await host.connect(as: description.user) {
      while let message = await new.receive() {
        if case .welcome(let welcome) = message {
          self.welcome(welcome, on: new)
          attempt = 0
        } else {
          receive(message)
        }
      }
      cut()
      let backOff = min(
        Self.reconnectDelays.upperBound, Self.reconnectDelays.lowerBound * (1 << min(attempt, 7)))
      attempt += 1
      let delay = max(reconnectAfter, jitter.duration(in: backOff / 2...backOff))
      guard (try? await time.sleep(delay)) != nil else { return }
    }
  }

  private func receive(_ message: ServerMessage) {
    switch message {
    case .rooms(let rooms, let next):
      receive(rooms)
      if let next {
        let most = ClientMessage.RoomsRequest.limits.upperBound
        send(.rooms(.init(cursor: next, limit: most)))
      }
    case .activity(let activity): receive(activity)
    case .joined(let joined):
      receive(joined)
      finish(.join(room: joined.room), .joined(joined))
    case .left(let room, _): left(room)
    case .message(let entry): receive(entry)
    case .subscribers(let room, let count):
      conversations[room]?.subscribers = count
      tickIfHeard(in: room)
    case .ack(let ack): finish(.send(room: ack.room, id: ack.id), .ack(ack))
    case .history(let page): finish(.history(room: page.room), .history(page))
    case .error(let error): refuse(error)
    case .closing(_, let delay): reconnectAfter = .milliseconds(delay)
    case .welcome, .renewed, .ok, .receipt, .typing, .people, .presence, .pong, .blocks, .reports:
      break
    }
  }
}
