import DequeModule
import HeapModule
import Mixing
import Synchronization
public import Wire

/// The state of one event loop: its sessions, their cursors, and what these sessions need of the
/// rooms. Confined to the loop's thread; has no clock and no descriptor.
///
/// In each turn, the loop passes the log's deliveries to `apply` and input to `receive`. It ends the
/// turn by `tick`, `takeClosings`, `takeRequests` (for the log), `flush` (which writes at most once
/// per socket), `takeReads` (for the log) and `takeResumable`, in this order.
///
/// The parts, which know nothing of each other: `Sessions`, `Rooms` and `Subscriptions` (the
/// cursors), `LogQueue`, `Turn` (the fan-out), `RecentCommits`, and the features, which see the shard
/// as an `Audience`.
public struct Shard: ~Copyable {
  /// The limits of a client; 0 = no limit.
  public struct Limits: Equatable, Sendable {
    /// The size of a client's frame, of a whole message, and of its inflated form.
    public var frameBytes = 65_536
    /// The size of an entry's `text`, in UTF-8.
    public var textBytes = 8192
    /// The size of a file; `nil` = the relay keeps no files.
    public var fileBytes: Int?
    /// The number of rooms joined by one connection.
    public var roomsPerConnection = 256
    /// The limits of a user, over all connections.
    public var budget = UserBudget.Limits()
    /// Output queued for one socket; beyond it the client is lagging and catches up from the log.
    public var queueBytes = 262_144
    /// The number of keys of ephemeral messages that may wait for a client that does not read; others
    /// are dropped. Their next change, or the next join, informs the client again.
    package var waitingKeys = 512
    /// The number of waiting keys from which on typing is dropped: the users of a room can make any
    /// number of such keys, and must not displace what the client needs.
    package var waitingTypingKeys: Int { waitingKeys / 4 }
    /// The number of keys of presence that may wait as well while the socket takes bytes: as many users
    /// as a session watches may change in one turn.
    package var waitingPresenceKeys = WatchedUsers.limitPerSession
    /// The relay pings a connection that is silent for this long.
    public var heartbeatSeconds = 25
    public init() {}
  }

  public struct Configuration: Sendable {
    public var limits = Limits()
    /// The users that `people` lists after the directory, the same for all loops; `nil` = none.
    public var seen: SeenPeople?
    /// Name and version in `welcome`.
    public var server = "relay"
    /// The blocks between users when the log starts.
    public var blocks = BlockTable()
    /// Whether a direct room of a user who is not known to the other one is a request.
    public var asksStrangers = false
    /// The services by which users sign in who know each other: those of one company or organization.
    public var commonIssuers: Set<String> = []
    /// Whether clients may create rooms that are not listed.
    public var anyoneMayCreate = true
    public var listed: [(room: String, title: String)] = []
    /// The configured bots, which `people` lists.
    public var bots: [(user: String, name: String)] = []
    /// The size of the recent entries in memory, of all rooms together.
    public var tailBytes = 8_388_608
    /// Whether committed entries wait once for those of their room that the log is working on.
    public var holds = true
    /// A room's next fan-out waits as long as the last one took, at most this long; 0 = never.
    public var pacingMilliseconds = 5
    /// Returns the identity that a token gives at a time in milliseconds since 1970; throws
    /// `unauthorized`, `token_expired` or `forbidden`. `nil` if the relay does not use tokens: then
    /// only `identify` tells who a client is. Returns `nil` if that takes longer than a lookup in
    /// memory: then the session's input waits for `finishVerification`; see `takeUnverified`.
    public var verifyToken:
      (@Sendable (_ token: String, _ wall: Int64) throws(WireError) -> Identity?)?
    /// Whether a user whose token was verified is an operator of the relay.
    public var isOperator: @Sendable (Identity) -> Bool = { $0.isOperator }
    public init() {}
  }

  /// The most that catching up and replies from storage add to a connection's queue at once.
  package static let pageBytes = 65_536
  /// The largest `history` or `rooms`.
  static let replyBytes = 131_072

  let configuration: Configuration
  let diagnostics: Diagnostics
  var epoch: String
  let listedTitles: [String: String]
  var random: SplitMix64

  // Connections, rooms and cursors.
  var sessions = Sessions()
  var rooms = Rooms()
  var subscriptions = Subscriptions()
  var recent: RecentCommits

