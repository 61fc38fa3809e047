import Cluster
import Mixing
import Relay
import Wire

/// One run of several nodes that share a log: clients, the nodes' writing threads, and a model of the
/// database with its failures. What the nodes do in transactions and after failures is the product's
/// (`LogNode`, `NodeStore`, `Sequencer`).
///
/// Everything runs on one thread. While a node's call of the database has not returned, others go on:
/// the call runs some of their steps (`interlude`).
final class ClusterSimulation {
  var random: SplitMix64
  let database: ModelDatabase
  /// Whether the nodes are configured to hide what is not replicated.
  let hidesUnreplicated: Bool
  var now: Int64 = 1_000_000
  var tally = Tally()
  private(set) var faults: [String] = []
  private var digest: UInt64 = 14_695_981_039_346_656_037
  private let trace: ((String) -> Void)?

  private(set) var nodes: [ClusterNode?] = [nil, nil, nil]
  var clients: [ClusterClient] = []
  static let rooms = ["a", "b", "c"]
  /// A room with settings and members of its own, which no client joins.
  static let den = "den"
  /// Direct rooms whose users block each other, which no client joins.
  static let directs = ["dm:ada:bo", "dm:ada:cy"]

  /// Entries that were certain at some time.
  private(set) var everCertain: Set<EntryKey> = []
  private var certainMarks: Set<Int64> = []
  /// Certain entries that a fork has lost, as it may.
  private(set) var lostByForks: Set<EntryKey> = []
  /// Whether faults still occur.
  private(set) var isStormy = true
  private var depth = 0
  /// Nodes whose start has not returned yet.
  private var starting: Set<Int> = []
  private var numbers = 0
  private var spendings = 0
  /// How often nodes have waited in a row.
  private var waits = 0

  init(seed: UInt64, trace: ((String) -> Void)? = nil) {
    random = SplitMix64(seed: seed &* 0x9E37_79B9_7F4A_7C15 ^ 0xC1)
    let standby = ModelDatabase.Standby.allCases.randomElement(using: &random) ?? .none
    database = ModelDatabase(standby: standby)
    hidesUnreplicated = standby == .synchronous
    self.trace = trace
  }

  func run() -> Simulation.Verdict {
    for index in nodes.indices { start(index) }
    clients = (0..<4).map { ClusterClient(self, user: ["ada", "bo", "cy", "di"][$0], index: $0) }
    for _ in 0..<Int.random(in: 100...400, using: &random) {
      step()
      if !faults.isEmpty { break }
    }
    if faults.isEmpty { settle() }
    if faults.isEmpty { checkEnd() }
    return Simulation.Verdict(faults: faults, tally: tally, digest: digest)
  }

  // MARK: - Chance

  func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  func newNumber() -> Int64 { Int64.random(in: 1...(.max), using: &random) }

  func newSpending() -> Int {
    spendings += 1
    return spendings
  }

  func newName() -> String {
    numbers += 1
    return "epoch-\(numbers + 1)"
  }

  func trace(_ text: @autoclosure () -> String) {
    trace?("\(now) \(text())")
  }

  func fault(_ text: String) {
    trace("FAULT \(text)")
    faults.append(text)
  }

  func hash(_ text: String) {
    for byte in text.utf8 { digest = (digest ^ UInt64(byte)) &* 1_099_511_628_211 }
  }

  // MARK: - Steps

  private func step() {
    now += Int64.random(in: 1...300, using: &random)
    switch Int.random(in: 0..<100, using: &random) {
    case ..<45: clients.randomElement(using: &random)?.act()
    case ..<80: idleNodes.randomElement(using: &random)?.process()
    case ..<88: idleNodes.randomElement(using: &random)?.beat()
    default: if isStormy { harm() }
    }
  }

  private var idleNodes: [ClusterNode] { nodes.compactMap(\.self).filter { !$0.isBusy } }

  /// Others go on while a node waits for the database.
  func interlude() {
    guard depth < 4, chance(isStormy ? 20 : 5) else { return }
    depth += 1
    for _ in 0..<Int.random(in: 1...3, using: &random) { step() }
    depth -= 1
  }

  /// A node waits for a while.
  func wait() {
    now += 50
    waits += 1
    // It may be the only thing that goes on.
    if waits % 20 == 0 || (depth < 4 && chance(30)) { mend() }
    guard depth < 4 else { return }
    depth += 1
    step()
    depth -= 1
  }

  private func mend() {
    database.start()
    database.isFull = false
  }

  // MARK: - Failures

