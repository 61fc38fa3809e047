import Cluster
import Moderation
import Relay
import Wire

/// A node's connection to a `ModelDatabase`.
final class ModelNodeStore: NodeStore {
  private unowned let world: ClusterSimulation
  private var database: ModelDatabase { world.database }
  var state: NodeState
  /// Whether the process is killed, although its calls have not returned yet.
  var isKilled = false

  /// Of the connection.
  private var generation: Int?
  /// What the transaction sees; without one, every statement sees what is there.
  private var snapshot: MemoryStore?

  let identityKey = EntryIdentity.Key.none
  var roomCount: Int { 0 }
  var sync: Range<Int64> { 0..<0 }

  init(_ world: ClusterSimulation) throws(DatabaseFailure) {
    self.world = world
    state = NodeState(
      node: 0, lineage: world.database.current.lineage,
      last: NodeState.Applied(position: 0, mark: nil))
    try connect()
    state = try register(lost: nil)
  }

  /// The connection is cut.
  func cut() {
    if database.holder === self { database.holder = nil }
    generation = nil
    snapshot = nil
  }

  private var lost: DatabaseFailure {
    DatabaseFailure("the connection was lost", isConnectionLost: true)
  }

  /// To be called before each statement: meanwhile others have gone on.
  private func pass() throws(DatabaseFailure) {
    world.interlude()
    guard !isKilled, database.isUp, generation == database.generation else {
      cut()
      throw lost
    }
  }

  // MARK: - The connection

  var isConnected: Bool { generation != nil }

  func connect() throws(DatabaseFailure) {
    world.interlude()
    guard !isKilled, database.isUp else { throw lost }
    cut()
    generation = database.generation
  }

  func disconnect() { cut() }

  func awaitRetry() -> Bool {
    world.wait()
    return !isKilled
  }

  /// Whoever holds the lock and is not running is frozen: the server ends its connection.
  private func takeLock() throws(DatabaseFailure) {
    try pass()
    if let holder = database.holder, holder !== self { holder.cut() }
    database.holder = self
  }

  func examine(
    _ node: Int64, _ positions: ClosedRange<Int64>
  ) throws(DatabaseFailure) -> NodeFindings {
    try takeLock()
    let version = database.current
    let marks = version.feed.filter { positions.contains($0.position) }
      .map { ($0.position, $0.mark) }
    return NodeFindings(
      marks: Dictionary(marks, uniquingKeysWith: { $1 }), oldest: version.feed.first?.position,
      knowsNode: version.nodes[node] != nil)
  }

  func ensureEpoch(lost number: Int64?) throws(DatabaseFailure) -> Lineage {
    try pass()
    var version = database.current
    if let last = version.epochs.last, last.identity != database.identity || last.number == number {
      version.epochs.append(
        ModelDatabase.Epoch(
          number: last.number + 1, name: world.newName(), identity: database.identity))
      _ = try commit(version, waits: true)
    } else {
      database.holder = nil
    }
    return version.lineage
  }

  func register(lost number: Int64?) throws(DatabaseFailure) -> NodeState {
    try takeLock()
    _ = try ensureEpoch(lost: number)
    try takeLock()
    var version = database.current
    let node = world.newNumber()
    version.nodes[node] = ModelDatabase.Node(position: version.position)
    database.seen[state.node] = nil
    database.seen[node] = world.now
    let last = NodeState.Applied(position: version.position, mark: version.feed.last?.mark)
    _ = try commit(version, waits: true)
    return NodeState(node: node, lineage: version.lineage, last: last)
  }

  // MARK: - Transactions

  func begin(
    _ purpose: NodeState.Purpose, after position: Int64, lookingUp identities: [EntryIdentity],
    checksNodes: Bool
  ) throws(DatabaseFailure) -> NodeBeginning {
    if purpose == .commit { try takeLock() } else { try pass() }
    let version = database.current
    snapshot = purpose == .snapshot ? version.rooms : nil
    return NodeBeginning(
      now: world.now, epoch: version.epochs.last?.number ?? 0,
      batches: version.feed.filter { $0.position > position },
      gone: checksNodes
        ? version.nodes.keys.filter { database.seen[$0, default: .min] < world.now - 8_000 }
          .sorted()
        : [])
  }

  func lookUp(rooms names: [String]) throws(StoreFailure) { _ = try rooms() }

  func rollBack() throws(DatabaseFailure) {
    if database.holder === self { database.holder = nil }
    snapshot = nil
  }

  func store(_ batch: FeedBatch, number: Int64) throws(DatabaseFailure) -> Bool {
    try pass()
    guard database.holder === self else {
      // The server has ended the transaction: it took too long.
      cut()
      throw lost
    }
    var version = database.current
    guard batch.position == version.position + 1 else {
      throw DatabaseFailure("the feed has batch \(batch.position) already")
    }
    world.trace("batch \(batch.position) of \(batch.node): \(Self.summary(batch))")
    version.position = batch.position
    version.feed.append(batch)
    for (index, new) in batch.sequenced.changes.newRooms.enumerated() {
      // As the unique keys of the table say.
      let known = (try? version.rooms.loadRoom(new.name)) ?? nil
      let free = ((try? version.rooms.nextRoomNumber()) ?? 0) + Int64(index)
      if known != nil || new.number != free {
        throw DatabaseFailure("room \(new.number) or \(new.name) exists")
      }
    }
    version.rooms.epoch = state.lineage.current.number
    do throws(StoreFailure) { try version.rooms.commit(batch.sequenced.changes) } catch {
      throw DatabaseFailure("\(error)")
    }
    world.checkBlocks(of: batch.sequenced.changes, before: database.current, after: version)
    version.nodes[batch.node]?.position = batch.position - 1
    version.nodes[batch.node]?.batches = number
    database.seen[batch.node] = world.now
    return try commit(version, waits: batch.sequenced.changes.isDurable)
  }

