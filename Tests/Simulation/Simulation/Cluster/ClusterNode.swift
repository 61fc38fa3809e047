import Cluster
import Gateway
import Relay
import Wire

/// A relay, as far as its log is concerned: the product's node, and one loop that passes requests and
/// deliveries between it and the clients.
final class ClusterNode {
  let index: Int
  let store: ModelNodeStore
  private unowned let world: ClusterSimulation
  private var node: LogNode<ModelNodeStore>?
  private var tasks: [NodeTask] = []
  /// What gathers while a batch is under way.
  private var requests: [LogRequest] = []
  private var isSubmitted = false
  private(set) var isBusy = false
  var frozenUntil: Int64 = 0
  private var lastBeat: Int64
  /// As published, by room.
  private var heads: [String: Int64] = [:]
  /// The numbers of what other nodes have told of users' spending.
  private var spendingHeard: Set<Int> = []
  /// As the loop has them.
  private(set) var blocks = BlockTable()
  /// As published.
  private var presences: [String: Presence] = [:]

  init(_ world: ClusterSimulation, index: Int) throws(DatabaseFailure) {
    self.world = world
    self.index = index
    store = try ModelNodeStore(world)
    lastBeat = world.now
    let clock = Clock(world)
    blocks = (try? store.blocks()) ?? BlockTable()
    node = LogNode(
      Sequencer(
        lineage: store.state.lineage, retention: Retention(), blocks: blocks, loops: 1),
      store: store,
      framing: .webSocket, hidesUnreplicated: world.hidesUnreplicated, clock: { clock.read() })
    tasks = [.follow]
    shown = (0, 0)
    recordShown()
  }

  private func recordShown() {
    shown = (store.state.shownPosition, store.state.lineage.current.number)
  }

  private final class Clock {
    unowned let world: ClusterSimulation
    init(_ world: ClusterSimulation) { self.world = world }
    func read() -> (monotonic: Int64, wall: Int64) { (world.now * 1_000_000, world.now) }
  }

  /// Up to here batches may be shown to clients, and in which epoch. For the reading thread, it changes
  /// after the deliveries.
  private(set) var shown: (position: Int64, epoch: Int64)
  var isSettled: Bool {
    !isSubmitted && requests.isEmpty && !isBusy
      && store.state.shownPosition == world.database.current.position
  }
  func knows(_ user: String) -> Bool { presences[user] == .online }

  func submit(_ request: LogRequest) { requests.append(request) }

  func kill() { store.isKilled = true }

  func cut() { store.cut() }

  /// Shows that it is alive, and hears of what the others have done.
  func beat() {
    guard world.now >= frozenUntil, !store.isKilled, store.isConnected, world.database.isUp else {
      return
    }
    let now = world.now
    world.database.seen[store.state.node] = now
    if now - lastBeat > 6_000 { tasks.append(.introduce) }
    lastBeat = now
    tasks.append(.beat)
    if world.chance(30) {
      var spending = Spending(user: "ada")
      spending.sends = world.newSpending()
      tasks.append(.tell([spending]))
    }
  }

  /// Runs one pass of the writing thread.
  func process() {
    guard !isBusy, !store.isKilled, world.now >= frozenUntil, var node = node.take() else { return }
    if !isSubmitted, !requests.isEmpty {
      tasks.append(.submit(loop: 0, requests))
      requests = []
      isSubmitted = true
    }
    let taken = tasks.isEmpty ? [.follow] : tasks
    tasks = []
    isBusy = true
    let result = node.process(taken)
    isBusy = false
    if node.hasPresencesToTell { tasks.append(.follow) }
    self.node = node
    guard !store.isKilled else { return }
    if let reason = result.reasonToStartAgain {
      world.trace("node \(index) starts again as \(store.state.node): \(reason)")
      world.tally.count(.nodeStartedAgain)
    }
    if let failure = result.failure { world.trace("node \(index): \(failure)") }
    for (_, delivery) in result.deliveries { apply(delivery) }
    for spending in result.spending.flatMap(\.spending) {
      world.tally.count(.spendingTold)
      if !spendingHeard.insert(spending.sends).inserted {
        world.fault("node \(index) charged twice for spending \(spending.sends)")
      }
    }
    recordShown()
  }

  private func apply(_ delivery: LogDelivery) {
    if delivery.completesSubmit { isSubmitted = false }
    let own = world.clients.filter { $0.node === self }
    if let commit = delivery.commit {
      for change in commit.presences {
        presences[change.user] = change.presence
        world.trace("node \(index): \(change.user) is \(change.presence)")
      }
      if let all = commit.renewal?.blocks { blocks = all }
      for change in commit.blocks { blocks.apply(change) }
      for entry in commit.entries {
        world.checkShown(EntryKey(entry), by: "node \(index)")
        heads[entry.room] = entry.seq
        for client in own { client.show(entry) }
      }
    }
    if delivery.newEpoch != nil {
      heads = [:]
      for client in own { client.disconnect() }
    }
    for answer in delivery.answers {
      switch answer {
      case .ack(let session, let ack):
        for client in own where client.session == session { client.acknowledge(ack) }
      case .refused(let session, let error):
        for client in own where client.session == session { client.refuse(error) }
      case .subscribed(let session, let subscribed):
        // The same batch may have entries that follow the join.
        let head = max(heads[subscribed.joined.room] ?? 0, subscribed.joined.head)
        for client in own where client.session == session {
          client.join(subscribed.joined, head: head)
        }
      default: break
      }
    }
  }
}

extension Commit {
  fileprivate var entries: [Entry] {
    (0..<frames.count).compactMap { try? Entry(decoding: Array(frames.payload($0)).span) }
  }
}
