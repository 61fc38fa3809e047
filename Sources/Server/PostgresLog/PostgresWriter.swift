internal import Platform
internal import Relay

/// The loop of the log's writing thread: processes batches, and follows the other nodes, until the
/// log stops.
struct PostgresWriter: Sendable {
  enum Task: Sendable {
    case submit(loop: Int, [LogRequest])
    /// Another node may have committed, or this one has to tell presences.
    case follow
    /// Nodes have ended.
    case forget([Int64])
    /// The other nodes may have taken this one for dead.
    case introduce
  }

  var publishers: [LoopPublisher]
  var framing: Framing
  var listener: FeedListener
  var meter: LogMeter
  /// For the reader.
  var lineage: CurrentLineage
  var report: @Sendable (String) -> Void

  func run(_ tasks: WorkQueue<Task>, store: PostgresStore, sequencer: consuming Sequencer) {
    var sequencer = sequencer
    var outage = Outage(
      "Writing", path: "the log", check: "PostgreSQL and the network between",
      meanwhile: "Clients are told to retry", report: report)
    sequencer.introduce()
    var gone: Set<Int64> = []
    while let taken = tasks.takeAll() {
      listener.noteTaken()
      var changes: [(loop: Int, requests: [LogRequest])] = []
      var questions: [(loop: Int, requests: [LogRequest])] = []
      for task in taken {
        switch task {
        case .submit(let loop, let requests):
          let asking = requests.filter(\.onlyAsks)
          if asking.isEmpty {
            changes.append((loop, requests))
          } else {
            changes.append((loop, requests.filter { !$0.onlyAsks }))
            questions.append((loop, asking))
          }
        case .follow: break
        case .forget(let nodes): gone.formUnion(nodes)
        case .introduce: sequencer.tellAllPresences()
        }
      }
      let needsTurn =
        sequencer.hasPresencesToTell || changes.contains { !$0.requests.isEmpty }
      let asking = Set(questions.map(\.loop))
      let others = Set(changes.map(\.loop)).subtracting(asking)
      let commits = store.commits
      var failure: StoreFailure?
      if needsTurn {
        failure = process(changes, in: .turn, completing: others, &gone, store, &sequencer)
      }
      // What only asks is answered in a snapshot, after the rest: no other node waits for it.
      if !questions.isEmpty || !needsTurn {
        let failed = process(
          questions, in: .snapshot, completing: needsTurn ? asking : asking.union(others), &gone,
          store, &sequencer)
        failure = failure ?? failed
      }
      if let failure {
        outage.note(failure)
      } else {
        if store.commits > commits { outage.note(nil) }
        // A node that has just started asks for them.
        if sequencer.hasPresencesToTell { listener.follow() }
      }
      listener.note(position: store.position)
    }
  }

  /// Follows the other nodes, and processes requests on top.
  /// - Parameter submitters: the loops that may submit again afterwards.
  private func process(
    _ batches: [(loop: Int, requests: [LogRequest])], in purpose: PostgresStore.Purpose,
    completing submitters: Set<Int>, _ gone: inout Set<Int64>, _ store: PostgresStore,
    _ sequencer: inout Sequencer
  ) -> StoreFailure? {
    let began = Instant.now().nanoseconds
    var store = store
    var failure: StoreFailure?
    var now = WallClock.milliseconds
    do throws(StoreFailure) {
      let beginning = try store.begin(
        purpose, lookingUp: sequencer.identities(of: batches, key: store.identityKey))
      now = beginning.now
      if let lineage = beginning.lineage {
        sequencer.adopt(lineage)
        self.lineage.value = lineage
      }
      try store.lookUp(rooms: sequencer.unknownRooms(of: beginning.followed, batches))
      let commit = try sequencer.follow(
        beginning.followed, gone: gone.sorted(), store: &store, now: now, framing: framing)
      store.noteFollowed()
      gone = []
      if let commit { publish(commit) }
    } catch {
      failure = error
    }
    defer { store.endTransaction() }
    let commits = store.commits
    let outcome =
      purpose == .turn
      ? sequencer.process(batches, store: &store, now: now, framing: framing)
      : sequencer.answer(batches, store: &store, now: now, framing: framing)
    let stored = store.commits > commits
    if purpose == .turn {
      meter.note(
        outcome, nanoseconds: Int64(Instant.now().nanoseconds - began),
        syncNanoseconds: stored ? Int64(store.sync.count) : nil, rooms: store.roomCount)
    }
    publishers.post(outcome, completing: submitters)
    if stored {
      sequencer.note(CommitStages(batchedAt: Int64(began), sync: store.sync), of: outcome)
    }
    for (loop, answer) in sequencer.takeTraces(&store) {
      publishers[loop].post(LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
    }
    return failure ?? outcome.failure
  }

  private func publish(_ commit: Commit) {
    for publisher in publishers {
      publisher.post(LogDelivery(commit: commit, answers: [], completesSubmit: false))
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