  // To the log.
  var log = LogQueue()
  var reads: [ReadRequest] = []

  // To the sockets.
  var turn = Turn()
  let paceLimits: Pace.Limits
  var writeCost = WriteCost()
  var encoder: FrameEncoder
  var spareBuffers = SpareBuffers()
  /// The sessions that the end of the turn flushes.
  var dirty: [Slot<Session>] = []
  /// Connections to close when their queues have been written.
  var closings: [Closing] = []

  // From the sockets.
  let budgets: Budgets<String>
  /// When the slowed sessions of users are checked, in milliseconds of the monotonic clock.
  var slowedUsers: [String: Int64] = [:]
  var slowdowns = Slowdowns()
  /// Sessions that wait until the log takes the requests that have gathered.
  var congested: [SessionID] = []
  /// Connections whose input may be read again.
  var resumable: [Int32] = []
  /// Tokens of this turn whose verification takes time.
  var unverified: [UnverifiedToken] = []

  /// Those of the last commits, for the owner.
  var bans = BanNews()
  /// Users whose last session on this loop has ended in this turn.
  var departures: [String] = []

  // Features, each with a state of its own: see `Audience`.
  let typing = Typing()
  let receipts = Receipts()
  let blocks: Blocks
  let reports = Reports()
  let subscriberCounts = SubscriberCounts()
  let presenceNews = PresenceNews()
  let people: People
  let roomLists: RoomLists
  let polls = Polls()
  let traces = Traces()
  let files = Files()
  /// All of them, for what every turn asks of each.
  let features:
    FeatureSet<
      Typing, Receipts, SubscriberCounts, PresenceNews, People, RoomLists, Polls, Blocks, Reports
    >

  var timers = Heap<ShardTimer>()

  /// A type that has an atomic is always passed by its address. Without one, each call of a method
  /// that does not change the shard copies all of it, 1.5 KB, to the stack.
  private let passedByAddress = Atomic(false)

  /// Which tokens are still accepted; `nil` until that changes at runtime.
  var tokenRule: TokenRule?
  var isShuttingDown = false
  public var counters = ShardCounters()

  /// A connection that the relay closes.
  public struct Closing: Sendable {
    public var connection: Int32
    /// The connection's session: the owner may have removed it since, and may use its name for another
    /// connection.
    public var session: SessionID
    public var reason: CloseReason
    public var text: String
    /// The reason as the client was told before; as the text if it was told nothing.
    public var detail: String
  }

  /// - Parameters:
  ///   - compression: for the sessions that are opened with it; `nil` = for none.
  ///   - budgets: the users' budgets, which all loops share; `nil` if there is one loop.
  ///   - epoch: of the log.
  ///   - seed: of session names and of jitter.
  public init(
    configuration: Configuration, framing: Framing, compression: Compression? = nil,
    budgets: Budgets<String>? = nil, epoch: String, seed: UInt64,
    diagnostics: Diagnostics = Diagnostics()
  ) {
    self.configuration = configuration
    self.diagnostics = diagnostics
    self.budgets = budgets ?? Budgets(configuration.limits.budget)
    self.epoch = epoch
    random = SplitMix64(seed: seed)
    encoder = FrameEncoder(framing, compression)
    recent = RecentCommits(limitBytes: configuration.tailBytes)
    blocks = Blocks(configuration.blocks)
    people = People(
      bots: configuration.bots, seen: configuration.seen, presence: presenceNews)
    listedTitles = Dictionary(
      configuration.listed.map { ($0.room, $0.title) }, uniquingKeysWith: { first, _ in first })
    roomLists = RoomLists(
      listed: configuration.listed, titles: listedTitles, people: people, presence: presenceNews,
      seed: ~seed)
    features = FeatureSet(
      typing, receipts, subscriberCounts, presenceNews, people, roomLists, polls, blocks, reports)
    paceLimits = Pace.Limits(
      hold: configuration.holds,
      pacingMicroseconds: Int64(configuration.pacingMilliseconds) * 1000)
  }

  // MARK: - Sessions

