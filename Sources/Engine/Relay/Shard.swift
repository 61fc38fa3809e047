import DequeModule
import HeapModule
import Mixing
public import Wire

/// Everything that one event loop owns: its sessions, their cursors, and the rooms as far as these
/// sessions need them. Confined to the loop's thread; sees no clock and no descriptor.
///
/// A turn of the loop goes: input is handed to `receive`, what came from the log to `apply`, then
/// `takeRequests` and `takeReads` are handed to the log and `flush` writes, once a socket.
public struct Shard {
  /// What a client may do; 0 = no limit.
  public struct Limits: Sendable {
    public var frameBytes = 65_536
    public var textBytes = 8192
    public var roomsPerConnection = 256
    /// Of a user, over all connections.
    public var budget = UserBudget.Limits()
    public var queueBytes = 262_144
    public var heartbeatSeconds = 25
    public init() {}
  }

  public struct Configuration: Sendable {
    public var limits = Limits()
    /// Name and version, as `welcome` tells them.
    public var server = "relay"
    /// Whether a client may bring rooms into existence that are not listed.
    public var anyoneMayCreate = true
    public var listed: [(room: String, title: String)] = []
    /// Configured bots: they are on the list of people.
    public var bots: [(user: String, name: String)] = []
    /// Recent entries kept in memory, all rooms together.
    public var tailBytes = 8_388_608
    /// Entries that are ready wait once for those of their room that the log is at work on.
    public var holds = true
    /// A room's next fan-out waits as long as the last one took, and no longer than this; 0 = never.
    public var pacingMilliseconds = 5
    /// Says whose token it is, at a time in milliseconds since 1970; `nil` where none are taken, and
    /// who clients are is told by `identify` alone. Throws `unauthorized` or `forbidden`.
    public var verifyToken:
      (@Sendable (_ token: String, _ wall: Int64) throws(WireError) -> Identity)?
    public init() {}
  }

  /// What catching up and replies from storage may put into a connection's queue at a time.
  static let pageBytes = 65_536
  /// The most that a `history` or `rooms` carries.
  static let replyBytes = 131_072
  /// Requests that gather while the log is busy; beyond it nobody's input is taken.
  static let gatherBytesLimit = 8_388_608

  let configuration: Configuration
  let framing: Framing
  let compression: Compression?
  let epoch: String
  var random: SplitMix64

  var sessions = Slab(vacant: Session(generation: 0, connection: -1))
  /// Tells the elements of a slot from one another.
  private var lastGeneration: UInt32 = 0
  var localUsers: [String: LocalUser] = [:]
  /// When the slowed sessions of these users are looked at, in milliseconds of the monotonic clock.
  var slowedUsers: [String: Int64] = [:]
  var subscriptions = Slab(
    vacant: Subscription(
      state: .abandoned, wantsSubscribers: false, session: Slot(0), room: Slot(0), cursor: 0,
      next: .none, place: nil))
  var rooms = Slab(vacant: Room(name: "", generation: 0))
  var roomIndices: [String: Slot<Room>] = [:]
  let listedTitles: [String: String]

  /// Commits in the tail, oldest first.
  var tail = Deque<Commit>()
  var tailBytes = 0

  var turn = Turn()
  var dirty: [Slot<Session>] = []
  var scratch: [UInt8] = []
  /// Queues that are empty, for the next session that has something to say: so an idle one owns none,
  /// and a busy one need not grow its own each time.
  var spareOutboxes: [[UInt8]] = []
  var frame: [UInt8] = []

  var requests: [LogRequest] = []
  var gatheredBytes = 0
  var logIsBusy = false
  /// Counts the batches that went to the log, around and around; 0 is none.
  var batchNumber: UInt32 = 0
  let paceLimits: Pace.Limits
  /// What a write costs, as the owner has measured.
  var writeNanoseconds: Int64 = 4000
  var reads: [ReadRequest] = []