  private static func summary(_ batch: FeedBatch) -> String {
    let news = batch.news
    let presences = news.presences.map { "\($0.user) \($0.presence)" }
    return "\(batch.sequenced.changes.entries.count) entries, presences \(presences)"
      + (news.hasAllPresences ? ", all" : "") + (news.asksForPresences ? ", asks" : "")
  }

  /// Commits, or fails in one of the ways in which a commit can.
  private func commit(
    _ version: ModelDatabase.Version, waits: Bool
  ) throws(DatabaseFailure) -> Bool {
    let fate = world.fateOfCommit()
    switch fate {
    case .refused: throw DatabaseFailure("the disk is full")
    case .lost:
      cut()
      world.tally.count(.commitLost)
      throw lost
    case .stored, .cancelled, .unanswered, .unansweredUnreplicated: break
    }
    let isReplicated = fate == .stored || fate == .unanswered
    let isCertain = database.append(version, waits: waits, standbyHasIt: isReplicated)
    world.recordCertain()
    if database.holder === self { database.holder = nil }
    snapshot = nil
    world.interlude()
    if fate == .unanswered || fate == .unansweredUnreplicated || isKilled
      || generation != database.generation
    {
      cut()
      world.tally.count(.commitUnanswered)
      throw lost
    }
    if !isCertain { world.tally.count(.commitUnreplicated) }
    return isCertain
  }

  func commitBarrier(
    _ node: Int64, position: Int64, takesLock: Bool
  ) throws(DatabaseFailure) -> (number: Int64?, isCertain: Bool) {
    if takesLock { try takeLock() } else { try pass() }
    var version = database.current
    let number = version.nodes[node]?.batches
    version.nodes[node]?.position = position
    // Without a row there is nothing to commit, and nothing is waited for.
    if number == nil { try rollBack() }
    let isCertain = number == nil ? false : try commit(version, waits: true)
    return (number, isCertain)
  }

  // MARK: - Looking up

  func rooms() throws(StoreFailure) -> MemoryStore {
    if let failure = state.failure { throw failure }
    if let snapshot { return snapshot }
    guard generation == database.generation, database.isUp, !isKilled else {
      throw fail(lost, "read")
    }
    return database.current.rooms
  }

  func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    var rooms = try rooms()
    return try rooms.loadRoom(name)
  }

  func nextRoomNumber() throws(StoreFailure) -> Int64 {
    var rooms = try rooms()
    return try rooms.nextRoomNumber()
  }

  func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    var rooms = try rooms()
    return try rooms.find(identity, room: room, named: name, sender: sender, id: id)
  }

  func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    var rooms = try rooms()
    return try rooms.lastEntry(ofRoom: room, throughEpoch: number)
  }

  func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    var rooms = try rooms()
    return try rooms.entry(seq, ofRoom: number, named: room)
  }

  func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    var rooms = try rooms()
    return try rooms.lastEdit(of: target, through: seq, inRoom: number, named: room)
  }

  func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    var rooms = try rooms()
    return try rooms.editCount(of: target, inRoom: number, upTo: limit)
  }

  func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    var rooms = try rooms()
    return try rooms.emoji(of: target, inRoom: number, by: user, upTo: limit)
  }

  func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    var rooms = try rooms()
    return try rooms.changes(inRoom: number, through: seq, total: total)
  }

  func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    var rooms = try rooms()
    return try rooms.contentRun(endingAt: seq, inRoom: number)
  }

  func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    var rooms = try rooms()
    return try rooms.memberships(of: user, after: number, limit: limit)
  }

  func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    var rooms = try rooms()
    return try rooms.membership(of: user, toRoom: name)
  }

  func standing(of user: String, inRoom number: Int64) throws(StoreFailure) -> Standing {
    var rooms = try rooms()
    return try rooms.standing(of: user, inRoom: number)
  }

  func blocks() throws(StoreFailure) -> BlockTable {
    var rooms = try rooms()
    return try rooms.blocks()
  }

  func bans() throws(StoreFailure) -> [BanChange] {
    var rooms = try rooms()
    return try rooms.bans()
  }

  func copies(ofRoom number: Int64, in seqs: ClosedRange<Int64>) throws(StoreFailure) -> [Int64] {
    var rooms = try rooms()
    return try rooms.copies(ofRoom: number, in: seqs)
  }

  func copies(before at: Int64, limit: Int) throws(StoreFailure) -> [Int64] {
    var rooms = try rooms()
    return try rooms.copies(before: at, limit: limit)
  }

  func members(ofRoom number: Int64, limit: Int) throws(StoreFailure) -> [String] {
    var rooms = try rooms()
    return try rooms.members(ofRoom: number, limit: limit)
  }

  func membershipCount(of user: String) throws(StoreFailure) -> Int {
    var rooms = try rooms()
    return try rooms.membershipCount(of: user)
  }
}
