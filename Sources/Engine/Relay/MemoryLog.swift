import Synchronization

/// A log that keeps everything in memory only: for tests, and for relays that need no durability.
/// Requests are answered before `submit` returns.
public final class MemoryLog: Log {
  private struct State {
    var sequencer: Sequencer
    var store: MemoryStore
    var loops: Int
    var framing: Framing
    var publish: @Sendable (Int, LogDelivery) -> Void
    var tracker: RetentionTracker
    var statistics = LogStatistics()
  }

  /// The name of the epoch of this run.
  public let epoch: String
  private let lineage: Lineage
  private let retention: Retention
  private let roomsPerUser: Int
  private let limits: EntryLimits
  private let identityKey: EntryIdentity.Key
  private let clock: @Sendable () -> Int64
  private let microseconds: (@Sendable () -> Int64)?
  private let state = Mutex<State?>(nil)

  /// - Parameters:
  ///   - epoch: at least 64 random bits.
  ///   - roomsPerUser: 0 = no limit.
  ///   - identityKey: as in `MemoryStore`.
  ///   - clock: milliseconds since 1970.
  ///   - microseconds: of the monotonic clock; without it there are no traces.
  public init(
    epoch: String, retention: Retention, roomsPerUser: Int = 0,
    limits: EntryLimits = EntryLimits(), identityKey: EntryIdentity.Key = .none,
    clock: @escaping @Sendable () -> Int64, microseconds: (@Sendable () -> Int64)? = nil
  ) {
    self.identityKey = identityKey
    self.epoch = epoch
    self.roomsPerUser = roomsPerUser
    self.lineage = Lineage([Lineage.Epoch(number: 1, name: epoch)])
    self.retention = retention
    self.limits = limits
    self.clock = clock
    self.microseconds = microseconds
  }

  /// Starts to process requests.
  public func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (Int, LogDelivery) -> Void
  ) {
    state.withLock {
      $0 = State(
        sequencer: Sequencer(
          lineage: lineage, retention: retention, roomsPerUser: roomsPerUser,
          limits: limits, loops: loops),
        store: MemoryStore(identityKey: identityKey), loops: loops, framing: framing,
        publish: publish, tracker: RetentionTracker(retention))
    }
  }

  /// Commits and publishes one turn's requests under one lock, so that all loops receive commits in
  /// the same order.
  public func submit(_ requests: [LogRequest], from loop: Int) {
    state.withLock {
      guard var state = $0.take() else { return }
      let began = microseconds?()
      let outcome = state.sequencer.process(
        [(loop, requests)], store: &state.store, now: clock(), framing: state.framing)
      Self.publish(outcome, completing: [loop], &state)
      if let began {
        state.sequencer.record(
          CommitStages(batched: began, committed: began, synced: began), of: outcome)
      }
      for (loop, answer) in state.sequencer.takeTraces(&state.store) {
        state.publish(
          loop, LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
      }
      $0 = state
    }
  }

  private static func publish(
    _ outcome: Sequencer.Outcome, completing submitters: Set<Int>, _ state: inout State
  ) {
    state.statistics.count(outcome)
    for (loop, delivery) in outcome.deliveries(completing: submitters) {
      state.publish(loop, delivery)
    }
  }

  public func apply(_ retention: Retention) {
    state.withLock {
      $0?.sequencer.retention = retention
      $0?.tracker.replace(by: retention)
    }
  }

  /// Removes the entries that are no longer kept. To be called several times a minute: only a batch
  /// with entries of a room does so by itself, by their number.
  /// - Parameter monotonic: milliseconds of the monotonic clock.
  public func retain(monotonic: Int64) {
    state.withLock { shared in
      guard var state = shared.take() else { return }
      defer { shared = state }
      let wall = clock()
      do throws(StoreFailure) {
        let isDue = try state.tracker.beginPass(
          version: state.statistics.entries, wall: wall, monotonic: monotonic, &state.store)
        while isDue, let trims = try state.tracker.step(&state.store) {
          if trims.isEmpty { continue }
          let outcome = state.sequencer.process(
            [], trimming: trims, store: &state.store, now: wall, framing: state.framing)
          Self.publish(outcome, completing: [], &state)
        }
        state.statistics.retainedAtMilliseconds = monotonic
      } catch {
        assertionFailure("nothing of a store in memory fails: \(error)")
      }
    }
  }

  /// Reads at once.
  public func read(_ request: ReadRequest, from loop: Int) {
    state.withLock {
      guard var state = $0.take() else { return }
      let answer = request.answer(from: &state.store, lineage, state.framing)
      state.publish(
        loop, LogDelivery(commit: nil, answers: [answer], completesSubmit: false))
      $0 = state
    }
  }

  public func statistics() -> LogStatistics {
    state.withLock { $0?.statistics } ?? LogStatistics()
  }

  /// Discards everything; later submissions are not answered.
  public func stop() {
    state.withLock { $0 = nil }
  }
}