  var timers = Heap<ShardTimer>()
  var throttles: [EphemeralKey: Throttle] = [:]
  var typers: [EphemeralKey: Typer] = [:]

  let budgets: Budgets<String>
  /// Connections that were slowed, of which the owner has not yet taken note.
  var slowdowns = Slowdowns()
  /// Connections whose input may go on.
  var resumable: [Int32] = []
  var congested: [SessionID] = []
  /// Connections to be closed, once what is queued for them is out.
  var closings: [Closing] = []
  var isShuttingDown = false

  public var counters = ShardCounters()
  /// When the first send was received of those that gather, of those that the log has, and of those
  /// that it answered last: in microseconds of the monotonic clock; -1 if there is none.
  var gatherBegan: Int64 = -1
  var batchBegan: Int64 = -1
  var answeredBegan: Int64 = -1
  /// Acks since they were last counted.
  var acknowledged = 0

  /// Everybody who is there, on whatever loop.
  var presences: [String: Presence] = [:]
  /// Users whose last session here has ended in this turn.
  var departures: [String] = []
  var watchedUsers = Slab(vacant: WatchedUser(name: "", generation: 0, presence: .offline))
  var watchedUserIndices: [String: Slot<WatchedUser>] = [:]
  /// Users whose rooms some session here is told of.
  var watches = Slab(vacant: UserWatch(user: ""))
  var watchIndices: [String: Slot<UserWatch>] = [:]
  var watchedRooms = Slab(
    vacant: WatchedRoom(watch: Slot(0), generation: 0, room: Slot(0), place: 0))
  /// Lists that are to be asked for, in turn; one slice is under way at a time.
  var loads = Deque<RoomsLoad>()
  var isLoading = false
  var loadTicket: UInt32 = 0
  var watchTicket: UInt32 = 0
  var directory = DirectoryUpdate(people: PeopleList([], source: "", asOf: 0))
  let bots: PeopleList

  /// A connection that the relay ends.
  public struct Closing: Sendable {
    public var connection: Int32
    public var reason: CloseReason
    public var text: String
  }

  /// - Parameters:
  ///   - compression: for the sessions that are opened with it; `nil` = for none.
  ///   - budgets: those of the users, which all loops share; `nil` where there is one loop.
  ///   - epoch: the log's.
  ///   - seed: of session names and of jitter.
  public init(
    configuration: Configuration, framing: Framing, compression: Compression? = nil,
    budgets: Budgets<String>? = nil, epoch: String, seed: UInt64
  ) {
    self.configuration = configuration
    self.framing = framing
    self.compression = compression
    self.budgets = budgets ?? Budgets(configuration.limits.budget)
    self.epoch = epoch
    random = SplitMix64(seed: seed)
    bots = PeopleList(
      configuration.bots.map { Person(user: $0.user, name: $0.name) }, source: "", asOf: 0)
    listedTitles = Dictionary(
      configuration.listed.map { ($0.room, $0.title) }, uniquingKeysWith: { first, _ in first })
    paceLimits = Pace.Limits(
      hold: configuration.holds,
      pacingMicroseconds: Int64(configuration.pacingMilliseconds) * 1000)
  }

  // MARK: - Sessions

  /// A connection begins; nothing is sent until it is known who it is.
  /// - Parameters:
  ///   - connection: what `flush` and the lists of this shard call it.
  ///   - compresses: whether it takes compressed messages.
  public mutating func open(
    connection: Int32, compresses: Bool = false, now: Moment
  ) -> SessionID {
    var session = Session(generation: nextGeneration(), connection: connection)
    session.compresses = compresses && compression != nil
    let slot = sessions.insert(session)
    return id(of: slot)
  }

  /// The connection is gone, or nothing more is to be done for it.
  public mutating func close(_ id: SessionID) {
    guard isCurrent(id) else { return }
    let index = id.slot
    endSubscriptions(of: index)
    endWatching(index)
    let user = sessions[index].user
    if !user.isEmpty { unlink(index, from: user) }
    if let budget = sessions[index].budget {
      budgets.disconnect(budget, rank: sessions[index].rank)
    }
    sessions.remove(index)
  }