  private func harm() {
    switch Int.random(in: 0..<24, using: &random) {
    case 0, 1: kill(Int.random(in: nodes.indices, using: &random))
    case 2, 3, 4: start(Int.random(in: nodes.indices, using: &random))
    case 5:
      // Frozen: it takes no step for a while.
      idleNodes.randomElement(using: &random)?.frozenUntil =
        now + Int64.random(in: 1_000...120_000, using: &random)
      tally.count(.nodeFrozen)
    case 6, 7:
      trace("connections ended")
      database.endConnections()
      tally.count(.connectionsEnded)
    case 8:
      idleNodes.randomElement(using: &random)?.cut()
    case 9, 10:
      trace("crash")
      database.crash(keeping: Int.random(in: 0..<database.count, using: &random))
      recordCertain()
      tally.count(.databaseCrashed)
    case 11: database.stop()
    case 12, 13, 14: mend()
    case 15: database.isFull = true
    case 16 where database.standby != .none: promote()
    case 17 where chance(30): restore()
    case 18, 19:
      database.replicate(through: Int.random(in: 0..<database.count, using: &random))
      recordCertain()
    case 20: trim()
    case 21, 22: now += Int64.random(in: 1_000...70_000, using: &random)
    default: clients.randomElement(using: &random)?.disconnect()
    }
  }

  private func promote() {
    let lost = database.promote(
      keeping: Int.random(in: max(0, database.count - 12)..<database.count, using: &random))
    trace("promoted: \(lost.count) commits lost")
    recordLost(lost, isAllowed: database.standby == .asynchronous)
    tally.count(lost.isEmpty ? .promoted : .promotedBehind)
  }

  private func restore() {
    let lost = database.restore(
      Int.random(in: max(0, database.count - 20)..<database.count, using: &random))
    trace("restored: \(lost.count) commits lost")
    recordLost(lost, isAllowed: true)
    tally.count(.databaseRestored)
  }

  private func recordLost(_ lost: [ModelDatabase.Version], isAllowed: Bool) {
    let kept = entries(database.current)
    for key in lost.reduce(into: Set<EntryKey>(), { $0.formUnion(entries($1)) })
    where !kept.contains(key) && everCertain.contains(key) {
      if isAllowed {
        lostByForks.insert(key)
        // If it is sent again it can get the same place, and is not certain at first.
        everCertain.remove(key)
      } else {
        fault("the model has lost \(key), which was replicated")
      }
    }
    recordCertain()
  }

  /// Removes from the feed what no node needs, as the leader does.
  private func trim() {
    let needed = database.current.nodes.filter {
      database.seen[$0.key, default: .min] >= now - 60_000
    }.map(\.value.position)
    guard let least = needed.min() else { return }
    database.change { $0.feed.removeAll { $0.position < least } }
  }

  /// How a commit ends.
  enum Fate { case stored, refused, lost, unanswered, unansweredUnreplicated, cancelled }

  func fateOfCommit() -> Fate {
    if database.isFull { return .refused }
    guard isStormy else { return .stored }
    switch Int.random(in: 0..<100, using: &random) {
    case ..<3: return .lost
    case ..<6: return .unanswered
    case ..<9: return .unansweredUnreplicated
    case ..<12: return .cancelled
    case ..<13: return .refused
    default: return .stored
    }
  }

  // MARK: - Nodes

  private func start(_ index: Int) {
    guard nodes[index] == nil, starting.insert(index).inserted else { return }
    defer { starting.remove(index) }
    do throws(DatabaseFailure) {
      nodes[index] = try ClusterNode(self, index: index)
      trace("node \(index) starts as \(nodes[index]?.store.state.node ?? 0)")
      tally.count(.nodeStarted)
    } catch {
      trace("node \(index) cannot start: \(error)")
    }
  }

  private func kill(_ index: Int) {
    guard let node = nodes[index] else { return }
    trace("node \(index) is killed")
    node.kill()
    nodes[index] = nil
    for client in clients where client.node === node { client.disconnect() }
    tally.count(.nodeKilled)
  }

  // MARK: - What is certain

  /// To be called when more may have become certain.
  func recordCertain() {
    let certain = database.certain
    for batch in certain.feed.reversed() {
      guard certainMarks.insert(batch.mark).inserted else { break }
      for new in batch.sequenced.changes.entries { everCertain.insert(EntryKey(new.entry)) }
    }
  }

  private func entries(_ version: ModelDatabase.Version) -> Set<EntryKey> {
    Set(Self.rooms.flatMap { list($0, in: version) }.map(EntryKey.init))
  }

  /// The entries of a room, in order.
  func list(_ room: String, in version: ModelDatabase.Version) -> [Entry] {
    var rooms = version.rooms
    var found: [Entry] = []
    guard let bounds = (try? rooms.room(room)) ?? nil, bounds.head >= bounds.first else {
      return []
    }
    try? rooms.forEachEntry(ofRoom: bounds.number, named: room, in: bounds.first...bounds.head) {
      found.append($0)
      return true
    }
    return found
  }

  // MARK: - The end

  private var isSettled: Bool {
    clients.allSatisfy { $0.isSettled } && nodes.allSatisfy { $0?.isSettled == true }
  }

