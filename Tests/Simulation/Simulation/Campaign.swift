internal import Platform
internal import Synchronization

/// A campaign of many runs, one for each seed, on several threads.
public struct Campaign: Sendable {
  /// The result of all runs.
  public struct Outcome: Sendable {
    public struct Failure: Sendable {
      public var seed: UInt64
      public var faults: [String]
    }
    public var store: StoreKind
    public var runs = 0
    public var failures: [Failure] = []
    public var tally = Tally()

    /// The events that should have occurred and did not; empty if there were too few runs to expect
    /// every event.
    public var missing: [Tally.Event] {
      guard runs >= Campaign.runsThatHaveAll else { return [] }
      return Tally.Event.allCases.filter { tally[$0] == 0 && Tally.isExpected($0, of: store) }
    }
  }

  /// The number of runs in which every fault has occurred.
  public static let runsThatHaveAll = 500

  public var store: StoreKind
  public var firstSeed: UInt64
  /// The number of seeds; `nil` means no limit.
  public var seeds: UInt64?
  public var seconds: Int?
  public var jobs: Int
  /// The minimum number of seeds, even if they take longer than `seconds`.
  public var seedsAtLeast: UInt64 = 0
  /// The bounds that are checked.
  public var bounds = Set(HeldBound.allCases)
  /// The attacks of the adversaries.
  public var attacks = Set(Attack.allCases)
  /// Whether the campaign ends with the first failure.
  public var endsWithFailure = false

  public init(store: StoreKind, firstSeed: UInt64, seeds: UInt64?, seconds: Int?, jobs: Int) {
    self.store = store
    self.firstSeed = firstSeed
    self.seeds = seeds
    self.seconds = seconds
    self.jobs = jobs
  }

  private static let isInterrupted = Atomic(false)

  /// Interrupts the campaign: runs in progress are completed, and no further one begins. May be
  /// called by a signal handler.
  public static func interrupt() { isInterrupted.store(true, ordering: .relaxed) }

  private struct State {
    var nextSeed: UInt64
    var outcome: Outcome
    var isOver = false
  }

  /// Runs all seeds.
  /// - Parameter report: called for each failure immediately, on any thread.
  public func run(_ report: @escaping @Sendable (Outcome.Failure) -> Void) throws -> Outcome {
    let end = seconds.map { Instant.now().adding(milliseconds: $0 * 1000) }
    let box = Box(State(nextSeed: firstSeed, outcome: Outcome(store: store)))
    let threads = try (0..<max(1, jobs)).map { number in
      try WorkerThread(name: "simulate-\(number)") { [self] in
        while let seed = next(box, end) {
          let verdict = Simulation.Verdict.of(
            seed: seed, store: store, bounds: bounds, attacks: attacks)
          let failure =
            verdict.faults.isEmpty
            ? nil : Outcome.Failure(seed: seed, faults: verdict.faults)
          box.state.withLock {
            $0.outcome.runs += 1
            $0.outcome.tally += verdict.tally
            if let failure {
              $0.outcome.failures.append(failure)
              if endsWithFailure { $0.isOver = true }
            }
          }
          if let failure { report(failure) }
        }
      }
    }
    for thread in threads { thread.join() }
    return box.state.withLock { $0.outcome }
  }

  private func next(_ box: Box, _ end: Instant?) -> UInt64? {
    box.state.withLock { state in
      if state.isOver || Self.isInterrupted.load(ordering: .relaxed) { return nil }
      if let seeds, state.nextSeed - firstSeed >= seeds { return nil }
      if let end, state.nextSeed - firstSeed >= seedsAtLeast, Instant.now() >= end { return nil }
      defer { state.nextSeed += 1 }
      return state.nextSeed
    }
  }

  private final class Box: Sendable {
    let state: Mutex<State>
    init(_ state: State) { self.state = Mutex(state) }
  }
}

extension Simulation.Verdict {
  /// Runs a seed.
  /// - Parameters:
  ///   - bounds: the bounds that are checked, if there is one relay.
  ///   - attacks: those of the adversaries, if there is one relay.
  public static func of(
    seed: UInt64, store: StoreKind, bounds: Set<HeldBound> = Set(HeldBound.allCases),
    attacks: Set<Attack> = Set(Attack.allCases), trace: ((String) -> Void)? = nil
  ) -> Self {
    guard store == .cluster else {
      return Simulation(
        seed: seed, store: store, bounds: bounds, attacks: attacks, trace: trace
      ).run()
    }
    TrapReport.begin(seed, store)
    return ClusterSimulation(seed: seed, trace: trace).run()
  }
}