  mutating func nextGeneration() -> UInt32 {
    lastGeneration &+= 1
    return lastGeneration
  }

  private mutating func endSubscriptions(of index: Slot<Session>) {
    while let first = sessions[index].firstSubscription.slot { end(first, tellLog: true) }
  }

  private mutating func unlink(_ index: Slot<Session>, from user: String) {
    let next = sessions[index].nextOfUser
    if localUsers[user]?.firstSession.slot == index {
      localUsers[user]?.firstSession = next
    } else {
      forEachSession(of: user) { shard, other in
        if shard.sessions[other].nextOfUser.slot == index {
          shard.sessions[other].nextOfUser = next
        }
      }
    }
    sessions[index].nextOfUser = .none
    notePresence(of: user)
  }

  /// Calls `body` with every session of a user.
  mutating func forEachSession(
    of user: String, _ body: (inout Shard, Slot<Session>) -> Void
  ) {
    var next = localUsers[user]?.firstSession.slot
    while let index = next {
      next = sessions[index].nextOfUser.slot
      body(&self, index)
    }
  }

  package func isCurrent(_ id: SessionID) -> Bool {
    sessions.contains(id.slot) && sessions[id.slot].generation == id.generation
  }

  func id(of index: Slot<Session>) -> SessionID {
    SessionID(index: index.place, generation: sessions[index].generation)
  }

  mutating func extras(of index: Slot<Session>) -> SessionExtras {
    if let extras = sessions[index].extras { return extras }
    let extras = SessionExtras()
    sessions[index].extras = extras
    return extras
  }

  // MARK: - Ends

  /// Connections that are to be closed behind what is queued for them.
  public mutating func takeClosings() -> [Closing] {
    defer { closings.removeAll() }
    return closings
  }

  /// Ends a session with an `error` or not, and then a close.
  mutating func end(
    _ index: Slot<Session>, _ error: WireError?, _ reason: CloseReason, _ text: String
  ) {
    guard !sessions[index].isClosing else { return }
    if let error { reply(.error(error), to: index) }
    silence(index)
    closings.append(
      Closing(connection: sessions[index].connection, reason: reason, text: text))
  }

  /// Nothing may follow the close frame.
  private mutating func silence(_ index: Slot<Session>) {
    sessions[index].isClosing = true
    stopWaiting(index)
    sessions[index].extras?.ephemera = [:]
    endSubscriptions(of: index)
  }

  /// The owner ends the connection: what is queued still goes out, and behind it only what is given to
  /// `append(frames:to:)`, which is the close frame.
  public mutating func beginClosing(_ id: SessionID) {
    guard isCurrent(id), !sessions[id.slot].isClosing else { return }
    silence(id.slot)
  }

  // MARK: - Shutting down

  /// From now on sends are refused; what was accepted is still committed and acknowledged.
  public mutating func beginShutdown() {
    isShuttingDown = true
    for user in localUsers.keys.sorted() { tellPresence(of: user, .offline) }
  }

  /// Nothing accepted is waiting for the log, and nothing committed to be shown.
  public var isIdle: Bool { requests.isEmpty && !logIsBusy && turn.rooms.isEmpty }

  /// Tells every client to come back, each at a time of its own, and closes.
  /// - Parameter spreadMilliseconds: the clients come back within so long.
  public mutating func announceClosing(_ reason: String, spreadMilliseconds: Int64) {
    for index in sessions.slots where !sessions[index].isClosing {
      let wait = Int64.random(in: 200...max(200, spreadMilliseconds), using: &random)
      reply(.closing(reason: reason, reconnectAfterMilliseconds: wait), to: index)
      end(index, nil, .restart, reason)
    }
  }
}
