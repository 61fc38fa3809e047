package import Relay

/// What a node of a shared log has to do.
package enum NodeTask: Sendable {
  case submit(loop: Int, [LogRequest])
  /// Tells the others what users have spent on this node. It is told at most once: lost if the batch is
  /// not stored.
  case tell([Spending])
  /// Another node may have committed, or this one has to tell presences.
  case follow
  /// Some time has passed: what was applied is to be made certain, and nodes may have ended.
  case beat
  /// The other nodes may have taken this one for dead.
  case introduce
  /// Retention has found entries that are no longer kept. `done` is called when they have been removed,
  /// or not.
  case trim([RoomTrim], done: @Sendable () -> Void)
  /// The rules of retention are others.
  case retain(Retention)
}

/// One of several nodes that share a log: what its writing thread does with its tasks. The store does
/// the I/O, and the caller posts the deliveries.
package struct LogNode<Store: NodeStore> {
  /// What came of the tasks.
  package struct Result {
    /// In the order in which they are to be posted.
    package var deliveries: [(loop: Int, delivery: LogDelivery)] = []
    /// What users have spent on other nodes.
    package var spending: [NodeSpending] = []
    /// Why something could not be done; for the operator.
    package var failure: StoreFailure?
    /// Whether something was committed.
    package var hasCommitted = false
    /// Why the node has started again, for the operator.
    package var reasonToStartAgain: String?
  }

  private var sequencer: Sequencer
  private var presences = NodePresences()
  private let store: Store
  private let framing: Framing
  private let hidesUnreplicated: Bool
  private let meter: LogMeter?
  /// Nanoseconds of a monotonic clock, and milliseconds since 1970.
  private let clock: () -> (monotonic: Int64, wall: Int64)

  /// Whether the next transaction has to find out which nodes have ended.
  private var checksNodes = false
  /// What waits until it is certain, in order.
  private var held: [(loop: Int, delivery: LogDelivery)] = []

  /// - Parameters:
  ///   - hidesUnreplicated: whether nothing is published that another server would not have if it took
  ///     over: what is read is held back until a commit after it was replicated.
  ///   - clock: nanoseconds of a monotonic clock, and milliseconds since 1970.
  package init(
    _ sequencer: consuming Sequencer, store: Store, framing: Framing, hidesUnreplicated: Bool,
    meter: LogMeter? = nil, clock: @escaping () -> (monotonic: Int64, wall: Int64)
  ) {
    self.sequencer = sequencer
    presences.introduce()
    self.store = store
    self.framing = framing
    self.hidesUnreplicated = hidesUnreplicated
    self.meter = meter
    self.clock = clock
  }

  package var lineage: Lineage { sequencer.lineage }

  /// Whether the node has something to tell the others, which it does with the next tasks.
  package var hasPresencesToTell: Bool { presences.hasNews }

  /// Processes tasks.
  package mutating func process(_ tasks: [NodeTask]) -> Result {
    var result = Result()
    var changes: [(loop: Int, requests: [LogRequest])] = []
    var questions: [(loop: Int, requests: [LogRequest])] = []
    var spending: [Spending] = []
    var trims: [RoomTrim] = []
    var trimmed: [() -> Void] = []
    defer { for done in trimmed { done() } }
    var isBeat = false
    for task in tasks {
      switch task {
      case .submit(let loop, let requests):
        let asking = requests.filter(\.onlyAsks)
        changes.append((loop, requests.filter { !$0.onlyAsks }))
        if !asking.isEmpty { questions.append((loop, asking)) }
      case .tell(let spent): spending += spent
      case .follow: break
      case .beat: isBeat = true
      case .introduce: presences.tellAll()
      case .trim(let found, let done):
        trims += found
        trimmed.append(done)
      case .retain(let retention): sequencer.retention = retention
      }
    }
    startAgainIfNecessary(&result)
    let batchesBefore = store.state.batches
    let needsCommit =
      presences.hasNews || !spending.isEmpty || !trims.isEmpty
      || changes.contains { !$0.requests.isEmpty }
    let asking = Set(questions.map(\.loop))
    let others = Set(changes.map(\.loop)).subtracting(asking)
    // Whatever transaction comes first finds out which nodes have ended.
    checksNodes = checksNodes || isBeat
    if needsCommit {
      process(changes, trimming: trims, telling: spending, in: .commit, completing: others, &result)
    }
    // What only asks is answered in a snapshot, after the rest: no other node waits for it.
    if !questions.isEmpty || !needsCommit {
      process(
        questions, in: .snapshot, completing: needsCommit ? asking : asking.union(others), &result)
    }
    confirmIfNecessary(isBeat, &result)
    startAgainIfNecessary(&result)
    result.hasCommitted = store.state.batches > batchesBefore
    return result
  }

  /// Follows the other nodes, and processes requests on top.
  /// - Parameter submitters: the loops that may submit again afterwards.
  private mutating func process(
    _ batches: [(loop: Int, requests: [LogRequest])], trimming trims: [RoomTrim] = [],
    telling spending: [Spending] = [], in purpose: NodeState.Purpose,
    completing submitters: Set<Int>, _ result: inout Result
  ) {
    let began = clock()
    var store = store
    var now = began.wall
    do throws(StoreFailure) {
      let beginning = try store.begin(
        purpose, lookingUp: sequencer.identities(of: batches, key: store.identityKey),
        checksNodes: checksNodes)
      now = beginning.now
      let commit = try follow(beginning, before: batches, trims)
      result.spending += beginning.batches.filter { !$0.news.spending.isEmpty }
        .map { NodeSpending(node: $0.node, spending: $0.news.spending) }
      if let commit { publish(commit) }
    } catch {
      result.failure = error
    }
    defer { store.endTransaction() }
    if store.state.hasLostNews {
      store.state.hasLostNews = false
      presences.introduce()
    }
    let batchesBefore = store.state.batches
    let outcome =
      purpose == .commit
      ? commit(batches, trimming: trims, telling: spending, now)
      : sequencer.answer(batches, store: &store, now: now, framing: framing)
    let stored = store.state.batches > batchesBefore
    if purpose == .commit {
      meter?.record(
        outcome, nanoseconds: clock().monotonic - began.monotonic,
        syncNanoseconds: stored ? Int64(store.sync.count) : nil, rooms: store.roomCount)
    }
    held += outcome.deliveries(completing: submitters)
    if stored {
      sequencer.record(CommitStages(batchedAt: began.monotonic, sync: store.sync), of: outcome)
    }
    for (loop, answer) in sequencer.takeTraces(&store) {
      held.append((loop, LogDelivery(commit: nil, answers: [answer], completesSubmit: false)))
    }
    release(&result)
    result.failure = result.failure ?? outcome.failure
  }

  /// Applies what the other nodes have committed.
  /// - Parameter batches: what is processed afterwards.
  /// - Returns: what is to be published; `nil` if there is nothing.
  private mutating func follow(
    _ beginning: NodeBeginning, before batches: [(loop: Int, requests: [LogRequest])],
    _ trims: [RoomTrim]
  ) throws(StoreFailure) -> Commit? {
    let followed = beginning.batches
    let sequenced = followed.map(\.sequenced)
    var store = store
    try store.lookUp(
      rooms: sequencer.unknownRooms(of: sequenced, batches, trimming: trims))
    var presences = presences
    let shifts =
      followed.flatMap { presences.apply($0.news, of: $0.node) }
      + beginning.gone.flatMap { presences.forget($0) }
    let commit = try sequencer.follow(
      sequenced, presences: shifts, store: &store, now: beginning.now, framing: framing)
    self.presences = presences
    store.recordFollowed()
    checksNodes = false
    return commit
  }

  /// Commits a batch, with what the other nodes have to be told.
  private mutating func commit(
    _ batches: [(loop: Int, requests: [LogRequest])], trimming trims: [RoomTrim],
    telling spending: [Spending], _ now: Int64
  ) -> Sequencer.Outcome {
    for case .presence(let user, let from, let to) in batches.lazy.flatMap(\.requests) {
      presences.shift(user, from: from, to: to)
    }
    var store = store
    var batch = sequencer.prepare(batches, trimming: trims, store: &store, now: now)
    var failure = batch.failure
    if failure == nil {
      let sequenced = sequencer.sequenced(&batch)
      var news = presences.news
      news.spending = spending
      do throws(StoreFailure) {
        if !sequenced.isEmpty || !news.isEmpty { try store.commit(sequenced, news) }
        presences.recordTold(news)
      } catch {
        failure = error
      }
    }
    // The other nodes may have gone on.
    failure?.mayHaveMore = true
    return sequencer.complete(batch, failure, store: &store, framing: framing)
  }

  private mutating func publish(_ commit: Commit) {
    for loop in 0..<sequencer.loops {
      held.append((loop, LogDelivery(commit: commit, answers: [], completesSubmit: false)))
    }
  }

  /// Gives out what was held, unless it is not certain yet.
  private mutating func release(_ result: inout Result) {
    if hidesUnreplicated, !store.state.isConfirmed { return }
    result.deliveries += held
    held = []
  }

  private mutating func confirmIfNecessary(_ isBeat: Bool, _ result: inout Result) {
    let isNecessary = isBeat ? !store.state.isFullyConfirmed : !held.isEmpty
    guard isNecessary, store.isConnected, store.state.mustRegister == nil else { return }
    do throws(StoreFailure) {
      try store.confirm()
      release(&result)
    } catch {
      result.failure = result.failure ?? error
    }
  }

  /// Registers again if this node cannot go on from where it is: it reads everything again, and so do
  /// its clients.
  private mutating func startAgainIfNecessary(_ result: inout Result) {
    guard let reason = store.state.mustRegister else { return }
    do throws(DatabaseFailure) {
      if !store.isConnected { try store.connect() }
      store.state = try store.register(lost: store.state.lostEpoch)
    } catch {
      store.disconnect()
      result.failure = result.failure ?? store.fail(error, "start again")
      return
    }
    result.reasonToStartAgain = reason
    var store = store
    let commit = sequencer.startAgain(
      store.state.lineage, presences: presences.startAgain(), store: &store, now: clock().wall,
      framing: framing)
    // Held deliveries are dropped, except for presence, which the store does not have. A loop may submit
    // again only when it has closed its clients: else what they have sent meanwhile would overtake the
    // held requests.
    let completed = Set(held.lazy.filter(\.delivery.completesSubmit).map(\.loop))
    for (loop, delivery) in held {
      guard let commit = delivery.commit?.ephemera else { continue }
      result.deliveries.append(
        (loop, LogDelivery(commit: commit, answers: [], completesSubmit: false)))
    }
    held = []
    for loop in 0..<sequencer.loops {
      result.deliveries.append(
        (
          loop,
          LogDelivery(
            commit: commit, answers: [], completesSubmit: completed.contains(loop),
            newEpoch: sequencer.lineage.current.name)
        ))
    }
  }
}

extension LogRequest {
  /// Whether the request changes nothing, and is answered from the store.
  fileprivate var onlyAsks: Bool {
    switch self {
    case .memberships, .trace: true
    default: false
    }
  }
}