  /// Ends the faults, and waits until every node and client has everything.
  private func settle() {
    isStormy = false
    trace("the storm is over")
    mend()
    for round in 0..<400 {
      now += 250
      for index in nodes.indices { start(index) }
      for node in idleNodes {
        node.frozenUntil = 0
        if round % 4 == 0 { node.beat() }
        node.process()
      }
      for client in clients { client.settle() }
      if !faults.isEmpty { return }
      // Presences of nodes that were killed end after a while.
      if round > 80, isSettled { return }
    }
    fault(
      "not settled: \(clients.filter { !$0.isSettled }.map(\.description)), "
        + "\(nodes.map { $0?.isSettled == true })")
  }

  private func checkEnd() {
    let stored = entries(database.current)
    for room in Self.rooms {
      let list = list(room, in: database.current)
      if list.map(\.seq) != Array(1...Int64(max(1, list.count))).filter({ $0 <= list.count }) {
        fault("the log of \(room) has a gap: \(list.map(\.seq))")
      }
      if Set(list.map { "\($0.from) \($0.id)" }).count != list.count {
        fault("the log of \(room) has an entry twice")
      }
      for client in clients {
        let (own, stored) = (client.list(room), list.map(EntryKey.init))
        guard own != stored else { continue }
        let place = zip(own, stored).prefix { $0 == $1 }.count
        func name(_ keys: [EntryKey]) -> String {
          place < keys.count ? keys[place].description : "nothing"
        }
        fault("\(client.user) has \(name(own)) where the log has \(name(stored))")
      }
      hash(list.map { "\($0.from) \($0.id)" }.joined(separator: ","))
    }
    checkRights()
    for client in clients {
      for key in client.acknowledged where !stored.contains(key) && !lostByForks.contains(key) {
        fault("\(key) was acknowledged, and is lost")
      }
    }
    checkPresence()
    checkBlocks()
  }

  /// Checks that every entry of the room with members was for its sender to send: every node has decided by
  /// the entries before it.
  private func checkRights() {
    var rights = Rights()
    for entry in list(Self.den, in: database.current) {
      if entry.kind.isNotice { tally.count(.ruled) }
      if let reason = rights.append(entry, headBefore: 0) { fault(reason) }
    }
  }

  /// Checks that the loops of every node have the blocks of the log.
  private func checkBlocks() {
    var rooms = database.current.rooms
    guard let stored = try? rooms.blocks() else { return fault("the blocks cannot be read") }
    for user in clients.map(\.user) {
      let users = stored.users(blockedBy: user)
      for node in nodes.compactMap(\.self) where node.blocks.users(blockedBy: user) != users {
        fault(
          "node \(node.index) has \(node.blocks.users(blockedBy: user)) as blocked by \(user), not "
            + "\(users)")
      }
    }
  }

  /// Checks a batch that is about to be stored: it must change what it changes, and hide exactly the entries of
  /// users who were blocked before it.
  func checkBlocks(
    of changes: StoreChanges, before: ModelDatabase.Version, after: ModelDatabase.Version
  ) {
    var (before, after) = (before.rooms, after.rooms)
    guard var blocks = try? before.blocks() else { return fault("the blocks cannot be read") }
    let known = blocks
    for change in changes.blocks {
      tally.count(change.at != nil ? .blocked : .unblocked)
      if blocks.users(blockedBy: change.user).contains(change.blocked) == (change.at != nil) {
        fault("\(change) does not change a block")
      }
      blocks.apply(change)
    }
    for entry in changes.entries.map(\.entry) {
      guard let peer = RoomName.peer(in: entry.room, of: entry.from),
        !changes.blocks.contains(where: { $0.user == peer && $0.blocked == entry.from }),
        let room = (try? after.room(entry.room)) ?? nil
      else { continue }
      let isHidden = room.direct.hidden.contains {
        $0.sender == entry.from && $0.contains(entry.seq)
      }
      if isHidden { tally.count(.entryHidden) }
      if isHidden != known.users(blockedBy: peer).contains(entry.from) {
        fault("\(EntryKey(entry)) is hidden from \(peer): \(isHidden)")
      }
    }
  }

  private func checkPresence() {
    for user in clients.map(\.user) {
      let isPresent = clients.contains { $0.user == user && $0.node != nil }
      for node in nodes.compactMap(\.self) where node.knows(user) != isPresent {
        fault("node \(node.index) has \(user) as \(isPresent ? "offline" : "online")")
      }
    }
  }
}

/// An entry and its place.
struct EntryKey: Hashable, CustomStringConvertible {
  var room: String
  var seq: Int64
  var from: String
  var id: String

  init(_ entry: Entry) {
    (room, seq, from, id) = (entry.room, entry.seq, entry.from, entry.id)
  }

  init(room: String, seq: Int64, from: String, id: String) {
    (self.room, self.seq, self.from, self.id) = (room, seq, from, id)
  }

  var description: String { "\(room) \(seq) (\(from) \(id))" }
}