  /// Opens a session. Nothing is sent until the client is authenticated.
  /// - Parameters:
  ///   - connection: the name of the connection for `flush` and the lists of this shard.
  ///   - compresses: whether it takes compressed messages.
  public mutating func open(
    connection: Int32, compresses: Bool = false, now: Moment
  ) -> SessionID {
    var session = Session(connection: connection)
    session.compresses = compresses && encoder.compression != nil
    // Not nested: the call would read `sessions` before the insertion.
    let slot = sessions.insert(session)
    return sessions.id(of: slot)
  }

  /// Ends a session whose connection is closed, or needs nothing more.
  public mutating func close(_ id: SessionID) {
    guard isCurrent(id) else { return }
    let session = id.slot
    endSubscriptions(of: session)
    features.end(session, in: &self)
    let user = sessions[session].user
    if let budget = sessions[session].budget {
      budgets.disconnect(budget, rank: sessions[session].rank)
    }
    if let (budget, rank) = sessions[session].extras?.connection {
      budgets.disconnect(budget, rank: rank)
    }
    sessions.remove(session)
    if !user.isEmpty { updatePresence(of: user) }
  }

  private mutating func endSubscriptions(of session: Slot<Session>) {
    while let first = sessions[session].firstSubscription.slot { end(first, tellLog: true) }
  }

  /// Calls `body` with every session of a user.
  mutating func forEachSession(
    of user: String, _ body: (inout Shard, Slot<Session>) -> Void
  ) {
    var next = sessions.first(of: user)
    while let session = next {
      next = sessions[session].nextOfUser.slot
      body(&self, session)
    }
  }

  package func isCurrent(_ id: SessionID) -> Bool { sessions.contains(id) }

  /// Whether the session is open and not closing: it takes messages, and may be sent some.
  package func isActive(_ id: SessionID) -> Bool { isCurrent(id) && !sessions[id.slot].isClosing }

  // MARK: - Closing

  /// Ends a session with a close frame, and with an `error` before it if there is one.
  mutating func end(
    _ session: Slot<Session>, _ error: WireError?, _ reason: CloseReason, _ text: String
  ) {
    guard !sessions[session].isClosing else { return }
    if let error { reply(.error(error), to: session) }
    silence(session)
    closings.append(
      Closing(
        connection: sessions[session].connection, session: sessions.id(of: session),
        reason: reason, text: text, detail: error?.message ?? text))
  }

  /// Nothing may follow the close frame.
  private mutating func silence(_ session: Slot<Session>) {
    sessions[session].isClosing = true
    stopWaiting(session)
    sessions[session].extras?.ephemera = LatestQueue()
    sessions[session].extras?.joins = nil
    endSubscriptions(of: session)
  }

  /// The owner closes the connection: what is queued is still sent, and after it only what is passed
  /// to `append(frames:to:)`, which is the close frame.
  public mutating func beginClosing(_ id: SessionID) {
    guard isActive(id) else { return }
    silence(id.slot)
  }

  // MARK: - Shutting down

  /// Refuses sends from now on; what was accepted is still committed and acknowledged.
  public mutating func beginShutdown() {
    isShuttingDown = true
    for user in sessions.users.keys.sorted() { publishPresence(of: user, .offline) }
  }

  /// Whether nothing that was accepted waits for the log, and nothing committed waits to be sent.
  public var isIdle: Bool { log.isIdle && turn.rooms.isEmpty }

  /// Tells every client to reconnect, each at a time of its own, and closes the connections.
  /// - Parameter spreadMilliseconds: the time over which the clients reconnect.
  public mutating func announceClosing(_ reason: String, spreadMilliseconds: Int64) {
    for session in sessions.slots where !sessions[session].isClosing {
      let wait = Int64.random(in: 200...max(200, spreadMilliseconds), using: &random)
      announceClosing(to: session, reason, wait)
    }
  }

  /// Tells a client when to reconnect, and closes its connection.
  public mutating func announceClosing(
    to id: SessionID, _ reason: String, reconnectAfterMilliseconds wait: Int64
  ) {
    guard isActive(id) else { return }
    announceClosing(to: id.slot, reason, wait)
  }

  private mutating func announceClosing(
    to session: Slot<Session>, _ reason: String, _ wait: Int64
  ) {
    reply(.closing(reason: reason, reconnectAfterMilliseconds: wait), to: session)
    end(session, nil, .restart, reason)
  }
}
